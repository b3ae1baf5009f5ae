"""How a worker holds what it has leased: within its slots, its leases and its time."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from livewell import JobContext, JobRequest, Livewell
from livewell.jobs import ClaimedJob
from livewell.kernel import Database
from livewell.testing import until
from livewell.worker import NothingToServe, WorkerOptions
from livewell.worker.leased_jobs import LeasedJobs
from livewell.worker.tests.running import QUICK, outcomes, running, until_state

PATIENT_POLL = timedelta(minutes=5)
PATIENT = replace(QUICK, poll_interval=PATIENT_POLL)


class Gate:
    """Handlers that wait until the test lets them go, and tell how many are inside."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.entered = asyncio.Event()
        self.inside = 0
        self.most = 0
        self.cancelled = 0

    async def pass_through(self) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.entered.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.inside -= 1


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest_asyncio.fixture
async def app(database_url: str, gate: Gate) -> AsyncIterator[Livewell]:
    application = Livewell(database_url)

    @application.job("gated", lease=timedelta(seconds=3), retries=1)
    async def gated(job: dict[str, int], ctx: JobContext) -> None:
        await gate.pass_through()

    @application.job("brief", time_limit=timedelta(milliseconds=100), retries=0)
    async def brief(job: dict[str, int]) -> None:
        await gate.pass_through()

    @application.job("elsewhere", group="other")
    async def elsewhere(job: dict[str, int]) -> None:
        pass

    async with application:
        yield application


async def test_no_more_run_at_once_than_there_are_slots(app: Livewell, gate: Gate) -> None:
    """However many jobs are ready, a worker runs as many at once as it has slots, and leaves the rest to others."""
    await app.enqueue_many([JobRequest(kind="gated", payload={"n": n}) for n in range(20)])
    async with running(app):
        await until(lambda: _is(gate.inside == 4), "four are inside")
        held = await app.jobs.list_jobs(states=["processing"])
        assert len(held) == 4
        gate.open.set()
        await until(lambda: _none_live(app), "all are done")
    assert gate.most == 4


async def test_time_limit_stops_a_handler(app: Livewell, gate: Gate) -> None:
    """A handler past its kind's time limit is stopped, and that is a failure of the attempt."""
    async with running(app):
        enqueued = await app.enqueue("brief", {"n": 1})
        job = await until_state(app, enqueued.job_id, "failed")
    assert gate.cancelled == 1
    assert "time limit" in job["reason"]


async def test_running_job_is_told_of_its_cancellation(app: Livewell, gate: Gate) -> None:
    """Cancelling a running job stops its handler at once, without waiting for the next heartbeat."""
    async with running(app, replace(PATIENT, heartbeat_interval=timedelta(minutes=5))):
        enqueued = await app.enqueue("gated", {"n": 1})
        await gate.entered.wait()
        (change,) = await app.jobs.cancel_jobs([enqueued.job_id], reason="changed my mind", actor="test")
        job = await until_state(app, enqueued.job_id, "cancelled")
    assert change.outcome == "told"
    assert gate.cancelled == 1
    assert job["reason"] == "changed my mind"


async def test_draining_gives_back_what_has_not_started(app: Livewell, gate: Gate) -> None:
    """A drained worker lets running handlers finish and gives back, at no cost, what only waited."""
    one_slot = replace(QUICK, concurrency=1)
    service, worker = await app.service(one_slot)
    task = asyncio.create_task(service.run())
    await worker.started.wait()
    first = await app.enqueue("gated", {"n": 1})
    await gate.entered.wait()
    second = await app.enqueue("gated", {"n": 2})
    service.drain()
    gate.open.set()
    assert await task == 0
    assert (await app.jobs.show_job(first.job_id))["state"] == "completed"
    waiting = await app.jobs.show_job(second.job_id)
    assert (waiting["state"], waiting["failures"]) == ("pending", 0)
    assert await app.jobs.list_workers() == []


async def test_long_job_keeps_its_lease(app: Livewell, gate: Gate) -> None:
    """A handler that takes longer than its lease keeps the job: the lease is renewed for it."""
    async with running(app):
        enqueued = await app.enqueue("gated", {"n": 1})
        await gate.entered.wait()
        first = (await app.jobs.show_job(enqueued.job_id))["lease_until"]
        await until(lambda: _renewed(app, enqueued.job_id, first), "the lease was renewed")
        gate.open.set()
        await until_state(app, enqueued.job_id, "completed")
    assert await outcomes(app, enqueued.job_id) == ["completed"]


