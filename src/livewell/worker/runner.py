"""The runner performs leased jobs in a bounded number of slots; whatever happens in a handler ends as an outcome.

Events: `job_failed`, `job_dead`, `job_contended`, `job_stopped`.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

from livewell.budgets import KeyRing, PermitExpired
from livewell.jobs import RUN_TIMES, Cancel, Dead, Failed, InvalidPayload, Kind, Outcome, PayloadChecker, Reset, Spent
from livewell.kernel import Logger, working_on
from livewell.worker.context import JobContext
from livewell.worker.failures import describe, is_contention, text_of
from livewell.worker.handlers import Handler
from livewell.worker.leased_jobs import LeasedJob, LeasedJobs, Stop
from livewell.worker.refreshing import Refreshed
from livewell.worker.tracing import attempt_span, is_on

log = Logger("livewell.worker")

# Slots whose handlers never wait would keep the loop to themselves; after so many seconds they yield it.
_BREATH = 0.005
# Contention is not the job's fault; but a job that meets it every time must fail in the end.
MOST_RESETS = 50


class Runner:
    """Slots that take leased jobs and hand on how each ended."""

    def __init__(
        self,
        jobs: LeasedJobs,
        handlers: Mapping[str, Handler],
        on_end: Callable[[LeasedJob, Outcome | Refreshed], None],
        *,
        worker: str,
        checker: PayloadChecker | None = None,
        keys: KeyRing | None = None,
    ) -> None:
        self._jobs = jobs
        self._handlers = handlers
        self._on_end = on_end
        self._worker = worker
        self._checker = checker
        self._keys = keys or KeyRing()
        self._time_limits: dict[str, float] = {}
        self._traced = is_on()
        self._breath_ends = 0.0
        self.mean_seconds: float | None = None

    def follow(self, kinds: Iterable[Kind]) -> None:
        """Take the time limits and schemas of kinds as they are now, for the attempts that start from now on."""
        known = list(kinds)
        self._time_limits = {kind.kind: kind.time_limit.total_seconds() for kind in known if kind.time_limit}
        if self._checker is not None:
            self._checker.learn(known)

    async def run(self, stop: asyncio.Event) -> None:
        """Run all slots until told to stop and nothing waits any more."""
        async with asyncio.TaskGroup() as slots:
            for number in range(self._jobs.slots):
                slots.create_task(self._slot(stop), name=f"slot-{number}")
            await stop.wait()
            self._jobs.wake_all_slots()

    async def _slot(self, stop: asyncio.Event) -> None:
        now, task = asyncio.get_running_loop().time, asyncio.current_task()
        while True:
            leased = self._jobs.take()
            if leased is None:
                working_on.set(None)
                if stop.is_set():
                    return
                await self._jobs.wait_for_work()
                continue
            working_on.set(leased.job.job_id)
            leased.started = now()
            try:
                outcome = await self._attempt(leased, task)
            finally:
                leased.task = None
                self._jobs.ended(leased)
                if leased.stop is not None:
                    _keep_the_slot()
            ended = now()
            self._count(leased.job.kind, ended - leased.started)
            if outcome is None:
                self._jobs.forget(leased)
            else:
                self._on_end(leased, outcome)
                outcome = None  # what it brought may be large, and is not this slot's to keep while it waits
            if ended > self._breath_ends:
                await asyncio.sleep(0)
                self._breath_ends = now() + _BREATH

    def _count(self, kind: str, seconds: float) -> None:
        RUN_TIMES.observe(kind, seconds)
        self.mean_seconds = seconds if self.mean_seconds is None else self.mean_seconds * 0.95 + seconds * 0.05

    async def _attempt(self, leased: LeasedJob, task: "asyncio.Task[None] | None") -> Outcome | Refreshed | None:
        """Run the handler; None when the attempt no longer counts."""
        job = leased.job
        handler = self._handlers[job.kind]
        if not leased.may_start():
            return self._stopped(leased)
        limit = self._limit(leased) if self._time_limits else None
        try:
            payload = handler.read(job.payload, self._checker)
            leased.task = task
            if handler.wants_context:
                call = handler.function(payload, JobContext(leased, worker=self._worker, keys=self._keys))
            else:
                call = handler.function(payload)
            if self._traced:
                with attempt_span(job):
                    answer = await call
            else:
                answer = await call
            return answer if isinstance(answer, Refreshed) else handler.outcome_of(answer)
        except InvalidPayload as error:
            log.warning("job_dead", kind=job.kind, reason=error.message)
            return Dead(error.message, describe(error, job, worker=self._worker, started_at=_ago(leased)))
        except asyncio.CancelledError as error:
            if leased.was_stopped():
                return self._stopped(leased)
            if _is_cut():
                raise
            return self._failed(leased, error)
        except (Exception, SystemExit, BaseExceptionGroup) as error:  # noqa: BLE001 - a handler's end is its job's, not the worker's
            return self._failed(leased, error)
        finally:
            if limit is not None:
                limit.cancel()

    def _limit(self, leased: LeasedJob) -> asyncio.TimerHandle | None:
        """What stops the attempt when its kind's time limit is reached."""
        seconds = self._time_limits.get(leased.job.kind)
        if seconds is None:
            return None
        leased.must_end_by = leased.started + seconds
        return asyncio.get_running_loop().call_at(leased.must_end_by, leased.stop_because, Stop.OVERDUE)

    def _failed(self, leased: LeasedJob, error: BaseException) -> Outcome | None:
        job = leased.job
        if leased.was_stopped():
            return self._stopped(leased)
        if isinstance(error, PermitExpired):
            return Reset(str(error))
        if is_contention(error) and job.attempt - job.failures <= MOST_RESETS:
            log.info("job_contended", kind=job.kind, attempt=job.attempt, error=text_of(error))
            return Reset(f"{type(error).__name__}: {text_of(error)}")
        log.warning("job_failed", kind=job.kind, attempt=job.attempt, error=f"{type(error).__name__}: {text_of(error)}")
        return Failed(error=describe(error, job, worker=self._worker, started_at=_ago(leased)))

    def _stopped(self, leased: LeasedJob) -> Outcome | None:
        job = leased.job
        log.info("job_stopped", job_id=job.job_id, kind=job.kind, why=leased.stop and leased.stop.value)
        match leased.stop:
            case Stop.CANCELLED:
                return Cancel(leased.stop_reason)
            case Stop.LATE:
                leased.spent = Spent(sent=False)
                return Reset(Stop.LATE.value)
            case Stop.OVERDUE:
                limit = (leased.must_end_by or leased.started) - leased.started
                error = TimeoutError(f"not done within its time limit of {limit:g} s")
                return Failed(error=describe(error, job, worker=self._worker, started_at=_ago(leased)))
            case _:
                return None


def _ago(leased: LeasedJob) -> datetime:
    """When the attempt started, by the wall clock."""
    return datetime.fromtimestamp(
        datetime.now(UTC).timestamp() - (asyncio.get_running_loop().time() - leased.started), UTC
    )


def _keep_the_slot() -> None:
    """The cancellation was meant for the job; the slot lives on, also when the handler has swallowed it."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        task.uncancel()


def _is_cut() -> bool:
    """Whether the slot itself is cancelled; if not, the handler has awaited something else that was."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
