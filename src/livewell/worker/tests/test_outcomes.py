"""What a handler does becomes exactly one outcome of its job."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest
import pytest_asyncio
from pydantic import BaseModel

from livewell import Cancel, Dead, JobContext, JobRequest, Livewell, Reschedule
from livewell.jobs import JsonObject
from livewell.kernel import Database
from livewell.settings import SettingsStore
from livewell.testing import until
from livewell.worker import BadHandler
from livewell.worker.tests.running import QUICK, outcomes, running, until_state

ONCE = timedelta(milliseconds=1)


class Order(BaseModel):
    number: int


class Receipt(BaseModel):
    total: int


@pytest_asyncio.fixture
async def app(database_url: str) -> AsyncIterator[Livewell]:
    application = Livewell(database_url)
    async with application:
        yield application


async def declared(app: Livewell) -> None:
    """Make kinds known that were declared after the application was opened."""
    await app.jobs.declare_kinds((handler.declaration for handler in app.handlers.values()), actor="test")


async def test_typed_payload_and_result(app: Livewell) -> None:
    """A payload arrives as its model, and the result is kept with the job."""

    @app.job("order")
    async def order(job: Order) -> Receipt:
        return Receipt(total=job.number * 2)

    await declared(app)
    async with running(app):
        enqueued = await app.enqueue(Order(number=21))
        job = await until_state(app, enqueued.job_id, "completed")
    assert job["result"] == {"total": 42}
    assert await outcomes(app, enqueued.job_id) == ["completed"]


async def test_handler_without_result_completes(app: Livewell) -> None:
    """A handler that returns nothing completes its job with no result."""

    @app.job("quiet")
    async def quiet(job: dict[str, int]) -> None:
        pass

    await declared(app)
    async with running(app):
        enqueued = await app.enqueue("quiet", {"n": 1})
        job = await until_state(app, enqueued.job_id, "completed")
    assert job["result"] is None


async def test_exception_is_retried_then_dead(app: Livewell) -> None:
    """A handler that keeps raising is tried 1 + retries times, then the job is a dead letter with its details."""

    @app.job("broken", retries=2, backoff_first=ONCE, backoff_max=ONCE)
    async def broken(job: dict[str, int]) -> None:
        raise LookupError("no such thing")

    await declared(app)
    async with running(app):
        enqueued = await app.enqueue("broken", {"n": 1})
        job = await until_state(app, enqueued.job_id, "failed")
    assert (job["attempt"], job["failures"]) == (3, 3)
    assert job["reason"] == "no such thing"
    assert job["error"]["type"] == "LookupError"
    assert job["error"]["message"] == "no such thing"
    assert job["error"]["attempt"] == 3
    assert {"traceback_digest", "worker", "started_at", "ended_at", "frames"} <= job["error"].keys()
    attempts = await app.jobs.list_attempts(enqueued.job_id)
    assert [attempt["outcome"] for attempt in attempts] == ["failed", "failed", "failed"]
    assert len({attempt["error"]["traceback_digest"] for attempt in attempts}) == 1


async def test_outcome_values(app: Livewell) -> None:
    """Reschedule, Cancel and Dead are returned as values and cost no retry, end the job, or bury it at once."""
    seen: list[int] = []

    @app.job("fickle")
    async def fickle(job: dict[str, str], ctx: JobContext) -> Reschedule | Cancel | Dead | str:
        if job["do"] == "again" and ctx.attempt == 1:
            seen.append(ctx.attempt)
            return Reschedule(ONCE, "not yet")
        if job["do"] == "cancel":
            return Cancel("nobody wants it")
        if job["do"] == "dead":
            return Dead("can never work")
        return "done"

    await declared(app)
    async with running(app):
        again = await app.enqueue("fickle", {"do": "again"})
        cancel = await app.enqueue("fickle", {"do": "cancel"})
        dead = await app.enqueue("fickle", {"do": "dead"})
        finished = await until_state(app, again.job_id, "completed")
        cancelled = await until_state(app, cancel.job_id, "cancelled")
        buried = await until_state(app, dead.job_id, "failed")
    assert (finished["attempt"], finished["failures"], finished["result"]) == (2, 0, "done")
    assert await outcomes(app, again.job_id) == ["rescheduled", "completed"]
    assert cancelled["reason"] == "nobody wants it"
    assert (buried["attempt"], buried["reason"]) == (1, "can never work")


async def test_a_reschedule_need_not_name_its_delay(app: Livewell) -> None:
    """A handler that finds no capacity returns `Reschedule()` and runs again after `queue.backpressure_delay`."""

    @app.job("crowded")
    async def crowded(job: dict[str, str], ctx: JobContext) -> Reschedule | str:
        return Reschedule(reason="no capacity") if ctx.attempt == 1 else "done"

    await declared(app)
    await SettingsStore(app.database).set_setting("queue.backpressure_delay", "50 milliseconds")
    async with running(app):
        enqueued = await app.enqueue("crowded", {"do": "it"})
        finished = await until_state(app, enqueued.job_id, "completed")
    assert (finished["attempt"], finished["failures"]) == (2, 0)
    assert [attempt["reason"] for attempt in await app.jobs.list_attempts(enqueued.job_id)] == ["no capacity", None]


async def test_payload_that_does_not_fit_never_runs(app: Livewell, owner: Database) -> None:
    """A payload that does not fit the model goes to the dead letters without the handler being called."""
    called: list[Order] = []

    @app.job("order")
    async def order(job: Order) -> None:
        called.append(job)

    await declared(app)
    rows = await owner.fetch(
        """select job_id from livewell.enqueue_jobs('[{"kind": "order", "payload": {"number": "many"}}]')"""
    )
    async with running(app):
        job = await until_state(app, rows[0]["job_id"], "failed")
    assert not called
    assert job["attempt"] == 1
    assert "number" in job["reason"]


async def test_what_is_tuned_applies_without_a_restart(app: Livewell) -> None:
    """A schema and a time limit given to a kind while a worker runs hold for the attempts that start after a while."""

    @app.job("tuned")
    async def tuned(job: dict[str, int]) -> None:
        await asyncio.sleep(job["seconds"])

    await declared(app)
    async with running(app, replace(QUICK, kinds_interval=timedelta(milliseconds=10))):
        schema = {"type": "object", "properties": {"seconds": {"type": "integer"}}}
        changes = {"payload_schema": schema, "time_limit": "0.2 seconds", "retries": 0}
        await app.jobs.set_kind("tuned", changes, reason=None, actor="test")

        async def refused(payload: JsonObject, reason: str) -> bool:
            request = JobRequest(kind="tuned", payload=payload)
            job_id = (await app.jobs.enqueue_job(request)).job_id
            shown = await until_state(app, job_id, "failed", "completed")
            return shown["shown_state"] == "failed" and reason in shown["reason"]

        await until(lambda: refused({"seconds": "none"}, "payload of tuned"), "the schema holds")
        assert await refused({"seconds": 60}, "time limit of 0.2 s")


async def test_result_that_is_not_json_fails(app: Livewell) -> None:
    """A result that cannot be kept as JSON is a failure of the attempt, not of the worker."""

    @app.job("odd", retries=0)
    async def odd(job: dict[str, int]) -> object:
        return object()

    await declared(app)
    async with running(app):
        enqueued = await app.enqueue("odd", {"n": 1})
        job = await until_state(app, enqueued.job_id, "failed")
    assert "cannot be kept as JSON" in job["reason"]


async def test_deadlock_is_not_the_jobs_failure(app: Livewell, owner: Database, owner_url: str) -> None:
    """A handler that runs into a deadlock is reset at once, and the job's failures are not touched."""
    await owner.execute(
        "create table public.pair (id int primary key, n int); insert into public.pair values (1, 0), (2, 0)"
    )
    both_locked = asyncio.Barrier(2)

    @app.job("crossing", retries=0)
    async def crossing(job: dict[str, int], ctx: JobContext) -> None:
        connection = await asyncpg.connect(owner_url)
        try:
            async with connection.transaction():
                await connection.execute("update public.pair set n = n + 1 where id = $1", job["first"])
                if ctx.attempt == 1:
                    await both_locked.wait()
                await connection.execute("update public.pair set n = n + 1 where id = $1", 3 - job["first"])
        finally:
            await connection.close()

    await declared(app)
    async with running(app):
        one = await app.enqueue("crossing", {"first": 1})
        two = await app.enqueue("crossing", {"first": 2})
        jobs = [await until_state(app, each.job_id, "completed", "failed") for each in (one, two)]
    assert [job["shown_state"] for job in jobs] == ["completed", "completed"]
    assert [job["failures"] for job in jobs] == [0, 0]
    assert sorted([await outcomes(app, one.job_id), await outcomes(app, two.job_id)]) == [
        ["completed"],
        ["reset", "completed"],
    ]
    assert await owner.fetchval("select sum(n) from public.pair") == 4


