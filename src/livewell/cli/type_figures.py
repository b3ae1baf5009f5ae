"""What a live picture shows of data types: how fresh what people look at is, and what it costs."""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from livewell.cli.queue_figures import HISTORY
from livewell.kernel import list_warnings

if TYPE_CHECKING:
    from livewell.budgets import BudgetState, QuotaState
    from livewell.stores import Stores

_REFUSED = "fetching.refused"


@dataclass(frozen=True, kw_only=True)
class TypeFigures:
    """One line of the view."""

    name: str
    items: int
    viewers: int
    within_ttl: float | None
    oldest: timedelta | None
    rates: Sequence[float]
    failing: int
    refused: int

    @property
    def per_minute(self) -> float:
        recent = list(self.rates)[-10:]
        return 60 * sum(recent) / len(recent) if recent else 0.0


@dataclass(frozen=True, kw_only=True)
class WatchedFigures:
    """What is watched at one moment, and what it may cost."""

    types: Sequence[TypeFigures]
    budgets: Sequence["BudgetState"] = ()
    quotas: Sequence["QuotaState"] = ()
    late: Sequence[Mapping[str, Any]] = ()

    @property
    def items(self) -> int:
        return sum(data_type.items for data_type in self.types)

    @property
    def within_ttl(self) -> float | None:
        """The share of looks at something within its TTL."""
        viewers = sum(data_type.viewers for data_type in self.types)
        return (
            sum((data_type.within_ttl or 0) * data_type.viewers for data_type in self.types) / viewers
            if viewers
            else None
        )


class TypesObserver:
    """Reads the figures of some types and their provider, or of all; what was there before it began does not count.

    Everything is read from the database: whichever node did it, it is counted.
    """

    def __init__(
        self,
        app: "Stores",
        *,
        types: Sequence[str] | None = None,
        provider: str | None = None,
    ) -> None:
        self._app = app
        self._types = types
        self._provider = provider
        self._before: dict[str, int] = {}
        self._refused_before: dict[str, int] = {}
        self._completed: dict[str, int] = {}
        self._rates: dict[str, deque[float]] = {}
        self._looked_at = time.monotonic()

    async def begin(self) -> None:
        self._before = await self._app.freshness.refresh_counts()
        self._refused_before = await self._all_refused()

    async def look(self) -> WatchedFigures:
        types = self._types or [data_type.name for data_type in await self._app.registry.list_types()]
        completed, refused = await self.refreshed(), await self.refused()
        now = time.monotonic()
        watched = {watched_type.data_type: watched_type for watched_type in await self._app.freshness.freshness_now()}
        passed, self._looked_at = now - self._looked_at, now
        found = []
        for name in types:
            done = completed.get(name, 0)
            rates = self._rates.setdefault(name, deque(maxlen=HISTORY))
            if passed > 0:
                rates.append(max(0, done - self._completed.get(name, 0)) / passed)
            self._completed[name] = done
            seen = watched.get(name)
            found.append(
                TypeFigures(
                    name=name,
                    items=seen.items if seen else 0,
                    viewers=seen.viewers if seen else 0,
                    within_ttl=seen.viewers_within_ttl / seen.viewers if seen and seen.viewers else None,
                    oldest=seen.oldest if seen else None,
                    rates=tuple(rates),
                    failing=seen.failed + seen.refused if seen else 0,
                    refused=refused.get(name, 0),
                )
            )
        return WatchedFigures(
            types=found,
            budgets=[budget for budget in await self._app.budgets.budget_state() if self._is_shown(budget.provider)],
            quotas=[quota for quota in await self._app.budgets.quota_states() if self._is_shown(quota.provider)],
            late=(await self._app.tasks.task_health())["late"],
        )

    async def refreshed(self) -> dict[str, int]:
        """Refreshes that ended well since it began, by type."""
        return _since(self._before, await self._app.freshness.refresh_counts())

    async def refused(self) -> dict[str, int]:
        """Answers that were refused since it began, by type."""
        return _since(self._refused_before, await self._all_refused())

    def _is_shown(self, provider: str) -> bool:
        return self._provider is None or provider == self._provider

    async def _all_refused(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for warning in await list_warnings(self._app.database, code=_REFUSED):
            found[warning.subject] = found.get(warning.subject, 0) + warning.warnings
        return found


def _since(before: dict[str, int], now: dict[str, int]) -> dict[str, int]:
    return {name: max(0, number - before.get(name, 0)) for name, number in now.items()}
