"""Looks at items for a gateway: what their versions are, then what is in them, and tells those who look.

Versions are asked first and rows read afterwards, so old content is never told under a new version; what changes in
between is noticed again. Rows are read once for all clients of a class, and for each class and type by itself: one that
is slow, or cannot be read, holds up no other.

Events: `live_unavailable`.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from livewell.access import ReadClass, Readers
from livewell.freshness import FreshnessStore, UnknownType
from livewell.kernel import Backoff, LivewellError, Logger, wait_for_any
from livewell.live.class_reader import ClassReader, answer_waiting
from livewell.live.client import LiveClient
from livewell.live.metrics import COMPARED, DOUBTED, ITEMS, LOOKS
from livewell.live.views import Clock, HeldItem, Part, View
from livewell.presence import Item

_BATCH = 1_000

log = Logger("livewell.live")


class Looker:
    """A component: holds what is looked at here, and keeps it as the database has it."""

    name = "live_looker"

    def __init__(
        self,
        store: FreshnessStore,
        readers: Readers,
        *,
        doubt_lasts: timedelta,
        now: Clock,
        on_refused: Callable[[View, LivewellError], None],
    ) -> None:
        self._store = store
        self._readers = readers
        self._doubt_lasts = doubt_lasts.total_seconds()
        self._now = now
        self._on_refused = on_refused
        self._by_item: dict[Item, HeldItem] = {}
        self._by_id: dict[int, HeldItem] = {}
        self._due: dict[int, int] = {}
        self._doubted: dict[int, int] = {}
        # Notices of items nobody here looks at yet, while somebody is about to.
        self._joining = 0
        self._unclaimed: dict[int, int] = {}
        self._reads: dict[tuple[ReadClass, str], ClassReader] = {}
        self._compared = asyncio.Event()
        self._woken = asyncio.Event()
        self._backoff = Backoff(first=timedelta(milliseconds=100), longest=timedelta(seconds=5))
        self.is_away = False

    # What it is told.

    def hear(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Some items have, so it is said, these versions."""
        now = self._now()
        for item_id, version in pairs:
            held = self._by_id.get(item_id)
            if held is None:
                if self._joining:
                    self._unclaimed[item_id] = max(version, self._unclaimed.get(item_id, 0))
            elif held.suspect_until > now:
                self._doubted[item_id] = version
            else:
                self._due[item_id] = max(version, self._due.get(item_id, 0))
        if self._due:
            self._woken.set()

    def compare_all(self) -> asyncio.Event:
        """Everything is to be looked at; the event is set when that is done."""
        COMPARED.inc()
        if self._compared.is_set() or not self._by_id:
            self._compared = asyncio.Event()
        for item_id in self._by_id:
            self._due.setdefault(item_id, 0)
        self._woken.set()
        return self._compared

    def look_around(self) -> None:
        """Look again at what is not fresh, and at what was said falsely of a moment ago; called every second."""
        now = self._now()
        for item_id, held in self._by_id.items():
            if held.look_at <= now:
                held.look_at = float("inf")
                self._due.setdefault(item_id, 0)
                self._woken.set()
        for item_id, version in list(self._doubted.items()):
            doubtful = self._by_id.get(item_id)
            if doubtful is None or doubtful.suspect_until <= now:
                del self._doubted[item_id]
                if doubtful is not None:
                    self._due.setdefault(item_id, version)
                    self._woken.set()

    # Who looks at what.

    @contextmanager
    def joining(self) -> Iterator[None]:
        """While somebody is about to look, what is heard of items nobody looks at yet is kept."""
        self._joining += 1
        try:
            yield
        finally:
            self._joining -= 1
            if not self._joining:
                self._unclaimed.clear()

    def join(self, client: LiveClient, item: Item, item_id: int, read_class: ReadClass, version: str | None) -> None:
        """A client looks at an item, and has this version of it."""
        held = self._by_item.get(item)
        if held is None or held.id != item_id:
            held = self._hold(item, item_id)
        view = held.views.get(read_class)
        if view is None:
            view = held.views[read_class] = View(held, read_class)
        old = client.views.get(item)
        if old is not None and old is not view:
            self.leave(client, item)
        client.views[item] = view
        if version is not None:
            client.has[item] = version
        view.clients.add(client)
        view.waiting.add(client)
        self._due[item_id] = max(self._unclaimed.get(item_id, 0), self._due.get(item_id, 0))
        self._woken.set()

    def leave(self, client: LiveClient, item: Item) -> None:
        """A client no longer looks at an item; what nobody looks at is forgotten."""
        view = client.views.pop(item, None)
        client.has.pop(item, None)
        if view is None:
            return
        client.forget(view)
        view.clients.discard(client)
        view.waiting.discard(client)
        if not view.clients:
            held = view.held
            if held.views.get(view.read_class) is view:
                del held.views[view.read_class]
            if not held.views:
                self._forget(held)

    def views(self) -> Iterator[View]:
        for held in list(self._by_id.values()):
            yield from list(held.views.values())

    def read_anew(self, view: View) -> None:
        """Read a view again although its version may be the same: rights may have changed."""
        view.version = -1
        self._due.setdefault(view.held.id, 0)
        self._woken.set()

    def _hold(self, item: Item, item_id: int) -> HeldItem:
        before = self._by_item.get(item)
        held = HeldItem(item, item_id)
        if before is not None:
            # Its type was removed and made anew: it is another item now.
            self._by_id.pop(before.id, None)
            for view in list(before.views.values()):
                for client in list(view.clients):
                    self.leave(client, item)
        self._by_item[item] = self._by_id[item_id] = held
        ITEMS.set(len(self._by_id))
        return held

    def _forget(self, held: HeldItem) -> None:
        if self._by_item.get(held.item) is held:
            del self._by_item[held.item]
        if self._by_id.get(held.id) is held:
            del self._by_id[held.id]
        self._due.pop(held.id, None)
        self._doubted.pop(held.id, None)
        ITEMS.set(len(self._by_id))

    # Looking.

    async def run(self, stop: asyncio.Event) -> None:
        """Look at what is due, until told to stop."""
        failures = 0
        try:
            while not stop.is_set():
                try:
                    await self._look()
                    failures, self.is_away = 0, False
                except Exception as error:  # noqa: BLE001 - whatever it is, what is due is looked at again
                    failures += 1
                    if not self.is_away:
                        log.warning("live_unavailable", reason=str(error))
                    self.is_away = True
                    await wait_for_any(stop, timeout=self._backoff.seconds(failures))
                if not self._due:
                    self._compared.set()
                    self._woken.clear()
                    await wait_for_any(self._woken, stop)
        finally:
            await asyncio.gather(*(reader.stop() for reader in self._reads.values()), return_exceptions=True)

    async def _look(self) -> None:
        """Ask how a batch of items stands, read what is new, tell what is known."""
        due = dict(self._take_due())
        if not due:
            return
        LOOKS.inc()
        try:
            states = await self._store.item_states(list(due))
        except BaseException:
            for item_id, version in due.items():
                self._due[item_id] = max(version, self._due.get(item_id, 0))
            raise
        now = self._now()
        for state in states:
            held = self._by_id.get(state.item_id)
            if held is None:
                continue
            if state.version is None:
                for view in list(held.views.values()):
                    self._on_refused(view, UnknownType("the data type of this item was removed"))
                continue
            if state.version < due[state.item_id]:
                DOUBTED.inc()
                held.suspect_until = now + self._doubt_lasts
            self._tell(held, held.learn(state, state.version, now))

    def _take_due(self) -> Iterator[tuple[int, int]]:
        for _ in range(min(_BATCH, len(self._due))):
            item_id = next(iter(self._due))
            yield item_id, self._due.pop(item_id)

    def _tell(self, held: HeldItem, news: Part) -> None:
        for view in held.views.values():
            if not view.is_read:
                self._reader(view).want(view)
                continue
            if news and view.visible:
                for client in view.clients:
                    client.tell(view, news)
            answer_waiting(view)

    def _reader(self, view: View) -> ClassReader:
        group = view.read_class, view.held.item.type
        reader = self._reads.get(group)
        if reader is None:
            reader = self._reads[group] = ClassReader(
                self._readers,
                *group,
                on_idle=lambda: self._reads.pop(group, None),
                on_refused=self._on_refused,
            )
        return reader
