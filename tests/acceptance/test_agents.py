"""`livewell workers`, `rescue` and `care`: who is there, and one round of the agents by hand."""

from livewell.jobs import JobRequest, JobStore
from livewell.kernel import Database
from tests.acceptance.command import Cli


async def test_a_job_of_a_silent_worker_is_rescued_by_hand(cli: Cli, database: Database, owner: Database) -> None:
    """`workers` shows who registered; `rescue` takes back what its lease has run out for, and only that."""
    store = JobStore(database)
    await store.register_worker("quiet", ["maintenance"], ["report_generation"], 3)
    (listed,) = (await cli("workers", "--json")).json
    assert (listed["id"], listed["slots"]) == ("quiet", 3)
    (queued,) = await store.enqueue_jobs([JobRequest(kind="report_generation", payload={"month": 11})])
    await store.claim_jobs("quiet", ["maintenance"], 1)
    assert (await cli("admin", "rescue")).out == "0 jobs rescued\n"
    await owner.execute("update livewell_private.job_live set lease_until = now() - interval '1 second'")
    (rescued,) = (await cli("admin", "rescue", "--json")).json
    assert (rescued["job_id"], rescued["worker"], rescued["state"]) == (queued.job_id, "quiet", "pending")


async def test_partitions_are_made_by_hand(cli: Cli) -> None:
    """The first `care` makes the days ahead, the second finds nothing to do."""
    made = (await cli("admin", "care", "--json")).json
    assert any(name.startswith("job_done_") for name in made["made"])
    assert (await cli("admin", "care")).out.startswith("0 partitions made, 0 dropped")
