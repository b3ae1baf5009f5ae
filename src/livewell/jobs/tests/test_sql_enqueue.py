"""Enqueue: what a job gets, what is refused, and whose transaction it is."""

import json
from typing import Any

import asyncpg
import pytest

from livewell.jobs import EmptyPayload, EnqueueDisabled, InvalidJob, UnknownKind
from livewell.jobs.tests.sql_surface import CENTURY, NOW, SECOND, Row, Surface, job, jobs
from livewell.kernel import Database


async def test_what_is_left_out_comes_from_the_kind(queue: Surface) -> None:
    """A job with kind and payload alone gets the kind's priority and retries, is due now and ready."""
    await queue.declare("tuned", retries=7, default_priority=3)
    shown = await queue.show(await queue.enqueue_one("tuned"))
    assert _picked(shown, "state shown_state kind queue_group priority retries due_at created_at") == [
        *("pending", "pending", "tuned", "general", 3, 7, NOW, NOW)
    ]
    assert _picked(shown, "attempt failures category estimated_tokens") == [0, 0, "standard", 1000]
    assert set(_picked(shown, "waiting_for estimated_bytes dedupe_key serial_key endpoint worker finished_at")) == {
        None
    }


async def test_what_is_given_is_kept(queue: Surface, owner: Database) -> None:
    """Every field of a request arrives in the job."""
    job_id = await queue.enqueue_one(
        priority=-4,
        category="bulk",
        dedupe_key="d",
        serial_key="s",
        endpoint="quotes",
        estimated_bytes=2**40,
        estimated_tokens=5,
        retries=0,
        payload={"a": [1, None]},
        scheduled_at=NOW + CENTURY,
        trace_context={"id": "t"},
    )
    shown = await queue.show(job_id)
    assert _picked(shown, "priority category dedupe_key serial_key endpoint") == [-4, "bulk", "d", "s", "quotes"]
    assert _picked(shown, "estimated_bytes estimated_tokens retries") == [2**40, 5, 0]
    assert _picked(shown, "due_at waiting_for shown_state") == [NOW + CENTURY, "due", "deferred"]
    assert json.loads(shown["payload"]) == {"a": [1, None]}
    assert await owner.fetchval("select trace_context from livewell_private.job where id = $1", job_id) == '{"id": "t"}'


async def test_answers_come_by_position(queue: Surface) -> None:
    """A batch is answered job by job: its position, a new id, created."""
    await queue.declare("other")
    rows = await queue.enqueue(job(payload={"n": 1}), job("other", payload={"n": 2}), job(payload={"n": 3}))
    assert [(row["job_position"], row["outcome"]) for row in rows] == [(at, "created") for at in (1, 2, 3)]
    assert [json.loads((await queue.show(row["job_id"]))["payload"])["n"] for row in rows] == [1, 2, 3]
    assert len({row["job_id"] for row in rows}) == 3


async def test_an_empty_batch_is_nothing(queue: Surface) -> None:
    """Queueing no job is no mistake and does nothing."""
    assert await queue.enqueue() == []


_REFUSED: list[tuple[Any, type[Exception], str]] = [
    ([{"kind": "nosuch", "payload": {"n": 1}}], UnknownKind, "job 1: unknown kind nosuch"),
    ([{"payload": {"n": 1}}], UnknownKind, r"job 1: unknown kind \(none\)"),
    ([job(), job("nosuch")], UnknownKind, "job 2: unknown kind nosuch"),
    ([job(payload={})], EmptyPayload, r"job 1 \(plain\)"),
    ([job(payload=None)], EmptyPayload, r"job 1 \(plain\)"),
    ([job(payload=[1])], EmptyPayload, r"job 1 \(plain\)"),
    ([{"kind": "plain"}], EmptyPayload, r"job 1 \(plain\)"),
    ([job(), job(prioritee=1)], InvalidJob, 'job 2: unknown field "prioritee"'),
    ([job(dedupe_key="")], InvalidJob, "a key must not be empty"),
    ([job(serial_key="")], InvalidJob, "a key must not be empty"),
    ([job(endpoint="")], InvalidJob, "a key must not be empty"),
    ([1], asyncpg.DataError, "must be an array of objects"),
    ([job(), [2]], asyncpg.DataError, "must be an array of objects"),
    ([job(), None], asyncpg.DataError, "must be an array of objects"),
    ([job(priority="high")], asyncpg.DataError, "integer"),
    ({"kind": "plain", "payload": {"n": 1}}, InvalidJob, "must be a JSON array"),
    (7, InvalidJob, "must be a JSON array"),
    (None, InvalidJob, "must be a JSON array"),
]


