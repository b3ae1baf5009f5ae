"""Reads the rows of one type for one class of viewers, one read at a time, and hands them to those who look.

What is wanted while a read is under way is read by the next, so that what is told is never older than what was wanted.

Events: `live_read_failed`.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from livewell.access import NotReadable, ReadClass, Readers
from livewell.kernel import Backoff, LivewellError, Logger
from livewell.live.metrics import READS
from livewell.live.views import Part, View

_BATCH = 200

log = Logger("livewell.live")


class ClassReader:
    """Runs while something is wanted; `on_idle` is called when nothing is, `on_refused` when it may not be read."""

    def __init__(
        self,
        readers: Readers,
        read_class: ReadClass,
        data_type: str,
        *,
        on_idle: Callable[[], object],
        on_refused: Callable[[View, LivewellError], None],
    ) -> None:
        self._readers = readers
        self._class = read_class
        self._type = data_type
        self._wanted: dict[View, None] = {}
        self._on_idle = on_idle
        self._on_refused = on_refused
        self._backoff = Backoff(first=timedelta(milliseconds=200), longest=timedelta(seconds=30))
        self._task: asyncio.Task[None] | None = None

    def want(self, view: View) -> None:
        """Read a view, as soon as what is being read has come."""
        self._wanted[view] = None
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        failures = 0
        try:
            while views := [view for view in self._wanted if view.clients][:_BATCH]:
                for view in views:
                    del self._wanted[view]
                try:
                    await self._read(views)
                    failures = 0
                except NotReadable as fact:
                    for view in views:
                        self._on_refused(view, fact)
                except Exception as error:  # noqa: BLE001 - whatever it is, it holds up nobody but this class and type
                    failures += 1
                    if failures == 1:
                        log.warning("live_read_failed", data_type=self._type, error=str(error))
                    self._wanted = dict.fromkeys(views) | self._wanted
                    await asyncio.sleep(self._backoff.seconds(failures))
        finally:
            self._task = None
            self._on_idle()

    async def _read(self, views: list[View]) -> None:
        # The versions as they were known before the rows are read.
        versions = {view: view.held.version for view in views}
        READS.inc()
        rows = await self._readers.read(self._class, self._type, [view.held.item.key for view in views])
        for view, version in versions.items():
            row = rows[view.held.item.key]
            is_same = (view.version, view.value, view.visible) == (version, row.value, row.visible)
            view.take(version, row.value, visible=row.visible)
            if not is_same:
                for client in view.clients - view.waiting:
                    client.tell(view, Part.ROW | Part.STATE if row.visible else Part.ROW)
            answer_waiting(view)
            if not view.is_read:
                self._wanted[view] = None


def answer_waiting(view: View) -> None:
    """Tell those who came: the row, or only its age to who has it already."""
    for client in view.waiting:
        has = client.has.pop(view.held.item, None)
        part = Part.AGE if has == view.version_text else Part.ROW
        client.tell(view, part | Part.STATE if view.visible else part)
    view.waiting.clear()
