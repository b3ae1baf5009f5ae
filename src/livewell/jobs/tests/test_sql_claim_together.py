"""Claims side by side: no job twice, no cap exceeded, nobody waits for a locked row."""

import asyncio
import random
from collections import Counter

import pytest

from livewell.jobs.tests.sql_surface import NOW, Surface, job, jobs, somebody_waits
from livewell.kernel import Database
from livewell.testing import until

_RUNNING = "select count(*) from livewell_private.job_live where state = 'processing' and kind = $1"


@pytest.mark.parametrize("lanes", [1, 3])
async def test_no_job_is_shared(queue: Surface, lanes: int) -> None:
    """Eight claimers at once, in one lane or several, empty the queue and no job is in two hands."""
    ids = await queue.enqueue_ids(*(job(endpoint=f"e{n % lanes}") for n in range(600)))

    async def drain(worker: str) -> list[int]:
        taken: list[int] = []
        while batch := await queue.claim_ids(worker, max_jobs=7):
            taken += batch
        return taken

    hands = await asyncio.gather(*(drain(f"w{n}") for n in range(8)))
    counted = Counter(job_id for hand in hands for job_id in hand)
    assert max(counted.values()) == 1
    assert set(counted) | set(await queue.claim_ids(max_jobs=600)) == set(ids)


async def test_a_claim_does_not_wait_for_a_locked_row(queue: Surface, owner: Database) -> None:
    """Rows that somebody else holds are passed over at once, and the next best are taken."""
    best, second, third = await queue.enqueue_ids(job(priority=9), job(), job())
    async with owner.transaction() as connection:
        await connection.execute("select from livewell_private.job_live where id = $1 for update", best)
        async with asyncio.timeout(5):
            assert await queue.claim_ids(max_jobs=2) == [second, third]
    assert await queue.claim_ids() == [best]


async def test_a_claim_in_several_lanes_does_not_wait_either(queue: Surface, owner: Database) -> None:
    """With more than one lane locked rows are passed over in each, and others of the lane take their place."""
    ids = await queue.enqueue_ids(*(job(endpoint=f"e{n % 2}", priority=9 - n // 2) for n in range(8)))
    async with owner.transaction() as connection:
        await connection.execute("select from livewell_private.job_live where id = any ($1) for update", ids[:2])
        async with asyncio.timeout(5):
            assert await queue.claim_ids(max_jobs=4) == ids[2:6]


async def _most_at_once(queue: Surface, owner: Database, kind: str) -> int:
    """Claim and finish from six sides at once; answers the most that were ever seen running together."""
    seen: list[int] = []

    async def work(worker: str) -> None:
        for _ in range(20):
            leased = await queue.claim(worker, kinds=[kind])
            seen.append(await owner.fetchval(_RUNNING, kind))
            for row in leased:
                await queue.finish(row)

    await asyncio.gather(*(work(f"w{n}") for n in range(6)))
    return max(seen)


@pytest.mark.parametrize("cap", [1, 4])
async def test_the_cap_of_a_kind_is_never_exceeded(queue: Surface, owner: Database, cap: int) -> None:
    """Six claimers at once, in two lanes of a kind, never hold more of it together than its concurrency allows."""
    await queue.declare("capped", concurrency=cap)
    await queue.enqueue(*(job("capped", endpoint=random.choice("ab")) for _ in range(500)))
    assert await _most_at_once(queue, owner, "capped") == cap


async def test_a_cap_holds_for_its_kind_alone(queue: Surface) -> None:
    """Beside a kind at its cap another is claimed freely, and a finish gives the room back."""
    await queue.declare("capped", concurrency=2)
    await queue.enqueue(*jobs(5, "capped", priority=9), *jobs(5))
    leased = await queue.claim(max_jobs=4)
    assert Counter(row["kind"] for row in leased) == {"capped": 2, "plain": 2}
    assert Counter(row["kind"] for row in await queue.claim(max_jobs=9)) == {"plain": 3}
    await queue.finish(leased[0])
    assert [row["kind"] for row in await queue.claim(max_jobs=9)] == ["capped"]


async def test_a_cap_holds_for_jobs_that_come_while_a_claim_waits(queue: Surface, owner: Database) -> None:
    """A kind whose first jobs arrive in the middle of a claim is capped all the same."""
    await queue.declare("a_capped", concurrency=5)
    await queue.declare("b_capped", concurrency=1)
    await queue.enqueue(job("a_capped"))
    async with owner.transaction() as connection:
        await connection.execute("select from livewell_private.job_kind where kind = 'a_capped' for update")
        claim = asyncio.create_task(queue.claim())
        await until(lambda: somebody_waits(owner), "the claim waits for the capped kind")
        await queue.enqueue(*jobs(10, "b_capped"))
    kinds = Counter(row["kind"] for row in [*await claim, *await queue.claim()])
    assert kinds == {"a_capped": 1, "b_capped": 1}


async def test_a_new_lane_in_an_open_transaction_holds_up_no_claim(queue: Surface, database: Database) -> None:
    """Who queues the first job of an endpoint and does not commit keeps nobody from claiming the kind."""
    await queue.declare("capped", concurrency=5)
    await queue.enqueue(job("capped"))
    async with database.transaction() as connection:
        await Surface(connection).enqueue(job("capped", endpoint="new"))
        async with asyncio.timeout(5):
            assert len(await queue.claim()) == 1


async def test_expired_leases_count_against_the_cap_until_rescued(queue: Surface) -> None:
    """Whoever may still be running counts: room comes back by a finish or a rescue, not by time."""
    await queue.declare("capped", concurrency=1, lease="1 second")
    await queue.enqueue(*jobs(2, "capped"))
    await queue.set("worker.reclaim_jitter_max", "0 seconds")
    leased = await queue.claim_one()
    much_later = NOW.replace(year=2026)
    assert await queue.claim(now=much_later) == []
    await queue.rescue(now=much_later)
    assert len(await queue.claim(now=much_later)) == 1
    assert await queue.finish(leased, now=much_later) == "lost"