@pytest.mark.parametrize("on_duplicate", ["keep", "replace"])
async def test_a_batch_with_one_bad_job_is_refused_whole(queue: Surface, on_duplicate: str) -> None:
    """Each mistake is told, one against our rules as a fact with its position, and nothing of the batch is queued."""
    statement = "select livewell.enqueue_jobs($1::text::jsonb, $2, $3)"
    for sent, fact, said in _REFUSED:
        with pytest.raises(fact, match=said):
            await queue.caller.fetch(statement, json.dumps(sent), on_duplicate, NOW)
    with pytest.raises(InvalidJob, match="must be a JSON array"):
        await queue.caller.fetch(statement, None, on_duplicate, NOW)
    assert await queue.caller.fetchval("select count(*) from livewell.jobs") == 0


@pytest.mark.parametrize("choice", ["overwrite", None])
async def test_an_unknown_choice_for_duplicates_is_refused(queue: Surface, choice: str | None) -> None:
    """Only keep, replace and raise_priority are choices."""
    with pytest.raises(InvalidJob, match="unknown choice for duplicates"):
        await queue.enqueue(job(), on_duplicate=choice)


async def test_new_jobs_can_be_refused_while_others_go_on(queue: Surface) -> None:
    """With `queue.enqueue_enabled` off an enqueue is refused with a fact; claim and finish go on."""
    await queue.enqueue(job())
    await queue.set("queue.enqueue_enabled", "false")
    with pytest.raises(EnqueueDisabled):
        await queue.enqueue(job())
    assert await queue.finish(await queue.claim_one()) == "completed"
    await queue.set("queue.enqueue_enabled", "true")
    assert len(await queue.enqueue(job())) == 1


async def test_jobs_share_the_fate_of_the_callers_transaction(queue: Surface, database: Database) -> None:
    """Queued inside a transaction, jobs are unseen until it commits, and gone when it does not."""
    async with database.transaction() as connection:
        await Surface(connection).enqueue(job())
        assert await queue.claim() == []
    assert len(await queue.claim()) == 1

    async with database.connection() as connection:
        await connection.execute("begin")
        await Surface(connection).enqueue(*jobs(3))
        await connection.execute("rollback")
    assert await queue.claim() == []
    assert await queue.caller.fetchval("select count(*) from livewell.jobs") == 1


async def test_a_lane_is_opened_by_its_first_job(queue: Surface, owner: Database) -> None:
    """There is one lane per kind and endpoint that ever had a job, none per endpoint of other kinds."""
    await queue.declare("other")
    lanes = "select kind, endpoint from livewell_private.job_lane order by kind, endpoint nulls first"
    assert await owner.fetch(lanes) == []
    await queue.enqueue(job(), job(), job(endpoint="quotes"), job(endpoint="quotes"))
    await queue.enqueue(job(), job("other", endpoint="quotes"), job(endpoint="quotes"))
    found = [(row["kind"], row["endpoint"]) for row in await owner.fetch(lanes)]
    assert found == [("other", "quotes"), ("plain", None), ("plain", "quotes")]


async def test_a_job_is_handled_when_a_running_worker_knows_its_kind(queue: Surface) -> None:
    """The answer tells per job whether a worker seen in the last five minutes handles the kind."""
    await queue.declare("other")
    batch = [job(), job("other")]

    async def handled(now: Any = NOW) -> list[bool]:
        return [row["handled"] for row in await queue.enqueue(*batch, now=now)]

    assert await handled() == [False, False]
    await queue.register("w1", kinds=["plain"])
    assert await handled() == [True, False]
    await queue.register("w2", kinds=["other"])
    assert await handled() == [True, True]
    assert await handled(NOW + 299 * SECOND) == [True, True]
    assert await handled(NOW + 301 * SECOND) == [False, False]


async def test_a_job_for_later_waits_until_its_time(queue: Surface) -> None:
    """A scheduled job is not ready a moment before its time and ready at it, before younger ones of its priority."""
    later = await queue.enqueue_one(scheduled_at=NOW + 10 * SECOND)
    past = await queue.enqueue_one(scheduled_at=NOW - SECOND)
    assert await queue.claim_ids(now=NOW + 10 * SECOND - SECOND / 1000) == [past]
    younger = await queue.enqueue_one(now=NOW + 11 * SECOND)
    assert await queue.claim_ids(now=NOW + 11 * SECOND) == [later, younger]


async def test_a_worker_that_goes_idle_learns_when_the_next_job_is_due(queue: Surface) -> None:
    """Going idle answers in how many seconds the earliest scheduled job becomes ready, if there is one."""
    await queue.register("w1")
    assert await queue.idle() is None
    await queue.enqueue(job(), job(scheduled_at=NOW + 90 * SECOND), job(scheduled_at=NOW + 60 * SECOND))
    assert await queue.idle() == 60.0


def _picked(row: Row, names: str) -> list[Any]:
    return [row[name] for name in names.split()]
