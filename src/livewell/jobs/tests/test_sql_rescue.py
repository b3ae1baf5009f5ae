"""Rescue: what silent workers held goes on, once, and nothing live is touched."""

import asyncio
import json
from datetime import timedelta

from livewell.jobs.tests.sql_surface import LEASE, MINUTE, NOW, SECOND, Surface, job, jobs
from livewell.kernel import Database

LATE = NOW + LEASE + SECOND


async def test_only_expired_leases_are_rescued(queue: Surface) -> None:
    """A lease is rescued when its time is over, not a moment before; renewed and pending ones are left alone."""
    await queue.enqueue(*jobs(3))
    expired, renewed = await queue.claim(max_jobs=2)
    await queue.heartbeat(renewed, now=NOW + MINUTE)
    assert await queue.rescue(now=NOW + LEASE) == []
    (rescued,) = await queue.rescue(now=LATE)
    assert tuple(rescued) == (expired["job_id"], "plain", "w1", "pending")
    assert await queue.states(expired["job_id"], renewed["job_id"]) == ["pending", "processing"]


async def test_each_rescued_job_waits_by_its_own_dice(queue: Surface) -> None:
    """Rescued jobs come back spread over at most the set jitter, so that they do not stampede."""
    await queue.enqueue(*jobs(60))
    await queue.claim(max_jobs=60)
    rescued = await queue.rescue(now=LATE)
    waits = [(await queue.show(row["job_id"]))["due_at"] - LATE for row in rescued]
    assert len(waits) == 60
    assert min(waits) >= timedelta(0)
    assert max(waits) <= MINUTE
    assert max(waits) - min(waits) > 20 * SECOND
    assert len(set(waits)) > 50
    assert len(await queue.claim(max_jobs=60, now=LATE)) < 5
    assert len(await queue.claim(max_jobs=60, now=LATE + MINUTE)) > 55


async def test_without_jitter_a_rescued_job_is_ready_at_once(queue: Surface) -> None:
    """The setting `worker.reclaim_jitter_max` is obeyed, down to zero."""
    await queue.set("worker.reclaim_jitter_max", "0 seconds")
    await queue.enqueue(job())
    leased = await queue.claim_one()
    await queue.rescue(now=LATE)
    assert await queue.claim_ids("w2", now=LATE) == [leased["job_id"]]


async def test_a_lost_worker_counts_as_a_failure(queue: Surface) -> None:
    """A rescue is an attempt that failed, told so in the history, so that a job that kills workers comes to an end."""
    await queue.set("worker.reclaim_jitter_max", "0 seconds")
    job_id = await queue.enqueue_one(retries=1)
    await queue.claim_one("w1")
    assert [row["state"] for row in await queue.rescue(now=LATE)] == ["pending"]
    shown = await queue.show(job_id)
    assert (shown["failures"], shown["attempt"], shown["worker"]) == (1, 1, None)
    await queue.claim_one("w2", now=LATE)
    assert [row["state"] for row in await queue.rescue(now=LATE + LEASE + SECOND)] == ["failed"]
    shown = await queue.show(job_id)
    assert (shown["state"], shown["failures"], shown["attempt"], shown["worker"]) == ("failed", 2, 2, "w2")
    assert shown["reason"] == "lease expired on attempt 2: worker w2 went silent"
    assert json.loads(shown["error"])["type"] == "LeaseExpired"
    assert await queue.outcomes(job_id) == [(1, "rescued"), (2, "failed")]
    first, _ = await queue.attempts(job_id)
    assert (first["worker"], first["started_at"], first["ended_at"]) == ("w1", NOW, LATE)


async def test_a_job_told_to_stop_is_not_revived(queue: Surface) -> None:
    """What was to be cancelled when its worker went silent is cancelled by the rescue."""
    await queue.enqueue(job())
    leased = await queue.claim_one()
    await queue.cancel(leased["job_id"], reason="wrong customer")
    assert [row["state"] for row in await queue.rescue(now=LATE)] == ["cancelled"]
    shown = await queue.show(leased["job_id"])
    assert (shown["state"], shown["reason"], shown["finished_at"]) == ("cancelled", "wrong customer", LATE)


async def test_rescue_passes_over_locked_rows(queue: Surface, database: Database) -> None:
    """A job that somebody is just deciding about is left to them, without waiting; the others are rescued."""
    await queue.enqueue(*jobs(2))
    first, second = await queue.claim()
    async with database.transaction() as connection:
        assert await Surface(connection).finish(first, now=LATE) == "completed"
        async with asyncio.timeout(5):
            assert [row["job_id"] for row in await queue.rescue(now=LATE)] == [second["job_id"]]
    assert await queue.rescue(now=LATE) == []
    assert await queue.states(first["job_id"]) == ["completed"]


async def test_a_rescue_is_bounded_and_begins_with_the_oldest(queue: Surface) -> None:
    """A call rescues at most its limit, the longest expired first; the next call goes on."""
    await queue.enqueue(*jobs(4))
    newer = await queue.claim_ids(max_jobs=2, now=NOW)
    older = await queue.claim_ids(max_jobs=2, now=NOW - MINUTE)
    assert [row["job_id"] for row in await queue.rescue(limit=2, now=LATE)] == older
    assert [row["job_id"] for row in await queue.rescue(limit=2, now=LATE)] == newer
    assert await queue.rescue(limit=2, now=LATE) == []


async def test_two_rescuers_share_the_work(queue: Surface) -> None:
    """Rescuers at the same time rescue each job once between them."""
    await queue.enqueue(*jobs(200))
    leased = await queue.claim_ids(max_jobs=200)
    answers = await asyncio.gather(*(queue.rescue(limit=60, now=LATE) for _ in range(6)))
    rescued = [row["job_id"] for rows in answers for row in rows]
    assert len(rescued) == len(set(rescued))
    rescued += [row["job_id"] for row in await queue.rescue(now=LATE)]
    assert sorted(rescued) == sorted(leased)
    assert {(await queue.show(job_id))["failures"] for job_id in leased} == {1}
