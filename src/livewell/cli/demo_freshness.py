"""What the demonstration shows of its market, and its account of the provider."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from livewell.cli.demo_market import PROVIDER, TYPES
from livewell.cli.type_figures import TypesObserver, WatchedFigures

if TYPE_CHECKING:
    from livewell.app import Livewell
    from livewell.simulator import Simulator


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
        self._simulator = simulator
        self._types = TypesObserver(app, types=list(TYPES), provider=PROVIDER)
        self._shares: list[float] = []

    async def begin(self) -> None:
        await self._types.begin()

    async def look(self) -> WatchedFigures:
        figures = await self._types.look()
        if (share := figures.within_ttl) is not None:
            self._shares.append(share)
        return figures

    async def tally(self) -> MarketTally:
        """What the run came to, by our books and by the provider's."""
        calls = self._simulator.figures().values()
        refreshed, refused = await self._types.refreshed(), await self._types.refused()
        return MarketTally(
            within_ttl=sum(self._shares) / len(self._shares) if self._shares else None,
            refreshed=sum(refreshed.get(name, 0) for name in TYPES),
            refused=sum(refused.get(name, 0) for name in TYPES),
            calls=sum(one.calls for one in calls),
            unchanged=sum(one.statuses.get("304", 0) for one in calls),
            sent_bytes=sum(one.bytes_out for one in calls),
            over_limit=self._simulator.over_limit,
        )
