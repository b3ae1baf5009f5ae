"""One feed of changes for all who watch in a process: one listening connection, one gateway, one read for all.

It hears at the commit that an item has changed or was looked at again, reads it once and hands it to everybody who
watches it. Notices can be lost, and not everything is told by one (a failed refresh), so all that is watched is read
again now and then, every second while the server's notification queue is too full for notices, and at once when the
connection was made anew; its sessions are renewed then, and opened again when they are gone.

How it fails. While the database is away nothing is told, and everything that changed meanwhile is told when it is back.
A type that cannot be read any more, whatever the error, ends the loops of those who watch it and no others. A session
that could not be ended at once is ended by a later round.

Events: `items_unavailable`.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from itertools import chain
from uuid import UUID, uuid4

from livewell.fetching.errors import InvalidRead
from livewell.fetching.notices import read_notice
from livewell.fetching.store import CHANGES_CHANNEL, FetchStore
from livewell.fetching.types import StoredItem
from livewell.kernel import (
    PASSING,
    Database,
    Listener,
    Logger,
    wait_for_any,
)
from livewell.presence import GatewayKeeper, Item, OpenOutcome, PresenceStore, SubscribeOutcome, TooMany

LOOK_EVERY = timedelta(seconds=15)
_PAUSE = 2.0
# Between two readings of everything, however often that is asked for.
_BETWEEN = 1.0
_KEYS_PER_READ = 500
# A refresh that is under way is not told; its end is.
_UNDER_WAY = ": being refreshed"

log = Logger("livewell.fetching")


class Watch:
    """One watcher: what is new of each item and was not taken yet."""

    def __init__(self, feed: "asyncio.Task[None]") -> None:
        self._feed = feed
        self._told: dict[str, StoredItem] = {}
        self._news: dict[str, StoredItem] = {}
        self._changed = asyncio.Event()
        self._fault: Exception | None = None

    def take(self, item: StoredItem) -> None:
        """Keep what is news; of an item that was not taken yet, only the newest."""
        if _differs(self._news.get(item.key, self._told.get(item.key)), item):
            self._news[item.key] = item
            self._changed.set()

    def fail(self, fault: Exception) -> None:
        self._fault = fault
        self._changed.set()

    async def next(self) -> StoredItem | None:
        """What is new, as soon as there is something; None when the feed has ended."""
        while not self._news:
            if self._fault is not None:
                raise self._fault
            if self._feed.done():
                with suppress(asyncio.CancelledError):
                    self._feed.result()
                return None
            self._changed.clear()
            await wait_for_any(self._changed, self._feed)
        key = next(iter(self._news))
        self._told[key] = item = self._news.pop(key)
        return item


class ItemFeed:
    """Tells those who watch what changed."""

    def __init__(self, database: Database, *, look_every: timedelta = LOOK_EVERY) -> None:
        self._store = FetchStore(database)
        self._keeper = GatewayKeeper(PresenceStore(database))
        self._listener = Listener(database.options, [CHANGES_CHANNEL], self._hear, self._hear_of_all)
        self._watches: defaultdict[Item, set[Watch]] = defaultdict(set)
        self._look_every = look_every.total_seconds()
        self._keys_per_read = _KEYS_PER_READ
        self._left: set[UUID] = set()
        self._items: dict[int, Item] = {}
        self._heard: set[Item] = set()
        self._all_due = False
        self._all_due_at = self._read_at = 0.0
        self._woken = asyncio.Event()
        self._stop = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None
        self.readers = 0

    def start(self) -> None:
        """Begin, unless it has begun."""
        if self._telling is None:
            self._listening = asyncio.create_task(self._listener.run(self._stop))
            self._telling = asyncio.create_task(self._tell_changes())

    async def stop(self) -> None:
        """End all sessions and come to an end; sessions that cannot be ended now are swept away."""
        self._stop.set()
        self._woken.set()
        tasks = [task for task in (self._listening, self._telling) if task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(*PASSING):
            await self._keeper.stop()

    @asynccontextmanager
    async def watching(self, data_type: str, keys: Sequence[str], user: str | None) -> AsyncIterator[Watch]:
        """A watch that is told changes of these keys, and a session that looks at them, for the length of a block."""
        assert self._telling is not None  # noqa: S101 - who watches has started it
        items = [Item(data_type, key) for key in dict.fromkeys(keys)]
        watch, session = Watch(self._telling), uuid4()
        # An unknown type is refused here, with what was probably meant.
        await self._store.read_items(data_type, [])
        try:
            await self._open(session, user or f"anonymous:{session}", items)
            for item in items:
                self._watches[item].add(watch)
            await self._recognise(data_type, [item.key for item in items])
            await self._tell(data_type, [item.key for item in items])
            yield watch
        finally:
            self._forget(watch, items)
            self._left.add(session)
            await asyncio.shield(asyncio.ensure_future(self._end_sessions()))

    async def _open(self, session: UUID, user: str, items: Sequence[Item]) -> None:
        (opened,) = await self._keeper.open([(session, user)])
        if opened is OpenOutcome.TOO_MANY:
            raise TooMany(f"{user} has too many sessions open", fix="close some; presence.sessions_per_user")
        answers = await self._keeper.subscribe([(session, item) for item in items])
        if any(answer.outcome is SubscribeOutcome.TOO_MANY for answer in answers):
            raise TooMany(f"{len(items)} items are too many for one who looks", fix="presence.items_per_session")

    def _forget(self, watch: Watch, items: Iterable[Item]) -> None:
        for item in items:
            self._watches[item].discard(watch)
            if not self._watches[item]:
                del self._watches[item]
        self._items = {number: item for number, item in self._items.items() if item in self._watches}

    async def _end_sessions(self) -> None:
        """End the sessions of those who have left; what fails now is tried again."""
        left = list(self._left)
        if left and not self._stop.is_set():
            with suppress(*PASSING):
                await self._keeper.close(left)
                self._left.difference_update(left)

    async def _recognise(self, data_type: str, keys: Sequence[str]) -> None:
        """Learn the numbers by which notices name items."""
        for number, key in (await self._store.watched_items(data_type, keys)).items():
            if (item := Item(data_type, key)) in self._watches:
                self._items[number] = item

    def _hear(self, _channel: str, payload: str) -> None:
        told = read_notice(payload)
        if told == {}:
            self._all_due_at = min(self._all_due_at, self._read_at + _BETWEEN)
            self._woken.set()
        elif told is not None:
            self._heard.update(self._items[number] for number in told.keys() & self._items.keys())
            if self._heard:
                self._woken.set()

    def _hear_of_all(self) -> None:
        """The connection was made anew: read everything, for what it missed."""
        self._all_due = True
        self._woken.set()

    async def _tell_changes(self) -> None:
        is_away = False
        while not self._stop.is_set():
            try:
                await self._round()
                is_away = False
            except PASSING as error:
                if not is_away:
                    log.warning("items_unavailable", reason=error.message)
                is_away = self._all_due = True
                await wait_for_any(self._stop, timeout=_PAUSE)
            await self._next_news()

    async def _next_news(self) -> None:
        """Wait until a change is heard of, or everything is due to be read again."""
        now = asyncio.get_running_loop().time
        while not self._all_due and not self._heard and not self._stop.is_set():
            self._woken.clear()
            await wait_for_any(self._woken, timeout=max(0.0, self._all_due_at - now()))
            if now() >= self._all_due_at:
                self._all_due = True

    async def _round(self) -> None:
        """Read what was heard of, or everything, and hand it on."""
        all_due, heard = self._all_due, self._heard
        self._all_due, self._heard = False, set()
        if all_due:
            await self._end_sessions()
            await self._keeper.run_once()
            pause = min(self._look_every, self._keeper.interval.total_seconds())
            if await self._store.notices_are_quiet():
                pause = min(pause, _BETWEEN)
            self._read_at = asyncio.get_running_loop().time()
            self._all_due_at = self._read_at + pause
        due: defaultdict[str, list[str]] = defaultdict(list)
        for item in self._watches if all_due else heard:
            due[item.type].append(item.key)
        for data_type, keys in due.items():
            if all_due:
                await self._recognise(data_type, keys)
            await self._tell(data_type, keys)

    async def _tell(self, data_type: str, keys: Sequence[str]) -> None:
        """Read keys of a type and hand them to their watchers; a watcher whose type cannot be read is told why."""
        told = 0
        while batch := keys[told : told + self._keys_per_read]:
            try:
                items = await self._store.read_items(data_type, batch)
            except PASSING:
                raise
            except Exception as fault:  # noqa: BLE001 - whatever it is, it ends no watch of another type
                if isinstance(fault, InvalidRead) and len(batch) > 1:
                    # One call may read less than that: fetching.keys_per_read.
                    self._keys_per_read = len(batch) // 2
                    continue
                for watch in self._watching(data_type, batch):
                    watch.fail(fault)
            else:
                for item in items:
                    for watch in self._watching(data_type, [item.key]):
                        watch.take(item)
            told += len(batch)

    def _watching(self, data_type: str, keys: Iterable[str]) -> Iterator[Watch]:
        return chain.from_iterable(self._watches.get(Item(data_type, key), ()) for key in keys)


def _differs(old: StoredItem | None, new: StoredItem) -> bool:
    if old is None:
        return True
    if (old.value, old.fetched_at) != (new.value, new.fetched_at):
        return True
    return old.why != new.why and not new.why.endswith(_UNDER_WAY)
