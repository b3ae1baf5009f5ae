"""Cancel: pending jobs go at once, running ones are told, finished ones stay."""

import asyncio

from livewell.jobs.tests.sql_surface import CENTURY, MINUTE, NOW, SECOND, Surface, job, jobs, somebody_waits
from livewell.kernel import Database
from livewell.testing import until


async def test_a_pending_job_is_cancelled_at_once(queue: Surface) -> None:
    """Ready, scheduled, retrying or behind its serial key: pending jobs are over with the reason given."""
    await queue.enqueue(job(priority=9))
    await queue.finish(retrying := await queue.claim_one(), "failed")
    ids = await queue.enqueue_ids(
        *(job(), job(scheduled_at=NOW + CENTURY), job(serial_key="s"), job(serial_key="s")), now=NOW
    )
    ids.append(retrying["job_id"])
    end = NOW + MINUTE
    assert await queue.cancel(*ids, reason="wrong customer", now=end) == dict.fromkeys(ids, "cancelled")
    for job_id in ids:
        shown = await queue.show(job_id)
        assert (shown["state"], shown["reason"], shown["finished_at"]) == ("cancelled", "wrong customer", end)
    assert await queue.claim(now=NOW + 2 * CENTURY) == []


async def test_a_running_job_is_told_and_goes_on(queue: Surface) -> None:
    """A running job keeps its lease; it only carries the reason."""
    await queue.enqueue(job())
    leased = await queue.claim_one()
    before = await queue.show(leased["job_id"])
    assert await queue.cancel(leased["job_id"], reason="wrong customer") == {leased["job_id"]: "told"}
    after = await queue.show(leased["job_id"])
    assert {**after} == {**before, "cancel_reason": "wrong customer"}
    assert await queue.finish(leased, "cancelled") == "cancelled"
    assert (await queue.show(leased["job_id"]))["reason"] == "wrong customer"


async def test_each_job_is_answered_by_what_became_of_it(queue: Surface) -> None:
    """One call may name jobs in any state, known or not, also twice: finished ones never change."""
    await queue.enqueue(*jobs(4))
    running, completed, cancelled = await queue.claim(max_jobs=3)
    await queue.finish(completed)
    await queue.finish(cancelled, "cancelled")
    dead = await queue.dead()
    pending = await queue.enqueue_one()
    over = [completed["job_id"], cancelled["job_id"], dead]
    before = [await queue.show(job_id) for job_id in over]
    answers = await queue.cancel(running["job_id"], *over, pending, pending, 10**9)
    assert answers == {
        running["job_id"]: "told",
        pending: "cancelled",
        10**9: "unknown",
        **dict.fromkeys(over, "finished"),
    }
    assert [await queue.show(job_id) for job_id in over] == before
    assert await queue.cancel() == {}


async def test_a_cancel_without_reason_says_who(queue: Surface) -> None:
    """Nobody has to give a reason; then the reason names the one who cancelled."""
    one, two = await queue.enqueue_ids(*jobs(2))
    await queue.cancel(one, reason=None)
    await queue.cancel(two, reason="")
    assert {(await queue.show(job_id))["reason"] for job_id in (one, two)} == {"cancelled by tester"}


async def test_a_cancel_waits_for_a_claim_and_then_tells(queue: Surface, database: Database, owner: Database) -> None:
    """Cancelling a job that is just being claimed does not miss it: it is told when the claim stands."""
    job_id = await queue.enqueue_one()
    async with database.transaction() as connection:
        leased = await Surface(connection).claim_one()
        cancel = asyncio.create_task(queue.cancel(job_id))
        await until(lambda: somebody_waits(owner), "the cancel waits for the claim")
    assert await cancel == {job_id: "told"}
    assert (await queue.heartbeat(leased))[0]["cancel_reason"] == "not wanted"


async def test_cancelling_the_one_in_front_lets_the_next_of_its_serial_key_go(queue: Surface) -> None:
    """A parked job does not wait for one that was called off, whether that had been ready or parked itself."""
    front, middle, last = await queue.enqueue_ids(*jobs(3, serial_key="s"))
    assert [(await queue.show(job_id))["waiting_for"] for job_id in (front, middle, last)] == [None, "serial", "serial"]
    await queue.cancel(middle)
    await queue.cancel(front)
    assert await queue.claim_ids() == [last]


async def test_cancelling_behind_a_running_key_promotes_nobody(queue: Surface) -> None:
    """While a job of the key runs, the others stay parked whatever is called off."""
    await queue.enqueue(job(serial_key="s"))
    leased = await queue.claim_one()
    one, two = await queue.enqueue_ids(*jobs(2, serial_key="s"))
    await queue.cancel(one, leased["job_id"])
    assert (await queue.show(two))["waiting_for"] == "serial"
    assert await queue.finish(leased, "cancelled", now=NOW + SECOND) == "cancelled"
    assert await queue.claim_ids() == [two]


async def test_cancels_are_on_record(queue: Surface) -> None:
    """Each job cancelled or told has an audit entry with reason and actor; others have none."""
    running, pending = await queue.enqueue_ids(job(priority=9), job())
    leased = await queue.claim_one()
    assert leased["job_id"] == running
    await queue.cancel(running, pending, 10**9, reason="wrong customer", now=NOW + SECOND)
    rows = await queue.caller.fetch("select * from livewell.list_audit(p_table_name => 'job') order by job_id")
    assert [(row["job_id"], row["event"]) for row in rows] == [
        (running, "job_cancel_requested"),
        (pending, "job_cancelled"),
    ]
    assert {(row["reason"], row["actor"], row["at"]) for row in rows} == {("wrong customer", "tester", NOW + SECOND)}
    assert [row["record_id"] for row in rows] == [str(running), str(pending)]
