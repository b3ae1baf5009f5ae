"""The budgeted claim: the best jobs that fit, per endpoint, and nobody waits for an endpoint that is closed."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from livewell.budgets import EndpointFull, UnknownEndpoint
from livewell.budgets.tests.surface import HOUR, MINUTE, NOW, SECOND, Budgets, Row, worst
from livewell.jobs.tests.sql_surface import somebody_waits
from livewell.testing import until


def _at(jobs: list[Row]) -> dict[str, int]:
    return dict(Counter(job["endpoint"] for job in jobs))


async def test_each_endpoint_gives_what_it_may(budgets: Budgets) -> None:
    """One claim takes from every endpoint as much as its own limits allow, best first."""
    await budgets.endpoint("p/a", requests_per_minute=3)
    await budgets.endpoint("q/b", concurrent=2)
    await budgets.endpoint("q/c")
    for endpoint in ("p/a", "q/b", "q/c"):
        await budgets.enqueue(endpoint, 10)
    best = await budgets.enqueue("p/a", priority=9)
    claimed = await budgets.claim()
    assert claimed[0]["job_id"] == best[0]
    assert _at(claimed) == {"p/a": 3, "q/b": 2, "q/c": 10}
    assert await budgets.claim() == []


async def test_jobs_without_an_endpoint_are_claimed_beside(budgets: Budgets) -> None:
    """A claim that asks budgets takes what has none as ever."""
    await budgets.endpoint("p/a", requests_per_minute=1)
    await budgets.enqueue("p/a", 5, priority=9)
    await budgets.database.fetch(
        'select livewell.enqueue_jobs(\'[{"kind": "call", "payload": {"n": 1}}]\', \'keep\', $1)', NOW
    )
    assert _at(await budgets.claim()) == {"p/a": 1, None: 1}


async def test_a_large_job_does_not_stop_a_small_one(budgets: Budgets) -> None:
    """What does not fit is passed over, whatever its priority; what is behind it and fits is taken."""
    await budgets.endpoint("p/a", quota_bytes=1_000_000)
    await budgets.provider("p", pace="none", quota_use=0.1)
    await budgets.enqueue("p/a", 3, priority=9, estimated_bytes=500_000)
    small = await budgets.enqueue("p/a", 5, estimated_bytes=30_000)
    claimed = await budgets.claim()
    assert [job["job_id"] for job in claimed] == small[:3]
    assert await budgets.claim(now=NOW + 6 * SECOND) == []


async def test_it_fills_what_is_left_with_what_fits(budgets: Budgets) -> None:
    """After a large job is taken, smaller ones fill the rest, in order of priority."""
    await budgets.endpoint("p/a", tokens_per_minute=1000)
    sizes = [(9, 600), (8, 600), (7, 300), (6, 200), (5, 100)]
    ids = {size: await budgets.enqueue("p/a", priority=p, estimated_tokens=size) for p, size in sizes[1:]}
    first = await budgets.enqueue("p/a", priority=9, estimated_tokens=600)
    claimed = [job["job_id"] for job in await budgets.claim()]
    assert claimed == [first[0], ids[300][0], ids[100][0]]


async def test_quota_at_99_percent(budgets: Budgets) -> None:
    """Nothing that does not fit is claimed, and what fits is."""
    await budgets.endpoint("p/a", quota_bytes=1_000_000)
    await budgets.provider("p", pace="none", quota_use=1.0)
    await budgets.owner.execute(
        "insert into livewell_private.quota_hour values ('p', $1, 990000)", NOW.replace(minute=0) - HOUR
    )
    await budgets.enqueue("p/a", 2, priority=5, estimated_bytes=10_001)
    fits = await budgets.enqueue("p/a", 1, estimated_bytes=10_000)
    assert [job["job_id"] for job in await budgets.claim()] == fits
    assert not await budgets.is_open("p")


async def test_scheduled_work_pauses_first(budgets: Budgets) -> None:
    """From 90 percent on nothing below priority 0 is queued or claimed, while viewers' work goes on."""
    await budgets.endpoint("p/a", quota_bytes=1_000_000)
    await budgets.provider("p", pace="none", quota_use=1.0)
    await budgets.enqueue("p/a", 2, priority=-1, estimated_bytes=100)
    seen = await budgets.enqueue("p/a", 2, estimated_bytes=100)
    await budgets.owner.execute(
        "insert into livewell_private.quota_hour values ('p', $1, 900000)", NOW.replace(minute=0)
    )
    assert [job["job_id"] for job in await budgets.claim()] == seen
    assert (await budgets.is_open("p"), await budgets.is_open("p", priority=-1)) == (True, False)


async def test_a_closed_door_is_not_knocked_at(budgets: Budgets) -> None:
    """An endpoint without room is out of the look until it opens, and the worker is told when that is."""
    await budgets.endpoint("p/a", requests_per_minute=2)
    await budgets.enqueue("p/a", 5)
    assert len(await budgets.claim()) == 2
    assert await budgets.claim(now=NOW + SECOND) == []
    await budgets.database.fetch("select livewell.register_worker('w1', '{general}', '{call}', 5, $1)", NOW)
    wait = await budgets.database.fetchval("select livewell.mark_worker_idle('w1', $1)", NOW + 2 * SECOND)
    assert 58 < wait <= 61
    opens = NOW + timedelta(seconds=2 + wait)
    assert await budgets.claim(now=opens - SECOND) == []
    assert len(await budgets.claim(now=opens)) == 2


