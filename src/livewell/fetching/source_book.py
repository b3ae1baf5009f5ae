"""The sources of a program, of the types it can fetch; compiled anew when a type, its endpoint or provider has changed.

Events: `type_unsound`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from livewell.budgets import BudgetStore, Endpoint, Provider
from livewell.fetching.errors import UnsoundFetch
from livewell.fetching.fetcher import Fetcher
from livewell.fetching.sources import Source, is_fetched, source_of
from livewell.kernel import Caller, Logger
from livewell.registry import DataType, RegistryStore

log = Logger("livewell.fetching")


class SourceBook:
    """Knows the types as they are; `fetchers` are those of the program's own, by type."""

    def __init__(self, caller: Caller, fetchers: Mapping[str, type[Fetcher[Any]]]) -> None:
        self._registry = RegistryStore(caller)
        self._budgets = BudgetStore(caller)
        self._fetchers = fetchers
        self._known: dict[str, tuple[tuple[datetime, ...], Source | None]] = {}

    async def read(self) -> list[Source]:
        """The types that this program can fetch, as they are now."""
        types = await self._registry.list_types()
        # Read after the types, so that those of a type that has just come are there.
        endpoints = {endpoint.name: endpoint for endpoint in await self._budgets.list_endpoints()}
        providers = {provider.name: provider for provider in await self._budgets.list_providers()}
        known = {}
        for data_type in types:
            endpoint = endpoints[data_type.endpoint]
            provider = providers[endpoint.provider]
            version = (data_type.updated_at, endpoint.updated_at, provider.updated_at)
            before = self._known.get(data_type.name)
            same = before is not None and before[0] == version
            known[data_type.name] = (
                before if before and same else (version, self._compiled(data_type, provider, endpoint))
            )
        self._known = known
        return [source for _, source in known.values() if source is not None]

    def _compiled(self, data_type: DataType, provider: Provider, endpoint: Endpoint) -> Source | None:
        if not data_type.enabled or not is_fetched(data_type, self._fetchers):
            return None
        try:
            return source_of(data_type, provider, endpoint, fetcher=self._fetchers.get(data_type.name))
        except UnsoundFetch as fact:
            log.warning("type_unsound", type=data_type.name, error=str(fact))
            return None
