"""A worker process of a run: the product's worker, with the calls to its database noted outside it."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from livewell import Livewell
from livewell.jobs import Beat, ClaimedJob, Finish, JobStore
from livewell.kernel import LivewellError, configure_logs
from livewell.worker import WorkerOptions
from tests.faults.history import Notebook
from tests.faults.kinds import declare
from tests.faults.plan import Plan

T = TypeVar("T")

_SLOW = 1.0
_FOR_EVER = 1e6


def main(declare: Callable[[Livewell, Notebook, Plan], None] = declare) -> int:
    plan = Plan.read()
    configure_logs()
    book = Notebook(plan.folder, plan.name)
    book.note("born", pid=os.getpid())
    _note_calls(book, trusting=plan.trusting)
    app = Livewell(options=plan.options)
    declare(app, book, plan)
    return asyncio.run(_work(app, plan, book))


async def _work(app: Livewell, plan: Plan, book: Notebook) -> int:
    async with app:
        probes: set[asyncio.Task[None]] = set()

        def probe() -> None:
            probes.add(asyncio.create_task(_probe_pool(app, plan, book)))

        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, probe)
        return await app.run_worker(WorkerOptions(concurrency=plan.slots, poll_interval=plan.poll_interval))


async def _probe_pool(app: Livewell, plan: Plan, book: Notebook) -> None:
    """Hold every connection of the pool at once: only a pool with no slot stuck can lend them all."""
    async with AsyncExitStack() as all_at_once:
        for _ in range(plan.pool_size):
            connection = await all_at_once.enter_async_context(app.database.connection())
            await connection.fetchval("select 1")
    book.note("pool_whole")


def _note_calls(book: Notebook, *, trusting: bool) -> None:
    """Put a note around the three calls that matter, on the store every part of the worker uses."""
    claim, heartbeat, finish = JobStore.claim_jobs, JobStore.heartbeat_jobs, JobStore.finish_jobs

    async def claim_jobs(self: JobStore, worker: str, *args: Any, **kwargs: Any) -> list[ClaimedJob]:
        asked = time.monotonic()
        jobs = await _timed(book, "claim", lambda: claim(self, worker, *args, **kwargs))
        for job in jobs:
            book.note(
                "claimed",
                job=job.job_id,
                attempt=job.attempt,
                token=str(job.lease_token),
                kind=job.kind,
                serial_key=job.serial_key,
                worker=worker,
                asked=asked,
            )
        return [_trusted(job) for job in jobs] if trusting else jobs

    async def heartbeat_jobs(self: JobStore, *args: Any) -> list[Beat]:
        beats = await _timed(book, "heartbeat", lambda: heartbeat(self, *args))
        lost = [beat.job_id for beat in beats if beat.status == "lost"]
        book.note("beat_answered", renewed=sum(beat.status == "renewed" for beat in beats), lost=lost)
        return [beat._replace(lease_seconds=_FOR_EVER) for beat in beats] if trusting else beats

    async def finish_jobs(self: JobStore, finishes: list[Finish], *args: Any) -> Any:
        for end in finishes:
            outcome = type(end.outcome).__name__.lower()
            book.note("finish_sent", job=end.job_id, token=str(end.lease_token), outcome=outcome)
        states = await _timed(book, "finish", lambda: finish(self, finishes, *args))
        for end in finishes:
            state = states.get(end.job_id, "completed")
            book.note("finish_answered", job=end.job_id, token=str(end.lease_token), state=state)
        return states

    for noted in (claim_jobs, heartbeat_jobs, finish_jobs):
        setattr(JobStore, noted.__name__, noted)


def _trusted(job: ClaimedJob) -> ClaimedJob:
    """The job as one sees it who believes in its lease and its permit for ever."""
    permit = None if job.send_within_seconds is None else _FOR_EVER
    return job._replace(lease_seconds=_FOR_EVER, send_within_seconds=permit)


async def _timed(book: Notebook, call: str, make: Callable[[], Awaitable[T]]) -> T:
    began = time.monotonic()
    try:
        answer = await make()
    except LivewellError as error:
        book.note("call_failed", call=call, seconds=time.monotonic() - began, code=error.code, why=str(error))
        raise
    except BaseException as error:
        book.note("call_failed", call=call, seconds=time.monotonic() - began, code="", why=repr(error))
        raise
    seconds = time.monotonic() - began
    if seconds > _SLOW:
        book.note("call_slow", call=call, seconds=seconds)
    return answer


if __name__ == "__main__":
    sys.exit(main())
