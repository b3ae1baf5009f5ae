"""The stores of all rooms on one open database, each imported when it is first asked for.

An application is one of these (`app.jobs`, `app.budgets` …), and so is what a command of the command line works with.
"""

from collections.abc import Mapping
from typing import Any, Self

import livewell.access
import livewell.budgets
import livewell.fetching
import livewell.freshness
import livewell.jobs
import livewell.kernel
import livewell.presence
import livewell.registry
import livewell.schedule


class Stores:
    """What a program may ask of an open database, by room."""

    _database: "livewell.kernel.Database | None" = None
    _items: "livewell.fetching.Items | None" = None

    @property
    def database(self) -> "livewell.kernel.Database":
        if self._database is None:
            raise livewell.jobs.InvalidJob("the application is not open", fix="use it inside `async with app:`")
        return self._database

    @property
    def access(self) -> "livewell.access.AccessStore":
        return livewell.access.AccessStore(self.database)

    @property
    def jobs(self) -> "livewell.jobs.JobStore":
        return livewell.jobs.JobStore(self.database)

    @property
    def budgets(self) -> "livewell.budgets.BudgetStore":
        return livewell.budgets.BudgetStore(self.database)

    @property
    def presence(self) -> "livewell.presence.Presence":
        return livewell.presence.Presence(self.database)

    @property
    def freshness(self) -> "livewell.freshness.FreshnessStore":
        return livewell.freshness.FreshnessStore(self.database)

    @property
    def fetches(self) -> "livewell.fetching.FetchStore":
        return livewell.fetching.FetchStore(self.database)

    @property
    def items(self) -> "livewell.fetching.Items":
        self._items = self._items or livewell.fetching.Items(self.database, self._own_fetchers())
        return self._items

    @property
    def tasks(self) -> "livewell.schedule.TaskStore":
        return livewell.schedule.TaskStore(self.database)

    @property
    def registry(self) -> "livewell.registry.RegistryStore":
        return livewell.registry.RegistryStore(self.database)

    def _own_fetchers(self) -> "Mapping[str, type[livewell.fetching.Fetcher[Any]]]":
        """Those of a program that declares some."""
        return {}

    async def _close_items(self) -> None:
        """End what watches items, if anybody does."""
        if self._items is not None:
            await self._items.close()
            self._items = None


class OpenStores(Stores):
    """The stores of a database that is open, and that another closes."""

    def __init__(self, database: "livewell.kernel.Database") -> None:
        self._database = database

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close_items()
