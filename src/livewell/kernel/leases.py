"""Keeps the leases of a process alive, and tells their holder when one can no longer be trusted.

All of them are renewed in one call. Past its end the database may give a lease to another. So it is trusted for its
length by this process's own monotonic clock, counted from before the request that gave or renewed it, less a margin to
stop the work in. The clock is watched while a renewal is under way, too, and a renewal that is not answered is given
up in time for another.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from enum import Enum
from typing import Generic, Protocol, TypeAlias, TypeVar

from livewell.kernel.waiting import wait_for_any

_RENEWALS_PER_LEASE = 3
_RETRIES_PER_LEASE = 10
# A lease that is added without a `begin` is seen by the watch within this time.
WATCH_SECONDS = 0.25
# A renewal is given up when the next one is due, but not before a slow network can answer.
_SHORTEST_PATIENCE = 1.0


class NotRenewed(Enum):
    """Why a lease was not renewed: it is another's or over, or it is locked and may be renewed later."""

    LOST = "lost"
    BUSY = "busy"


# How long the lease is from now on, in seconds, or why not.
Renewal: TypeAlias = float | NotRenewed


class Lease(Protocol):
    """What a keeper must know of a lease; it moves `trusted_until` on."""

    trusted_until: float

    @property
    def lease_seconds(self) -> float:
        """How long it was given for."""
        ...

    @property
    def is_in_use(self) -> bool:
        """Whether anything runs under it that must stop when it is lost."""
        ...


L = TypeVar("L", bound=Lease)


class LeaseHolder(Protocol[L]):
    """Who has leases to be kept."""

    def leases(self) -> Sequence[L]:
        """Those to renew: all that are neither lost nor done with."""
        ...

    def renew(self, leases: Sequence[L]) -> Awaitable[Sequence[Renewal]]:
        """Ask for all of them in one call; answers in their order."""
        ...

    def lose(self, lease: L, why: str) -> None:
        """It can no longer be trusted: stop what runs under it. It is not in use afterwards."""
        ...

    def not_renewed(self, error: Exception) -> None:
        """The call failed or was not answered; it is made again."""
        ...


def loop_time() -> float:
    """The clock of the running loop, which is monotonic."""
    return asyncio.get_running_loop().time()


def trusted_seconds(lease_seconds: float) -> float:
    """How long a lease is trusted from before its request: all of it but a margin for stopping the work."""
    return lease_seconds - min(1.0, lease_seconds * 0.1)


class LeaseKeeper(Generic[L]):
    """Renews three times a lease, more often while that fails; with `every`, at least so often, held or not."""

    def __init__(
        self,
        holder: LeaseHolder[L],
        *,
        every: Callable[[], timedelta] | None = None,
        clock: Callable[[], float] = loop_time,
    ) -> None:
        self._holder = holder
        self._every = every
        self._clock = clock
        self._began = 0.0
        self._is_behind = False
        self._came = asyncio.Event()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Keep what is held, in a task that ends when nothing is held; called when a lease was added."""
        self._came.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run_while_held(), name="lease_keeper")

    async def stop(self) -> None:
        """Keep nothing any more; if keeping broke, that is raised here."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            if not self._task.cancelled():
                self._task.result()

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Keep what is added in a block of code, and stop at its end."""
        try:
            yield
        finally:
            await self.stop()

    def renew_now(self) -> None:
        """Do not wait until the next renewal is due."""
        self._wake.set()

    async def run(self, stop: asyncio.Event | None = None) -> None:
        """Renew and watch until told to stop; without `every`, until nothing is held."""
        self._began = self._clock()
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(self._keep_watch())
            try:
                await self._keep_renewing(stop or asyncio.Event())
            finally:
                watching.cancel()

    async def run_once(self) -> None:
        """Renew all leases, and lose those that are no longer ours, by the answer or by the clock."""
        if not self._is_needed():
            return
        leases = self._holder.leases()
        self._began = asked_at = self._clock()
        try:
            async with asyncio.timeout(max(self._pause(leases, _RENEWALS_PER_LEASE), _SHORTEST_PATIENCE)):
                answers = await self._holder.renew(leases)
        except Exception as error:  # noqa: BLE001 - whatever it is, leases are watched and tried again
            self._is_behind = True
            self._holder.not_renewed(error)
        else:
            self._is_behind = False
            # What was lost or done with while the renewal was under way stays so.
            still_held = {id(lease) for lease in self._holder.leases()}
            for lease, answer in zip(leases, answers, strict=True):
                if id(lease) in still_held:
                    self._obey(lease, answer, asked_at)
        self.watch()

    def watch(self) -> None:
        """Lose what could not be renewed in time."""
        now = self._clock()
        for lease in self._holder.leases():
            if lease.is_in_use and now >= lease.trusted_until:
                self._holder.lose(lease, "not renewed in time")

    def _obey(self, lease: L, answer: Renewal, asked_at: float) -> None:
        if not isinstance(answer, NotRenewed):
            lease.trusted_until = asked_at + trusted_seconds(answer)
        elif lease.is_in_use:
            # What is not in use any more may be over in the database, too, which is no loss.
            if answer is NotRenewed.LOST:
                self._holder.lose(lease, "told by the database")
            else:
                self._is_behind = True

    async def _run_while_held(self) -> None:
        # Asked again, because a lease may be added while the last run ends.
        while self._is_needed():
            await self.run()

    async def _keep_watch(self) -> None:
        while True:
            self._came.clear()
            self.watch()
            ends = (lease.trusted_until for lease in self._holder.leases() if lease.is_in_use)
            left = max(0.0, min(ends, default=float("inf")) - self._clock())
            await wait_for_any(self._came, timeout=min(WATCH_SECONDS, left))

    async def _keep_renewing(self, stop: asyncio.Event) -> None:
        while self._is_needed() and not stop.is_set():
            per_lease = _RETRIES_PER_LEASE if self._is_behind else _RENEWALS_PER_LEASE
            left = self._began + self._pause(self._holder.leases(), per_lease) - self._clock()
            if left <= 0 or self._wake.is_set():
                self._wake.clear()
                await self.run_once()
            else:
                await wait_for_any(self._wake, stop, timeout=min(left, WATCH_SECONDS))

    def _is_needed(self) -> bool:
        return self._every is not None or bool(self._holder.leases())

    def _pause(self, leases: Sequence[L], per_lease: int) -> float:
        shortest = min((lease.lease_seconds for lease in leases), default=float("inf")) / per_lease
        return shortest if self._every is None else min(shortest, self._every().total_seconds())
