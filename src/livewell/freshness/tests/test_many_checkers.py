"""Checkers and subscribers at once: one live refresh per item, nobody refused, nothing left behind."""

import asyncio
import random

import pytest

from livewell.freshness.tests.surface import MINUTE, NOON, SECOND, Freshness
from livewell.kernel import Database
from livewell.testing import make_type, until

KEYS = [f"K{number}" for number in range(120)]


async def test_one_live_refresh_per_item(owner: Database, database: Database, freshness: Freshness) -> None:
    """Eight checkers who also subscribe, and claims between: never two live refreshes of one item, no error."""
    await make_type(owner, "note")
    ids = await freshness.watch("note", KEYS)

    async def check(seed: int) -> None:
        chance = random.Random(seed)
        for turn in range(15):
            now = NOON + turn * 3 * MINUTE
            await freshness.tick(now)
            some = chance.sample(ids, 30)
            await freshness.change(some, 1, now)
            await freshness.check(some, now + SECOND, priority=1000, cause="subscribe")
            await freshness.change(some, -1, now + SECOND)

    async def claim() -> None:
        for _ in range(10):
            rows = await database.fetch("select job_id, lease_token from livewell.claim_jobs('w', '{refresh}', 20)")
            await database.fetch(
                "select livewell.finish_jobs($1, $2)", [r["job_id"] for r in rows], [r["lease_token"] for r in rows]
            )

    await asyncio.gather(*(check(seed) for seed in range(8)), claim())
    live = await owner.fetch(
        "select payload ->> 'item' as item, count(*) from livewell_private.job_live group by 1 having count(*) > 1"
    )
    assert live == []
    assert await owner.fetchval("select count(*) from livewell_private.item where viewers <> 1") == 0
    assert await owner.fetchval("select count(*) from livewell_private.item where decision is null") == 0


async def test_busy_items_are_left_to_their_holder(owner: Database, freshness: Freshness) -> None:
    """An item somebody is looking at is passed over, not waited for."""
    await make_type(owner, "note")
    a, b = await freshness.watch("note", ["A", "B"])
    async with owner.transaction() as other:
        await other.execute("select from livewell_private.item where id = $1 for update", a)
        async with asyncio.timeout(10):
            assert await freshness.tick() == {"checked": 1, "queued": 1}
            assert await freshness.check([a, b]) == {b: "queued"}


async def test_a_refresh_that_is_ending_is_not_waited_for(
    owner: Database, database: Database, freshness: Freshness
) -> None:
    """Who ends a refresh holds its job and wants its item; a look holds the item and does not want that job."""
    await make_type(owner, "note")
    [item] = await freshness.watch("note", ["A"])
    await freshness.tick()
    job = await database.fetchrow("select job_id, lease_token from livewell.claim_jobs('w', '{refresh}')")
    assert job is not None
    async with owner.transaction() as finish:
        await finish.fetch("select livewell.finish_jobs($1, $2)", [job["job_id"]], [job["lease_token"]])
        async with asyncio.timeout(10):
            assert await freshness.check([item], NOON + 5 * MINUTE) == {item: "queued"}
        await Freshness(finish).learn([item], "fetched", NOON + 5 * MINUTE)
    assert await freshness.jobs() == {}


async def test_a_checker_that_dies_leaves_nothing_half_done(owner: Database, freshness: Freshness) -> None:
    """A run that is killed while it queues has decided nothing; the next one does all of it, each refresh once."""
    await make_type(owner, "note")
    await freshness.watch("note", KEYS)
    async with owner.connection() as doomed, owner.transaction() as other:
        victim = await doomed.fetchval("select pg_backend_pid()")
        await other.execute("lock table livewell_private.job_live in share mode")
        run = asyncio.create_task(Freshness(doomed).tick())
        await until(
            lambda: owner.fetchval("select wait_event_type = 'Lock' from pg_stat_activity where pid = $1", victim),
            "the run waits for the queue",
        )
        await owner.execute("select pg_terminate_backend($1)", victim)
        with pytest.raises(Exception, match=r"terminat|closed|connection"):
            await run
    assert await owner.fetchval("select count(*) from livewell_private.item where decision is not null") == 0
    assert await freshness.jobs() == {}
    assert await freshness.tick() == {"checked": len(KEYS), "queued": len(KEYS)}
    assert len(await freshness.jobs()) == len(KEYS)
