"""A delay is counted by the database's clock, whatever the clock of the process that asked for it."""

from datetime import timedelta

from livewell.jobs import JobRequest, JobStore, KindDeclaration
from livewell.kernel import Database


async def test_a_delay_is_counted_from_the_databases_now(database: Database, owner: Database) -> None:
    """A job asked for in an hour is due an hour after it was made, and not ready before."""
    store = JobStore(database)
    await store.declare_kinds([KindDeclaration(kind="later")], actor="test")
    await store.enqueue_jobs([JobRequest(kind="later", payload={"n": 1}, delay=timedelta(hours=1))])
    row = await owner.fetchrow("select due_at - created_at as delay, waiting_for from livewell_private.job_live")
    assert row is not None
    assert (row["delay"], row["waiting_for"]) == (timedelta(hours=1), "due")
    assert await store.claim_jobs("somebody", ["general"], 1) == []


async def test_a_delay_comes_on_top_of_a_time(database: Database, owner: Database) -> None:
    """With both a time and a delay given, a job is due that long after that time."""
    store = JobStore(database)
    await store.declare_kinds([KindDeclaration(kind="later")], actor="test")
    at = await owner.fetchval("select clock_timestamp() + interval '1 day'")
    await store.enqueue_jobs([JobRequest(kind="later", payload={"n": 1}, scheduled_at=at, delay=timedelta(hours=1))])
    assert await owner.fetchval("select due_at from livewell_private.job_live") == at + timedelta(hours=1)
