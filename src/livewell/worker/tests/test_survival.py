"""What a worker survives: handlers that end in odd ways, outcomes that cannot be kept, calls that are not answered."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
import pytest_asyncio

from livewell import JobContext, Livewell
from livewell.jobs import Completed, Finish, JobStore, Outcome, Reset
from livewell.kernel import Contended, Database
from livewell.testing import until
from livewell.worker.finisher import Finisher, JobEnds
from livewell.worker.leased_jobs import LeasedJob, LeasedJobs
from livewell.worker.runner import MOST_RESETS
from livewell.worker.tests.running import QUICK, outcomes, running, until_state

ONE_SLOT = replace(QUICK, concurrency=1)
LEASE = timedelta(seconds=2)


class Unspeakable(Exception):
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest_asyncio.fixture
async def app(database_url: str) -> AsyncIterator[Livewell]:
    application = Livewell(database_url)

    @application.job("rude", retries=0)
    async def rude(job: dict[str, str]) -> object:
        match job["end"]:
            case "awaits what was cancelled":
                abandoned = asyncio.ensure_future(asyncio.Event().wait())
                abandoned.cancel()
                await abandoned
            case "exits":
                raise SystemExit(3)
            case "has no words":
                raise Unspeakable
            case "says what JSON cannot":
                raise ValueError("\0 \ud800")
            case "returns a null character":
                return {"text": "\0"}
            case "returns no number":
                return float("nan")
            case "raises a group":
                raise BaseExceptionGroup("several", [ValueError("one"), asyncio.CancelledError()])
        return None

    @application.job("polite")
    async def polite(job: dict[str, int]) -> None:
        pass

    async with application:
        yield application


@pytest.mark.parametrize(
    "end",
    [
        "awaits what was cancelled",
        "exits",
        "has no words",
        "says what JSON cannot",
        "returns a null character",
        "returns no number",
        "raises a group",
    ],
)
async def test_whatever_a_handler_does_fails_its_job_alone(app: Livewell, end: str) -> None:
    """Its job fails, once and with a reason; the only slot lives on and does the next one."""
    async with running(app, ONE_SLOT):
        rude = await app.enqueue("rude", {"end": end})
        job = await until_state(app, rude.job_id, "failed")
        polite = await app.enqueue("polite", {"n": 1})
        await until_state(app, polite.job_id, "completed")
    assert job["reason"]
    assert await outcomes(app, rude.job_id) == ["failed"]


async def test_swallowed_cancellation_stays_with_its_job(app: Livewell) -> None:
    """A handler that swallows its cancellation leaves no trace of it in the slot, where the next job would find it."""
    entered = asyncio.Event()

    @app.job("stubborn")
    async def stubborn(job: dict[str, int]) -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return

    @app.job("grouping", retries=0)
    async def grouping(job: dict[str, int]) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_fail())
            await asyncio.Event().wait()

    await app.jobs.declare_kinds((handler.declaration for handler in app.handlers.values()), actor="test")
    async with running(app, ONE_SLOT):
        swallowing = await app.enqueue("stubborn", {"n": 1})
        await entered.wait()
        await app.jobs.cancel_jobs([swallowing.job_id], reason=None, actor="test")
        await until_state(app, swallowing.job_id, "completed", "cancelled")
        failing = await app.enqueue("grouping", {"n": 1})
        await until_state(app, failing.job_id, "failed")
        polite = await app.enqueue("polite", {"n": 1})
        await until_state(app, polite.job_id, "completed")


async def _fail() -> None:
    raise ValueError("one of the group")


async def test_two_outcomes_of_one_job_are_sent_apart(app: Livewell, database: Database) -> None:
    """A job that was lost and is run here again may have two outcomes waiting: the old is refused, the new counts."""
    await app.enqueue("polite", {"n": 1})
    (first,) = await app.jobs.claim_jobs("somebody", ["general"], 10)
    await app.jobs.finish_jobs([Finish(first.job_id, first.lease_token, Reset())])
    (second,) = await app.jobs.claim_jobs("somebody", ["general"], 10)
    assert second.job_id == first.job_id
    finisher: Finisher[Outcome] = Finisher(JobEnds(JobStore(database.line())), LeasedJobs(1).forget)
    for attempt in (first, second):
        finisher.add(LeasedJob(attempt, 0.0), Completed())
    stop = asyncio.Event()
    stop.set()
    await finisher.run(stop)
    job = await app.jobs.show_job(first.job_id)
    assert (job["state"], job["attempt"]) == ("completed", second.attempt)


async def test_jobs_are_stopped_while_a_heartbeat_is_not_answered(app: Livewell, owner: Database) -> None:
    """The clock is watched during a heartbeat, too: a handler whose lease runs out meanwhile is stopped in time."""
    entered, stopped = asyncio.Event(), asyncio.Event()

    @app.job("watched", lease=LEASE)
    async def watched(job: dict[str, int], ctx: JobContext) -> None:
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.set()
            raise

    await app.jobs.declare_kinds((handler.declaration for handler in app.handlers.values()), actor="test")
    async with running(app, replace(ONE_SLOT, heartbeat_interval=timedelta(minutes=1))):
        await app.enqueue("watched", {"n": 1})
        await entered.wait()
        async with owner.transaction() as rival:
            await rival.execute("lock table livewell_private.worker")
            await until(lambda: _is(stopped), "the handler is stopped")
            still_mine = await rival.fetchval("select lease_until > clock_timestamp() from livewell_private.job_live")
    assert still_mine


async def _is(event: asyncio.Event) -> bool:
    return event.is_set()


async def test_contention_without_end_becomes_a_failure(app: Livewell) -> None:
    """A handler that meets a deadlock every time is tried again at no cost, but not for ever."""

    @app.job("unlucky", retries=0)
    async def unlucky(job: dict[str, int]) -> None:
        raise Contended("deadlock detected")

    await app.jobs.declare_kinds((handler.declaration for handler in app.handlers.values()), actor="test")
    async with running(app, ONE_SLOT):
        enqueued = await app.enqueue("unlucky", {"n": 1})
        job = await until_state(app, enqueued.job_id, "failed")
    assert (job["attempt"], job["failures"]) == (MOST_RESETS + 1, 1)
    assert await outcomes(app, enqueued.job_id) == ["reset"] * MOST_RESETS + ["failed"]
