"""The jobs this worker has leased: waiting for a slot, running in one, or over and not yet told to the database."""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from livewell.budgets import PermitExpired
from livewell.jobs import ClaimedJob, JobId, Spent
from livewell.kernel import WATCH_SECONDS, trusted_seconds
from livewell.worker.bundles import Bundle


class Stop(Enum):
    """Why a running job is stopped from outside."""

    LOST = "its lease may be lost"
    CANCELLED = "it was cancelled"
    OVERDUE = "it reached its time limit"
    LATE = "its permit ran out before it started"


@dataclass(slots=True, eq=False)
class LeasedJob:
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

    @property
    def lease_seconds(self) -> float:
        return self.job.lease_seconds

    @property
    def is_in_use(self) -> bool:
        return self.stop is None and not self.ended

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
            self.stop_because(Stop.LATE)
        return self.stop is None

    def stop_because(self, stop: Stop, reason: str | None = None) -> None:
        """Cancel its handler, or see to it that it does not start; the first reason counts."""
        if self.stop is None:
            self.stop, self.stop_reason = stop, reason
            if self.task is not None:
                self.task.cancel()


class LeasedJobs:
    """The feeder adds what it claimed, slots take from it."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.running = 0
        self._waiting: deque[LeasedJob] = deque()
        self._by_id: dict[JobId, LeasedJob] = {}
        self._idle_slots: deque[asyncio.Future[None]] = deque()
        self.changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[LeasedJob]:
        return iter(list(self._by_id.values()))

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def add(self, jobs: Iterable[ClaimedJob], asked_at: float) -> None:
        """Take in what a claim gave; where a job is here already, its lease was lost, and that attempt is stopped."""
        lease_seconds, trusted_until = 0.0, asked_at
        # What ends before the keeper looks for the first time could run past its end.
        watched_from = asyncio.get_running_loop().time() + WATCH_SECONDS
        bundles: dict[int, Bundle] = {}
        for job in jobs:
            if job.lease_seconds != lease_seconds:
                lease_seconds, trusted_until = job.lease_seconds, asked_at + trusted_seconds(job.lease_seconds)
            leased = LeasedJob(job, trusted_until)
            if trusted_until < watched_from:
                leased.stop_because(Stop.LOST)
            if job.send_within_seconds is not None:
                leased.send_by = asked_at + job.send_within_seconds
            if job.bundle is not None:
                leased.bundle = bundles.setdefault(job.bundle, Bundle())
                leased.bundle.members.append(leased)
            before = self._by_id.get(job.job_id)
            if before is not None:
                before.stop_because(Stop.LOST)
            self._by_id[job.job_id] = leased
            self._waiting.append(leased)
        for _ in range(min(len(self._waiting), len(self._idle_slots))):
            self._wake_slot()

    def take(self) -> LeasedJob | None:
        """The next job for a slot."""
        if not self._waiting:
            return None
        self.running += 1
        return self._waiting.popleft()

    def ended(self, leased: LeasedJob) -> None:
        """A slot is done with a job; its lease is renewed until the database has its outcome."""
        self.running -= 1
        leased.ended = True
        self.changed.set()

    def forget(self, leased: LeasedJob) -> None:
        if self._by_id.get(leased.job.job_id) is leased:
            del self._by_id[leased.job.job_id]

    def give_back(self) -> list[LeasedJob]:
        """Take out all that have not started, except those whose request another job of their bundle has made."""
        waiting = [leased for leased in self._waiting if not leased.is_under_way()]
        self._waiting = deque(leased for leased in self._waiting if leased.is_under_way())
        for leased in waiting:
            leased.ended = True
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
