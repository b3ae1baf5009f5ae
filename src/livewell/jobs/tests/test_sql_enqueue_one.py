"""Enqueue of one job: whatever is asked, it does what a batch of one does."""

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.jobs import EnqueueDisabled, JobRequest, JobStore, OnDuplicate
from livewell.jobs.tests.sql_surface import NOW, SECOND, Surface, job
from livewell.kernel import Connection, Database, LivewellError
from livewell.testing import effort

_NUMBER = st.none() | st.integers(-5, 5)
_FIELDS = {
    "kind": st.sampled_from(["plain"] * 9 + ["nosuch"]),
    "payload": st.sampled_from([{"n": 1}] * 6 + [{"n": None}, {}, [1], None]),
    "priority": _NUMBER,
    "scheduled_at": st.none() | st.integers(-5, 5).map(lambda seconds: NOW + seconds * SECOND),
    "delay_seconds": st.none() | st.floats(-5, 5),
    "category": st.none() | st.just("bulk"),
    "dedupe_key": st.sampled_from([None, None, "free", "free", "taken", "running", ""]),
    "serial_key": st.sampled_from([None] * 8 + ["s", ""]),
    "endpoint": st.sampled_from([None] * 6 + ["known", "known", "new", ""]),
    "estimated_bytes": _NUMBER,
    "estimated_tokens": _NUMBER,
    "retries": _NUMBER,
    "trace_context": st.none() | st.just({"id": "t"}),
}
_REQUEST: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(_FIELDS)
_ONE = (
    "select outcome, handled from livewell.enqueue_job($1, $2::text::jsonb, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,"
    " $13::text::jsonb, $14, $15)"
)
_MANY = "select outcome, handled from livewell.enqueue_jobs($1::text::jsonb, $2, $3)"


async def _tried(owner: Database, statement: str, *arguments: Any) -> Any:
    """The answer and all live jobs after it, but for their ids; or the code of the refusal. Nothing stays."""
    connection: Connection
    async with owner.connection() as connection:
        transaction = connection.transaction()
        await transaction.start()
        try:
            answer = [tuple(row) for row in await connection.fetch(statement, *arguments)]
            rows = await connection.fetch(
                "select to_jsonb(j) - 'id' - 'lane_id' as row from livewell_private.job_live as j"
            )
            lanes = await connection.fetchval("select count(*) from livewell_private.job_lane")
            return answer, sorted(row["row"] for row in rows), lanes
        except LivewellError as error:
            return error.code
        finally:
            await transaction.rollback()


@effort(300)
@given(request=_REQUEST, on_duplicate=st.sampled_from(["keep", "keep", "replace", "raise_priority", "guess"]))
async def test_one_is_a_batch_of_one(
    owner: Database, queue: Surface, request: dict[str, Any], on_duplicate: str
) -> None:
    """The same answer, the same rows, or the same refusal, whatever is given and whoever has the key."""
    if not await owner.fetchval("select count(*) from livewell_private.job_live"):
        await queue.enqueue(job(dedupe_key="running", endpoint="known"), now=NOW)
        await queue.claim_one()
        await queue.enqueue(job(dedupe_key="taken", priority=1), now=NOW)
        await queue.register("w1", kinds=["plain"])
    as_json = {"payload", "trace_context"}
    arguments = [
        json.dumps(request[name]) if name in as_json and request[name] is not None else request[name]
        for name in _FIELDS
    ]
    one = await _tried(owner, _ONE, *arguments, on_duplicate, NOW)
    many = await _tried(owner, _MANY, json.dumps([request], default=str), on_duplicate, NOW)
    assert one == many


async def test_one_is_refused_when_new_jobs_are(queue: Surface, database: Database) -> None:
    """The switch that refuses new jobs refuses single ones."""
    await queue.enqueue(job())
    await queue.set("queue.enqueue_enabled", "false")
    with pytest.raises(EnqueueDisabled):
        await JobStore(database).enqueue_job(JobRequest(kind="plain", payload={"n": 1}))


async def test_one_is_answered_with_the_job_that_stands_for_it(queue: Surface, database: Database) -> None:
    """A second job of a key is kept or raises the first, and the answer names that one."""
    del queue
    store, request = JobStore(database), JobRequest(kind="plain", payload={"n": 1}, dedupe_key="k")
    first = await store.enqueue_job(request)
    second = await store.enqueue_job(request)
    raised = await store.enqueue_job(request._replace(priority=9), OnDuplicate.RAISE_PRIORITY)
    assert (first.outcome, second.outcome, raised.outcome) == ("created", "kept", "raised")
    assert first.job_id == second.job_id == raised.job_id


async def test_one_may_be_due_later(queue: Surface, database: Database) -> None:
    """A delay counts by the database's clock, and the job is out of the ready order until then."""
    later = JobRequest(kind="plain", payload={"n": 1}, delay=timedelta(hours=1))
    enqueued = await JobStore(database).enqueue_job(later)
    shown = await queue.show(enqueued.job_id)
    assert (shown["due_at"] - shown["created_at"], shown["waiting_for"]) == (timedelta(hours=1), "due")
