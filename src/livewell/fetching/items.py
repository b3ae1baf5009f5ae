"""Items as a program reads, follows and puts them: `app.items`.

quote = await app.items.get("quote", "AAPL")

async for quote in app.items.watch("quote", ["AAPL", "MSFT"]):
    print(quote.key, quote.value, quote.age)

await app.items.put("quote", [{"symbol": "AAPL", "price": 190.5}])
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from livewell.fetching.fetcher import Fetcher
from livewell.fetching.item_feed import LOOK_EVERY, ItemFeed
from livewell.fetching.putting import Putter, Rows
from livewell.fetching.store import FetchStore
from livewell.fetching.types import Put, StoredItem
from livewell.kernel import Connection, Database


class Items:
    """Reads what is stored, and follows it; all watchers share one feed, which is there while anybody watches."""

    def __init__(
        self,
        database: Database,
        fetchers: Mapping[str, type[Fetcher[Any]]] | None = None,
        *,
        look_every: timedelta = LOOK_EVERY,
    ) -> None:
        self._database = database
        self._putter = Putter(database, fetchers)
        self._look_every = look_every
        self._store = FetchStore(database)
        self._feed: ItemFeed | None = None
        self._turn = asyncio.Lock()

    async def get(self, data_type: str, key: str, *, now: datetime | None = None) -> StoredItem:
        """What is stored of one item; without a value when nothing is."""
        (item,) = await self._store.read_items(data_type, [key], now=now)
        return item

    async def get_many(self, data_type: str, keys: Sequence[str], *, now: datetime | None = None) -> list[StoredItem]:
        """What is stored of items of a type, in the order of their keys, by one call."""
        return await self._store.read_items(data_type, keys, now=now)

    async def watch(
        self, data_type: str, keys: Sequence[str], *, user: str | None = None
    ) -> AsyncGenerator[StoredItem, None]:
        """Look at items as a viewer does: each as it is now, and then whenever it changes, until the loop ends.

        A slow watcher gets the newest of each item, and nothing in between. Without a `user`, each watcher is a viewer
        of its own. Lost connections are survived; what ends the loop ends the session.
        """
        async with self._feeding() as feed, feed.watching(data_type, keys, user) as watch:
            while (item := await watch.next()) is not None:
                yield item

    async def put(self, data_type: str, rows: Rows, *, connection: "Connection | None" = None) -> list[Put]:
        """Store what was pushed, or what the application knows, as if it had been fetched; what became of each key.

        `rows` are as the provider sends them: a list, where they say whose they are, or by their keys, each with its
        row or the list of its rows. With `connection` it is part of that connection's transaction.
        """
        return await self._putter.put(data_type, rows, connection)

    async def changed(
        self, data_type: str, keys: Sequence[str], *, connection: "Connection | None" = None
    ) -> dict[str, str]:
        """Say what the application wrote into its own table; for each key `changed`, `unknown` or `busy`."""
        return await FetchStore(connection or self._database).changed(data_type, keys)

    async def close(self) -> None:
        """End all sessions; the loops of watchers end."""
        async with self._turn:
            if self._feed is not None:
                await self._feed.stop()
                self._feed = None

    @asynccontextmanager
    async def _feeding(self) -> AsyncIterator[ItemFeed]:
        """The feed of this process, begun with the first watcher and ended with the last."""
        async with self._turn:
            self._feed = feed = self._feed or ItemFeed(self._database, look_every=self._look_every)
            feed.start()
            feed.readers += 1
        try:
            yield feed
        finally:
            await asyncio.shield(asyncio.ensure_future(self._leave(feed)))

    async def _leave(self, feed: ItemFeed) -> None:
        async with self._turn:
            feed.readers -= 1
            if feed.readers == 0 and self._feed is feed:
                self._feed = None
                await feed.stop()