async def test_a_claim_that_waited_counts_from_when_it_got_through(budgets: Budgets) -> None:
    """The clock is read after the locks are held: a claim does not book its calls to the time it began to wait."""
    await budgets.endpoint("p/a", requests_per_minute=2)
    await budgets.enqueue("p/a", now=NOW)
    before = await budgets.owner.fetchval("select clock_timestamp()")
    async with budgets.owner.transaction() as connection:
        await connection.execute("select from livewell_private.limit_use where name = 'p/a' for update")
        claim = asyncio.create_task(budgets.database.fetch("select * from livewell.claim_jobs('w', '{general}')"))
        await until(lambda: somebody_waits(budgets.owner), "the claim waits for the endpoint")
        released = await connection.fetchval("select clock_timestamp()")
    await claim
    started = await budgets.owner.fetchval("select started_at from livewell_private.job_live")
    assert before < released <= started


async def test_a_limit_holds_over_claims(budgets: Budgets) -> None:
    """Claims at any times, with finishes and rescues between, never start more in a minute than allowed."""
    await budgets.endpoint("p/a", requests_per_minute=30, concurrent=20)
    await budgets.declare("short", lease="20 seconds")
    await budgets.enqueue("p/a", 500, kind="short")
    started, now = [], NOW
    for step in range(120):
        claimed = await budgets.claim(7, now=now)
        started.append((now, len(claimed)))
        if step % 3:
            await budgets.finish(claimed, now=now)
        now += timedelta(seconds=2.5)
        if step % 20 == 0:
            await budgets.rescue(now=now)
    assert worst(started, MINUTE) <= 30
    assert sum(count for _, count in started) > 100


async def test_the_cap_of_a_kind_holds_in_rounds(budgets: Budgets) -> None:
    """A kind's concurrency counts over all rounds of a claim that had to pass over large jobs."""
    await budgets.declare("capped", concurrency=3)
    await budgets.endpoint("p/a", tokens_per_minute=1000)
    for tokens in (900, 900, 40, 30, 20, 10):
        await budgets.enqueue("p/a", kind="capped", estimated_tokens=tokens, priority=tokens)
    assert len(await budgets.claim()) == 3


async def test_a_serial_key_holds_over_rounds(budgets: Budgets) -> None:
    """What a later round of a claim finds waits for a serial key that an earlier one took, also in another lane."""
    await budgets.declare("other")
    await budgets.endpoint("p/a", tokens_per_minute=1000)
    (first,) = await budgets.enqueue("p/a", priority=9, estimated_tokens=100, serial_key="k")
    await budgets.enqueue("p/a", priority=8, estimated_tokens=950)
    (second,) = await budgets.enqueue("p/a", kind="other", estimated_tokens=100, serial_key="k")
    claimed = await budgets.claim(2)
    assert [job["job_id"] for job in claimed] == [first]
    await budgets.finish(claimed)
    assert [job["job_id"] for job in await budgets.claim(2, now=NOW + 2 * SECOND)] == [second]


async def test_one_endpoint_of_a_kind_does_not_shadow_another(budgets: Budgets) -> None:
    """A nearly closed endpoint with the best jobs leaves the places of the claim to the others of its kind."""
    await budgets.endpoint("p/a", requests_per_minute=2)
    await budgets.endpoint("q/b")
    await budgets.enqueue("p/a", 60, priority=9)
    await budgets.enqueue("q/b", 60)
    assert _at(await budgets.claim(50)) == {"p/a": 2, "q/b": 48}


async def test_an_unknown_endpoint_is_refused(budgets: Budgets) -> None:
    """A job for an endpoint nobody declared is refused at the door: without a budget it would have no limit."""
    with pytest.raises(UnknownEndpoint, match="unknown endpoint p/a"):
        await budgets.enqueue("p/a")


async def test_a_full_endpoint_refuses(budgets: Budgets) -> None:
    """Beyond its depth limit an endpoint takes no more: a fact with its numbers, and nothing of the batch is queued."""
    await budgets.endpoint("p/a", depth_limit=5)
    await budgets.enqueue("p/a", 4)
    with pytest.raises(EndpointFull, match="holds 4 waiting jobs and allows 5: 2 more"):
        await budgets.enqueue("p/a", 2)
    assert (await budgets.state("p/a"))["waiting"] == 4
    await budgets.enqueue("p/a", 1, dedupe_key="k")
    await budgets.enqueue("p/a", 1, dedupe_key="k")


async def test_above_the_threshold_new_jobs_wait(budgets: Budgets) -> None:
    """Near a limit new jobs of the endpoint are due after its delay; others, and planned ones, are not moved."""
    await budgets.endpoint(
        "p/a", requests_per_minute=10, backpressure_share=0.8, backpressure_delay=timedelta(seconds=7)
    )
    await budgets.endpoint("q/b")
    await budgets.acquire("p/a", 7)
    (early,) = await budgets.enqueue("p/a")
    await budgets.acquire("p/a", 1)
    (delayed,) = await budgets.enqueue("p/a")
    (planned,) = await budgets.enqueue("p/a", scheduled_at=(NOW + SECOND).isoformat())
    (other,) = await budgets.enqueue("q/b")
    due = {
        row["id"]: row["due_at"] - NOW
        for row in await budgets.owner.fetch("select id, due_at from livewell_private.job_live")
    }
    assert due == {early: 0 * SECOND, delayed: 7 * SECOND, planned: SECOND, other: 0 * SECOND}


async def test_an_endpoint_without_serial_keys_ignores_them(budgets: Budgets) -> None:
    """Where the endpoint says so, jobs of one serial key run side by side."""
    await budgets.endpoint("p/a", serial_keys=False)
    await budgets.endpoint("p/b")
    await budgets.enqueue("p/a", 3, serial_key="k")
    await budgets.enqueue("p/b", 3, serial_key="k")
    assert _at(await budgets.claim()) == {"p/a": 3, "p/b": 1}