async def test_every_attempt_carries_the_same_idempotency_key(app: Livewell) -> None:
    """The context's idempotency key is the job's, so that a repeated side effect can be recognised."""
    keys: list[str] = []

    @app.job("paying", retries=1, backoff_first=ONCE, backoff_max=ONCE)
    async def paying(job: dict[str, int], ctx: JobContext) -> None:
        keys.append(ctx.idempotency_key)
        if ctx.attempt == 1:
            raise ConnectionError("answer lost")

    await declared(app)
    async with running(app):
        enqueued = await app.enqueue("paying", {"n": 1})
        await until_state(app, enqueued.job_id, "completed")
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_a_function_that_cannot_be_a_handler_is_refused() -> None:
    """A handler is async, takes a payload and is of no type's refreshes; else it is refused where it is declared."""
    app = Livewell("postgresql://nowhere")
    with pytest.raises(BadHandler, match="must be an async function"):
        app.job("plain")(lambda job: job)
    with pytest.raises(BadHandler, match="must take the payload"):

        @app.job("nothing")
        async def nothing() -> None:
            pass

    with pytest.raises(BadHandler, match="is a refresh") as refused:

        @app.job("refresh.quote")
        async def quote(job: object) -> None:
            pass

    assert "@app.type" in str(refused.value)