async def test_lost_lease_stops_the_handler(app: Livewell, gate: Gate, owner: Database) -> None:
    """A worker whose job was given to another stops working on it, and what it did does not count."""
    async with running(app):
        enqueued = await app.enqueue("gated", {"n": 1})
        await gate.entered.wait()
        await owner.execute("update livewell_private.job_live set lease_token = gen_random_uuid(), worker = 'another'")
        await until(lambda: _is(gate.cancelled == 1), "the handler is stopped")
        job = await app.jobs.show_job(enqueued.job_id)
    assert (job["state"], job["worker"]) == ("processing", "another")


async def test_worker_stops_by_its_own_clock(app: Livewell, gate: Gate, owner: Database) -> None:
    """When heartbeats do not get through, the handler is stopped before the lease ends, by the worker's own clock."""
    async with running(app):
        enqueued = await app.enqueue("gated", {"n": 1})
        await gate.entered.wait()
        await owner.execute("revoke execute on function livewell.heartbeat_jobs from livewell_service")
        await until(lambda: _is(gate.cancelled == 1), "the handler is stopped")
        still_mine = await owner.fetchval(
            "select lease_until > clock_timestamp() from livewell_private.job_live where id = $1", enqueued.job_id
        )
        await owner.execute("grant execute on function livewell.heartbeat_jobs to livewell_service")
    assert still_mine


async def test_a_claim_that_was_answered_too_late_is_not_begun() -> None:
    """A lease that ends before its keeper looks could be another's while the job runs: the job is not started."""
    jobs, now = LeasedJobs(2), asyncio.get_running_loop().time()
    for number, asked_ago in ((1, 8.0), (2, 8.9)):
        claimed = dict.fromkeys(ClaimedJob._fields) | {"job_id": number, "lease_seconds": 10.0}
        jobs.add([ClaimedJob(**claimed)], now - asked_ago)  # type: ignore[arg-type]
    assert [leased.may_start() for leased in jobs] == [True, False]


async def test_maintenance_stops_claiming_only(app: Livewell, gate: Gate) -> None:
    """In maintenance mode jobs are queued and running ones finish, but nothing is claimed until it is over."""
    async with running(app):
        running_one = await app.enqueue("gated", {"n": 1})
        await gate.entered.wait()
        await app.database.fetchval("select livewell.set_setting('maintenance.enabled', 'true', 'test')")
        waiting_one = await app.enqueue("gated", {"n": 2})
        gate.open.set()
        await until_state(app, running_one.job_id, "completed")
        assert (await app.jobs.show_job(waiting_one.job_id))["state"] == "pending"
        await app.database.fetchval("select livewell.set_setting('maintenance.enabled', 'false', 'test')")
        await until_state(app, waiting_one.job_id, "completed")


async def test_notification_wakes_an_idle_worker(app: Livewell, gate: Gate) -> None:
    """An idle worker that polls every five minutes starts a new job at once, because it is notified."""
    gate.open.set()
    async with running(app, PATIENT) as worker:
        await until(lambda: _resting(app), "the worker is idle")
        assert worker.idle is not None
        enqueued = await app.enqueue("gated", {"n": 1})
        await until_state(app, enqueued.job_id, "completed")


async def test_scheduled_job_starts_at_its_time(app: Livewell, gate: Gate) -> None:
    """A job due later is started when it is due, not at the next poll."""
    gate.open.set()
    async with running(app, PATIENT):
        enqueued = await app.enqueue("gated", {"n": 1}, scheduled_at=datetime.now(UTC) + timedelta(seconds=1))
        job = await until_state(app, enqueued.job_id, "completed")
    assert job["started_at"] >= job["due_at"]
    assert job["started_at"] - job["due_at"] < PATIENT_POLL


async def test_worker_serves_only_its_groups(app: Livewell, gate: Gate) -> None:
    """A worker deployed for one group leaves the others' jobs alone."""
    gate.open.set()
    async with running(app, replace(QUICK, shares={"general": 1.0})):
        other = await app.enqueue("elsewhere", {"n": 1})
        mine = await app.enqueue("gated", {"n": 1})
        await until_state(app, mine.job_id, "completed")
        assert (await app.jobs.show_job(other.job_id))["state"] == "pending"


async def test_worker_for_groups_without_kinds_is_refused(app: Livewell) -> None:
    """A worker that could never do anything says so at the start and names the groups there are."""
    with pytest.raises(NothingToServe, match="general, other"):
        await app.service(WorkerOptions(shares={"typo": 1.0}))


async def _is(condition: bool) -> bool:  # noqa: FBT001 - what is waited for
    return condition


async def _none_live(app: Livewell) -> bool:
    return not await app.jobs.job_counts()


async def _resting(app: Livewell) -> bool:
    return any(worker["idle"] for worker in await app.jobs.list_workers())


async def _renewed(app: Livewell, job_id: int, since: datetime) -> bool:
    lease_until: datetime = (await app.jobs.show_job(job_id))["lease_until"]
    return lease_until > since
