"""The runner performs held jobs in a bounded number of slots; whatever happens in a handler ends as an outcome.

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
from livewell.worker.hold import HeldJob, Hold, Stop
from livewell.worker.refreshing import Refreshed
from livewell.worker.tracing import attempt_span, is_on

log = Logger("livewell.worker")

# Slots whose handlers never wait would keep the loop to themselves; after this long they let the others in.
_BREATH = 0.005
# Contention is not the job's fault, but one that never gets through must end like one whose fault it is.
MOST_RESETS = 50


class Runner:
    """Slots that take jobs from the hold and hand on how each ended."""

    def __init__(
        self,
        hold: Hold,
        handlers: Mapping[str, Handler],
        on_end: Callable[[HeldJob, Outcome | Refreshed], None],
        *,
        worker: str,
        checker: PayloadChecker | None = None,
        keys: KeyRing | None = None,
    ) -> None:
        self._hold = hold
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
            for number in range(self._hold.slots):
                slots.create_task(self._slot(stop), name=f"slot-{number}")
            await stop.wait()
            self._hold.wake_all_slots()

    async def _slot(self, stop: asyncio.Event) -> None:
        now, task = asyncio.get_running_loop().time, asyncio.current_task()
        while True:
            held = self._hold.take()
            if held is None:
                working_on.set(None)
                if stop.is_set():
                    return
                await self._hold.wait_for_work()
                continue
            working_on.set(held.job.job_id)
            held.started = now()
            try:
                outcome = await self._attempt(held, task)
            finally:
                held.task = None
                self._hold.ended(held)
                if held.stop is not None:
                    _keep_the_slot()
            ended = now()
            self._count(held.job.kind, ended - held.started)
            if outcome is None:
                self._hold.forget(held)
            else:
                self._on_end(held, outcome)
                outcome = None  # what it brought may be large, and is not this slot's to keep while it waits
            if ended > self._breath_ends:
                await asyncio.sleep(0)
                self._breath_ends = now() + _BREATH

    def _count(self, kind: str, seconds: float) -> None:
        RUN_TIMES.observe(kind, seconds)
        self.mean_seconds = seconds if self.mean_seconds is None else self.mean_seconds * 0.95 + seconds * 0.05

    async def _attempt(self, held: HeldJob, task: "asyncio.Task[None] | None") -> Outcome | Refreshed | None:
        """Run the handler; None when the attempt no longer counts."""
        job = held.job
        handler = self._handlers[job.kind]
        if not held.may_start():
            return self._stopped(held)
        if self._time_limits and (limit := self._time_limits.get(job.kind)) is not None:
            held.must_end_by = held.started + limit
        try:
            payload = handler.read(job.payload, self._checker)
            held.task = task
            if handler.wants_context:
                call = handler.function(payload, JobContext(held, worker=self._worker, keys=self._keys))
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
            return Dead(error.message, describe(error, job, worker=self._worker, started_at=_ago(held)))
        except asyncio.CancelledError as error:
            if held.was_stopped():
                return self._stopped(held)
            if _is_cut():
                raise
            return self._failed(held, error)
        except (Exception, SystemExit, BaseExceptionGroup) as error:  # noqa: BLE001 - a handler's end is its job's, not the worker's
            return self._failed(held, error)

    def _failed(self, held: HeldJob, error: BaseException) -> Outcome | None:
        job = held.job
        if held.was_stopped():
            return self._stopped(held)
        if isinstance(error, PermitExpired):
            return Reset(str(error))
        if is_contention(error) and job.attempt - job.failures <= MOST_RESETS:
            log.info("job_contended", kind=job.kind, attempt=job.attempt, error=text_of(error))
            return Reset(f"{type(error).__name__}: {text_of(error)}")
        log.warning("job_failed", kind=job.kind, attempt=job.attempt, error=f"{type(error).__name__}: {text_of(error)}")
        return Failed(error=describe(error, job, worker=self._worker, started_at=_ago(held)))

    def _stopped(self, held: HeldJob) -> Outcome | None:
        job = held.job
        log.info("job_stopped", job_id=job.job_id, kind=job.kind, why=held.stop and held.stop.value)
        match held.stop:
            case Stop.CANCELLED:
                return Cancel(held.stop_reason)
            case Stop.LATE:
                held.spent = Spent(sent=False)
                return Reset(Stop.LATE.value)
            case Stop.OVERDUE:
                limit = (held.must_end_by or held.started) - held.started
                error = TimeoutError(f"not done within its time limit of {limit:g} s")
                return Failed(error=describe(error, job, worker=self._worker, started_at=_ago(held)))
            case _:
                return None


def _ago(held: HeldJob) -> datetime:
    """When the attempt started, by the wall clock."""
    return datetime.fromtimestamp(
        datetime.now(UTC).timestamp() - (asyncio.get_running_loop().time() - held.started), UTC
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
