"""What a terminal shows of the demonstration, and what it reads of the market for the account."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from livewell.cli.news import NewsObserver, news_of
from livewell.cli.queue_figures import Observer
from livewell.cli.type_figures import TypesObserver
from livewell.demo import KINDS, PROVIDER, TYPES, MarketTally

if TYPE_CHECKING:
    from livewell.app import Livewell
    from livewell.cli.live_view import View
    from livewell.simulator import Simulator


def watching_on(view: "View") -> "Callable[[Livewell, Callable[[str], bool]], AbstractAsyncContextManager[DemoWatch]]":
    """What lets a demonstration be seen on a view."""

    @asynccontextmanager
    async def watching(app: "Livewell", is_gone: Callable[[str], bool]) -> "AsyncIterator[DemoWatch]":
        queue = Observer(app.jobs, KINDS, is_gone=is_gone)
        types = TypesObserver(app, types=list(TYPES), provider=PROVIDER)
        async with news_of(app) as news:
            await queue.begin()
            await types.begin()
            yield DemoWatch(view, queue, types, news)

    return watching


class DemoWatch:
    """Reads the figures; what was there before the demonstration does not count."""

    def __init__(self, view: "View", queue: Observer, types: TypesObserver, news: NewsObserver) -> None:
        self._view = view
        self._queue = queue
        self._types = types
        self._news = news
        self._shares: list[float] = []

    async def look(self) -> int:
        """Show how things stand; answers with how many jobs are live."""
        figures, market = await self._queue.look(), await self._types.look()
        if (share := market.within_ttl) is not None:
            self._shares.append(share)
        self._view.show(figures, market, await self._news.look())
        return figures.live

    async def tally(self, simulator: "Simulator") -> MarketTally:
        """What the run came to, by our books and by the provider's."""
        endpoints = simulator.figures().values()
        refreshed, refused = await self._types.refreshed(), await self._types.refused()
        return MarketTally(
            within_ttl=sum(self._shares) / len(self._shares) if self._shares else None,
            refreshed=sum(refreshed.get(name, 0) for name in TYPES),
            refused=sum(refused.get(name, 0) for name in TYPES),
            calls=sum(figures.calls for figures in endpoints),
            unchanged=sum(figures.statuses.get("304", 0) for figures in endpoints),
            sent_bytes=sum(figures.bytes_out for figures in endpoints),
            over_limit=simulator.over_limit,
        )
