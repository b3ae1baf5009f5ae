"""What the demonstration shows of its market: how fresh what people look at is, and what it costs."""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from livewell.cli.demo_figures import HISTORY
from livewell.cli.demo_market import PROVIDER, TYPES
from livewell.kernel import list_warnings

if TYPE_CHECKING:
    from livewell.app import Livewell
    from livewell.budgets import BudgetState, QuotaState
    from livewell.simulator import Simulator

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
    refused: int

    @property
    def per_minute(self) -> float:
        recent = list(self.rates)[-10:]
        return 60 * sum(recent) / len(recent) if recent else 0.0


@dataclass(frozen=True, kw_only=True)
class MarketFigures:
    """The market at one moment."""

    types: Sequence[TypeFigures]
    budgets: Sequence["BudgetState"]
    quota: "QuotaState | None"

    @property
    def items(self) -> int:
        return sum(one.items for one in self.types)

    @property
    def within_ttl(self) -> float | None:
        """The share of looks at something within its TTL."""
        viewers = sum(one.viewers for one in self.types)
        return sum((one.within_ttl or 0) * one.viewers for one in self.types) / viewers if viewers else None


@dataclass(frozen=True, kw_only=True)
class MarketTally:
    """The whole run: what viewers had, and what the provider saw."""

    within_ttl: float | None
    refreshed: int
    refused: int
    calls: int
    unchanged: int
    sent_bytes: int
    over_limit: int


class MarketObserver:
    """Reads the figures; what was there before the demonstration does not count."""

    def __init__(self, app: "Livewell", simulator: "Simulator") -> None:
        self._app = app
        self._simulator = simulator
        self._before: dict[str, int] = {}
        self._refused_before: dict[str, int] = {}
        self._completed: dict[str, int] = {}
        self._rates: dict[str, deque[float]] = {name: deque(maxlen=HISTORY) for name in TYPES}
        self._looked_at = time.monotonic()
        self._shares: list[float] = []

    async def begin(self) -> None:
        self._before = await self._refreshed()
        self._refused_before = await self._refused()

    async def look(self) -> MarketFigures:
        completed, refused = await self._refreshed(), await self._refused()
        watched = {one.data_type: one for one in await self._app.freshness.freshness_now()}
        now = time.monotonic()
        passed, self._looked_at = now - self._looked_at, now
        types = []
        for name in TYPES:
            done = completed.get(name, 0) - self._before.get(name, 0)
            self._rates[name].append((done - self._completed.get(name, 0)) / max(passed, 0.001))
            self._completed[name] = done
            seen = watched.get(name)
            types.append(
                TypeFigures(
                    name=name,
                    items=seen.items if seen else 0,
                    viewers=seen.viewers if seen else 0,
                    within_ttl=seen.viewers_within_ttl / seen.viewers if seen else None,
                    oldest=seen.oldest if seen else None,
                    rates=tuple(self._rates[name]),
                    refused=refused.get(name, 0) - self._refused_before.get(name, 0),
                )
            )
        budgets = [one for one in await self._app.budgets.budget_state() if one.provider == PROVIDER]
        quota = next((one for one in await self._app.budgets.quota_states() if one.provider == PROVIDER), None)
        figures = MarketFigures(types=types, budgets=budgets, quota=quota)
        if (share := figures.within_ttl) is not None:
            self._shares.append(share)
        return figures

    async def tally(self) -> MarketTally:
        """What the run came to, by our books and by the provider's."""
        calls = self._simulator.figures().values()
        return MarketTally(
            within_ttl=sum(self._shares) / len(self._shares) if self._shares else None,
            refreshed=sum((await self._refreshed()).values()) - sum(self._before.values()),
            refused=sum((await self._refused()).values()) - sum(self._refused_before.values()),
            calls=sum(one.calls for one in calls),
            unchanged=sum(one.statuses.get("304", 0) for one in calls),
            sent_bytes=sum(one.bytes_out for one in calls),
            over_limit=self._simulator.over_limit,
        )

    async def _refreshed(self) -> dict[str, int]:
        counts = await self._app.jobs.job_counts(finished=True)
        return {
            one.kind.removeprefix("refresh."): one.jobs
            for one in counts
            if one.state == "completed" and one.kind.removeprefix("refresh.") in TYPES
        }

    async def _refused(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for one in await list_warnings(self._app.database, code=_REFUSED):
            found[one.subject] = found.get(one.subject, 0) + one.warnings
        return found
