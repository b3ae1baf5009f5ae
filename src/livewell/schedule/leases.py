"""The leases of running handlers: renewed on a line of their own, and watched by this process's monotonic clock.

A run whose lease could not be renewed in time is stopped before another node can have the task; one past its time limit
is stopped too. A lease is trusted until a moment counted from before the request that gave or renewed it.

Events: `lease_renewal_failed`, `task_lost`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

from livewell.kernel import LivewellError, Logger, trusted_seconds
from livewell.schedule.store import TaskStore

log = Logger("livewell.schedule")

_WATCH_SECONDS = 0.25
_SHORTEST_PATIENCE = 1.0


class Stop(Enum):
    """Why a run is stopped from outside."""

    LOST = "its lease may be lost"
    OVERDUE = "it reached its time limit"


@dataclass(slots=True, eq=False)
class Held:
    """A task this node holds while its handler runs."""

    name: str
    token: UUID
    lease_seconds: float
    trusted_until: float
    must_end_by: float
    task: "asyncio.Task[object] | None" = None
    stop: Stop | None = None

    def tell(self, stop: Stop) -> None:
        """Stop it; the first reason counts."""
        if self.stop is None:
            self.stop = stop
            if self.task is not None:
                self.task.cancel()


class LeaseKeeper:
    """Keeps what is held alive and ends what must end."""

    def __init__(self, store: TaskStore) -> None:
        self._store = store
        self._held: list[Held] = []
        self._came = asyncio.Event()

    def add(self, held: Held) -> None:
        self._held.append(held)
        self._came.set()

    def remove(self, held: Held) -> None:
        self._held.remove(held)

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Renew and watch for the length of a block; while nothing is held, that costs nothing."""
        working = [asyncio.create_task(self._keep_watch()), asyncio.create_task(self._keep_renewing())]
        try:
            yield
        finally:
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)

    async def _keep_watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            if not self._held:
                self._came.clear()
                await self._came.wait()
            self.watch(loop.time())
            ends = (held.trusted_until for held in self._held if held.stop is None)
            await asyncio.sleep(min(_WATCH_SECONDS, max(0.0, min(ends, default=float("inf")) - loop.time())))

    async def _keep_renewing(self) -> None:
        loop = asyncio.get_running_loop()
        last = loop.time()
        while True:
            if not self._held:
                await self._came.wait()
                last = loop.time()
            if loop.time() - last >= self._pause():
                last = loop.time()
                await self._renew_or_warn()
            await asyncio.sleep(min(_WATCH_SECONDS, self._pause()))

    def watch(self, now: float) -> None:
        """Stop what may be another's by now, and what has had its time."""
        for held in self._held:
            if held.stop is not None:
                continue
            if now >= held.trusted_until:
                log.warning("task_lost", task=held.name, why="not renewed in time")
                held.tell(Stop.LOST)
            elif now >= held.must_end_by:
                held.tell(Stop.OVERDUE)

    async def renew(self) -> None:
        """Renew every lease held and obey the answers."""
        held = [one for one in self._held if one.stop is not Stop.LOST]
        if not held:
            return
        asked_at = asyncio.get_running_loop().time()
        answers = await self._store.renew_tasks([one.name for one in held], [one.token for one in held])
        lease_of = {answer.name: answer.lease_seconds for answer in answers}
        for one in held:
            if one not in self._held:
                # Its run has ended meanwhile: "lost" then only means that it is finished.
                continue
            seconds = lease_of[one.name]
            if seconds is None:
                log.warning("task_lost", task=one.name, why="told by the database")
                one.tell(Stop.LOST)
            else:
                one.trusted_until = asked_at + trusted_seconds(seconds)

    async def _renew_or_warn(self) -> None:
        try:
            async with asyncio.timeout(max(self._pause(), _SHORTEST_PATIENCE)):
                await self.renew()
        except (LivewellError, TimeoutError) as error:
            log.warning("lease_renewal_failed", error=str(error) or "no answer", held=len(self._held))

    def _pause(self) -> float:
        return min((held.lease_seconds for held in self._held), default=float("inf")) / 3
