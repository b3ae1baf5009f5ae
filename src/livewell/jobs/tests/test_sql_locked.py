"""The queue while a stranger is idle in a transaction: nothing waits for one row."""

import pytest

from livewell.jobs.tests.sql_surface import Surface, jobs
from livewell.kernel import Database
from livewell.testing import idle_in_transaction


@pytest.mark.parametrize("outcome", ["completed", "reset", "dead"])
async def test_a_finish_sets_aside_what_somebody_has(
    queue: Surface, owner: Database, owner_url: str, outcome: str
) -> None:
    """The others end; the held one is busy, keeps its lease, and ends when it is free."""
    await queue.declare()
    await queue.enqueue(*jobs(5))
    leased = await queue.claim()
    ends = [(row["job_id"], row["lease_token"], "completed", None) for row in leased]
    ends[2] = (*ends[2][:2], outcome, None)
    async with idle_in_transaction(
        owner_url, f"select from livewell_private.job_live where id = {leased[2]['job_id']} for update"
    ):
        states = dict(await queue.finish_all(ends))
    assert [states[row["job_id"]] for row in leased] == ["completed", "completed", "busy", "completed", "completed"]
    assert await owner.fetchval("select code from livewell.warnings") == "jobs.job_held"
    ended = {"completed": "completed", "reset": "pending", "dead": "failed"}[outcome]
    assert dict(await queue.finish_all([ends[2]])) == {leased[2]["job_id"]: ended}
