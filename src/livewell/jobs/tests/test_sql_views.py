"""What people see: states with their names, counts, and every attempt exactly once."""

from collections import Counter

import pytest

from livewell.jobs.tests.sql_surface import CENTURY, LEASE, MINUTE, NOW, SECOND, Surface, job, jobs


async def _shown(queue: Surface, job_id: int) -> tuple[str, str]:
    row = await queue.show(job_id)
    return row["state"], row["shown_state"]


async def test_pending_is_shown_by_what_it_waits_for(queue: Surface) -> None:
    """Pending, deferred (due later) and retrying (tried before) are told apart; other states are themselves."""
    ready, deferred, retrying = await queue.enqueue_ids(job(), job(scheduled_at=NOW + CENTURY), job(priority=9))
    await queue.finish(await queue.claim_one(), "failed")
    assert await _shown(queue, ready) == ("pending", "pending")
    assert await _shown(queue, deferred) == ("pending", "deferred")
    assert await _shown(queue, retrying) == ("pending", "retrying")
    leased = await queue.claim_one()
    assert await _shown(queue, ready) == ("processing", "processing")
    await queue.finish(leased)
    assert await _shown(queue, ready) == ("completed", "completed")


async def test_counts_are_by_kind_and_state(queue: Surface) -> None:
    """Live jobs and dead letters are always counted, finished ones when asked for, with the oldest due time."""
    await queue.declare("letter", queue_group="post")
    dead, seen = await queue.dead(), await queue.dead()
    await queue.acknowledge(seen)
    await queue.enqueue(*jobs(2, "letter"))
    await queue.finish(await queue.claim_one(groups=["post"]))
    await queue.enqueue(*jobs(3, scheduled_at=NOW - MINUTE), job(), job(scheduled_at=NOW + CENTURY), job(priority=9))
    await queue.finish(await queue.claim_one(), "failed")
    await queue.claim_one()
    statement = "select * from livewell.job_counts($1, $2)"
    live = {
        ("general", "plain", "acknowledged"): (1, None),
        ("general", "plain", "deferred"): (1, None),
        ("general", "plain", "failed"): (1, None),
        ("general", "plain", "pending"): (3, NOW - MINUTE),
        ("general", "plain", "processing"): (1, None),
        ("general", "plain", "retrying"): (1, None),
        ("post", "letter", "pending"): (1, NOW),
    }
    for finished, more in ((False, {}), (True, {("post", "letter", "completed"): (1, None)})):
        rows = await queue.caller.fetch(statement, finished, NOW)
        counts = {(row[0], row[1], row[2]): (row["jobs"], row["oldest_due_at"]) for row in rows}
        assert counts == {**live, **more}
    assert dead != seen


@pytest.mark.parametrize(
    "end", ["completed", "cancelled", "dead", "rescue", "cancel pending", "retry", "retry, cancel"]
)
async def test_every_attempt_is_shown_exactly_once(queue: Surface, end: str) -> None:
    """However a job ends, its ended attempts are numbered without gap or double, in the order of their ends."""
    await queue.set("worker.reclaim_jitter_max", "0 seconds")
    job_id = await queue.enqueue_one(retries=2)
    now, expected = NOW, ["failed", "rescheduled", "reset", "rescued"]
    for outcome in expected:
        leased = await queue.claim_one(now=now)
        if outcome == "rescued":
            await queue.rescue(now=now + LEASE + SECOND)
        else:
            await queue.finish(leased, outcome, delay_seconds=1, now=now)
        now += 2 * LEASE
    if end == "cancel pending":
        await queue.cancel(job_id, now=now)
    elif end == "rescue":
        await queue.claim_one(now=now)
        await queue.rescue(now=now + LEASE + SECOND)
        expected.append("failed")
    else:
        word = end if end in {"completed", "cancelled"} else "dead"
        await queue.finish(await queue.claim_one(now=now), word, now=now)
        expected.append({"dead": "failed"}.get(word, word))
    if end.startswith("retry"):
        await queue.retry(job_id, now=now + MINUTE)
        expected[-1] = "dead"
        if end == "retry, cancel":
            await queue.cancel(job_id, now=now + MINUTE)
    assert await queue.outcomes(job_id) == list(enumerate(expected, start=1))
    ends = [row["ended_at"] for row in await queue.attempts(job_id)]
    assert ends == sorted(ends)


async def test_attempts_of_many_jobs_do_not_mix(queue: Surface) -> None:
    """Each attempt belongs to its job: as many rows per job as it had attempts that ended."""
    ids = await queue.enqueue_ids(*jobs(6))
    wanted: Counter[int] = Counter()
    for turn in range(3):
        now = NOW + turn * MINUTE
        for leased in await queue.claim(now=now):
            await queue.finish(
                leased, "completed" if leased["job_id"] % 3 == turn else "rescheduled", now=now, delay_seconds=1
            )
            wanted[leased["job_id"]] += 1
    rows = await queue.caller.fetch("select job_id, count(*) as attempts from livewell.job_attempts group by job_id")
    assert {row["job_id"]: row["attempts"] for row in rows} == dict(wanted)
    assert set(wanted) == set(ids)
