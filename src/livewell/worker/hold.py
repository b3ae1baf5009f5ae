"""The hold: the jobs this worker has leased, waiting for a slot, running in one, or on their way back.

It is told of time only by the loop's monotonic clock. A lease is trusted until a moment counted from before the request
that gave or renewed it, less a margin: past that, another worker may have the job.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from livewell.budgets import PermitExpired
from livewell.jobs import ClaimedJob, JobId, Spent
from livewell.kernel import trusted_seconds
from livewell.worker.bundles import Bundle


class Stop(Enum):
    """Why a running job is stopped from outside."""

    LOST = "its lease may be lost"
    CANCELLED = "it was cancelled"
    OVERDUE = "it reached its time limit"
    LATE = "its permit ran out before it started"


@dataclass(slots=True, eq=False)
class HeldJob:
    """A leased job on its way through this worker."""

    job: ClaimedJob
    trusted_until: float
    send_by: float | None = None
    spent: Spent | None = None
    task: "asyncio.Task[None] | None" = None
    started: float = 0.0
    must_end_by: float | None = None
    ended: bool = False
    stop: Stop | None = None
    stop_reason: str | None = None
    bundle: Bundle | None = None

    def was_stopped(self) -> bool:
        return self.stop is not None

    def send(self) -> None:
        """Its request goes out now; raises `PermitExpired` when it no longer may."""
        if self.send_by is not None and asyncio.get_running_loop().time() > self.send_by:
            self.spent = Spent(sent=False)
            raise PermitExpired(f"job {self.job.job_id} did not send its request in time", fix="it is queued again")

    def is_under_way(self) -> bool:
        """Whether its request has been made, by another job of its bundle."""
        return self.bundle is not None and self.bundle.is_under_way

    def may_start(self) -> bool:
        """Whether nothing has stopped it while it waited for its slot, and its permit to call is still good."""
        if self.send_by is not None and self.started > self.send_by and not self.is_under_way():
            self.tell(Stop.LATE)
        return self.stop is None

    def tell(self, stop: Stop, reason: str | None = None) -> None:
        """Stop it: the first reason counts; one that waits for its slot will not start."""
        if self.stop is None:
            self.stop, self.stop_reason = stop, reason
            if self.task is not None:
                self.task.cancel()


class Hold:
    """Jobs waiting and running; slots take from it, the feeder fills it."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.running = 0
        self._waiting: deque[HeldJob] = deque()
        self._held: dict[JobId, HeldJob] = {}
        self._idle_slots: deque[asyncio.Future[None]] = deque()
        self.changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[HeldJob]:
        return iter(list(self._held.values()))

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def add(self, jobs: Iterable[ClaimedJob], asked_at: float) -> None:
        """Take in what a claim gave; a job held before (and lost since) is told so."""
        lease_seconds, trusted_until = 0.0, asked_at
        bundles: dict[int, Bundle] = {}
        for job in jobs:
            if job.lease_seconds != lease_seconds:
                lease_seconds, trusted_until = job.lease_seconds, asked_at + trusted_seconds(job.lease_seconds)
            held = HeldJob(job, trusted_until)
            if job.send_within_seconds is not None:
                held.send_by = asked_at + job.send_within_seconds
            if job.bundle is not None:
                held.bundle = bundles.setdefault(job.bundle, Bundle())
                held.bundle.members.append(held)
            before = self._held.get(job.job_id)
            if before is not None:
                before.tell(Stop.LOST)
            self._held[job.job_id] = held
            self._waiting.append(held)
        for _ in range(min(len(self._waiting), len(self._idle_slots))):
            self._wake_slot()

    def get(self, job_id: JobId) -> HeldJob | None:
        return self._held.get(job_id)

    def take(self) -> HeldJob | None:
        """The next job for a slot."""
        if not self._waiting:
            return None
        self.running += 1
        return self._waiting.popleft()

    def ended(self, held: HeldJob) -> None:
        """A slot is done with a job, one way or another; it is held until its outcome has arrived."""
        self.running -= 1
        held.ended = True
        self.changed.set()

    def forget(self, held: HeldJob) -> None:
        if self._held.get(held.job.job_id) is held:
            del self._held[held.job.job_id]

    def give_back(self) -> list[HeldJob]:
        """Everything that has not started; what another job of its bundle has asked for is let finish."""
        waiting = [held for held in self._waiting if not held.is_under_way()]
        self._waiting = deque(held for held in self._waiting if held.is_under_way())
        for held in waiting:
            held.ended = True
        self.changed.set()
        return waiting

    async def wait_for_work(self) -> None:
        """What an idle slot does."""
        idle = asyncio.get_running_loop().create_future()
        self._idle_slots.append(idle)
        try:
            await idle
        finally:
            if not idle.done() or idle.cancelled():
                self._idle_slots.remove(idle)

    def wake_all_slots(self) -> None:
        while self._idle_slots:
            self._wake_slot()

    def _wake_slot(self) -> None:
        idle = self._idle_slots.popleft()
        if not idle.done():
            idle.set_result(None)
