"""What fetches teach: change, size, and when to look again."""

import math
import random

import pytest

from livewell.freshness.tests.surface import DAY, MINUTE, NOON, SECOND, Freshness
from livewell.jobs import JobStore
from livewell.kernel import Database
from livewell.testing import make_table, make_type


async def test_change_is_learned(owner: Database, freshness: Freshness) -> None:
    """A fetch with other content than the last has changed; the first says nothing; an unchanged one counts."""
    await make_type(owner, "note")
    [item] = await freshness.watch("note", ["A"])
    await freshness.learn([item], "fetched", NOON, content=b"1", size=1000)
    await freshness.learn([item], "fetched", NOON + 10 * MINUTE, content=b"2", size=2000)
    await freshness.learn([item], "fetched", NOON + 15 * MINUTE, content=b"2", size=2000)
    await freshness.learn([item], "unchanged", NOON + 20 * MINUTE, size=300)
    seen = await freshness.item(item)
    assert (seen["fetches"], seen["changes"], seen["minutes_between"]) == (3, 1, 20)
    assert seen["bytes_mean"] == pytest.approx(1300), "only what brought something new tells its size"
    assert seen["due_at"] == NOON + 21 * MINUTE


async def test_types_learn_from_their_items(owner: Database, freshness: Freshness) -> None:
    """What was learned of items is known of their type after the next tick, each fetch once."""
    await make_type(owner, "note")
    ids = await freshness.watch("note", ["A", "B"])
    await freshness.learn(ids, "fetched", NOON, content=b"1", size=1000)
    await freshness.learn(ids, "fetched", NOON + 10 * MINUTE, content=b"2", size=1000)
    for _ in range(2):
        await freshness.tick()
    row = await owner.fetchrow(
        "select fetches, changes, minutes_between, bytes_mean from livewell_private.type_learning"
    )
    assert row is not None
    assert tuple(row) == (2, 2, 20, 1000)


async def test_unchanged_answers_have_a_size(owner: Database, freshness: Freshness) -> None:
    """What an unchanged answer costs is learned by type, whether the API says so or sends everything again."""
    await make_type(owner, "note")
    ids = await freshness.watch("note", ["A", "B"])
    await freshness.learn(ids, "fetched", NOON, content=b"1", size=1000)
    await freshness.learn(ids, "unchanged", NOON + MINUTE, size=300)
    await freshness.tick()
    assert await owner.fetchval("select unchanged_bytes from livewell_private.type_learning") == 300
    await freshness.learn(ids, "fetched", NOON + 2 * MINUTE, content=b"1", size=1000)
    await freshness.tick()
    assert await owner.fetchval("select unchanged_bytes from livewell_private.type_learning") == pytest.approx(368.25)


@pytest.mark.parametrize("per_hour", [0.2, 1, 10])
async def test_rate_is_learned(owner: Database, freshness: Freshness, per_hour: float) -> None:
    """The learned rate comes near the true one, from fetches that only say whether something had changed."""
    chance = random.Random(7)
    await make_type(owner, "note", ttl=60 * MINUTE)
    [item] = await freshness.watch("note", ["A"])
    await freshness.learn([item], "fetched", NOON)
    for fetch in range(1, 200):
        changed = chance.random() < 1 - math.exp(-per_hour / 2)
        await freshness.learn([item], "fetched" if changed else "unchanged", NOON + fetch * 30 * MINUTE)
    seen = await freshness.item(item)
    assert per_hour / 60 / 2 < seen["change_rate"] < 2 * per_hour / 60


async def test_a_whole_answer_is_reserved(owner: Database, freshness: Freshness) -> None:
    """A refresh reserves what a whole answer of its item takes and more, however often it was unchanged."""
    await make_type(owner, "note", expected_bytes=5000)
    a, b = await freshness.watch("note", ["A", "B"])
    await freshness.check([b])
    await freshness.learn([a], "fetched", NOON, content=b"1", size=1000)
    await freshness.learn([a], "unchanged", NOON + MINUTE, size=300)
    await freshness.check([a], NOON + 5 * MINUTE)
    rows = await owner.fetch("select estimated_bytes from livewell_private.job_live order by id")
    assert [row["estimated_bytes"] for row in rows] == [5000, 1250]


@pytest.mark.parametrize(("outcome", "again"), [("failed", MINUTE), ("refused", MINUTE), ("gone", 60 * MINUTE)])
async def test_no_data(owner: Database, freshness: Freshness, outcome: str, again: object) -> None:
    """A fetch without data teaches nothing of change, and its item is looked at again later."""
    await make_type(owner, "note")
    [item] = await freshness.watch("note", ["A"])
    await freshness.learn([item], outcome, NOON, size=100)
    seen = await freshness.item(item)
    assert (seen["fetches"], seen["fetched_at"], seen["bytes_mean"], seen["last_outcome"]) == (0, None, None, outcome)
    assert seen["due_at"] - NOON == again


async def test_own_ttl_is_looked_at_after_a_fetch(owner: Database, freshness: Freshness) -> None:
    """Where a row may have a TTL of its own, a fetch makes its item due, so that the shorter one is not overslept."""
    await make_type(owner, "quote", ttl=DAY, **await make_table(owner, "public.quotes", ttl_column="keep"))
    [item] = await freshness.watch("quote", ["A"])
    await owner.execute("insert into public.quotes values ('A', $1, null, '10 seconds')", NOON)
    await freshness.learn([item], "fetched", NOON)
    assert await freshness.tick(NOON + SECOND) == {"checked": 1, "fresh": 1}
    assert (await freshness.item(item))["due_at"] == NOON + 10 * SECOND


async def test_cancelled_refresh(owner: Database, database: Database, freshness: Freshness) -> None:
    """An item whose refresh was cancelled is looked at again, not at once and not only after its watchdog."""
    await make_type(owner, "note", ttl=20 * SECOND)
    [item] = await freshness.watch("note", ["A"])
    await freshness.tick()
    job = await owner.fetchval("select id from livewell_private.job_live")
    await JobStore(database).cancel_jobs([job], reason="no need", actor="test")
    seen = await freshness.item(item)
    finished = await owner.fetchval("select finished_at from livewell_private.job_done")
    assert (seen["last_outcome"], seen["due_at"] - finished) == ("cancelled", 20 * SECOND)


async def test_buried_refresh(owner: Database, database: Database, freshness: Freshness) -> None:
    """An item whose refresh failed for good is looked at again, at most every five minutes."""
    await make_type(owner, "note", ttl=DAY)
    [item] = await freshness.watch("note", ["A"])
    await freshness.tick()
    await owner.execute("update livewell_private.job_live set retries = 0")
    claimed = await database.fetchrow("select * from livewell.claim_jobs('w', '{refresh}')")
    assert claimed is not None
    await database.execute(
        "select livewell.finish_jobs($1, $2, '{failed}')", [claimed["job_id"]], [claimed["lease_token"]]
    )
    seen = await freshness.item(item)
    finished = await owner.fetchval("select finished_at from livewell_private.job_failed")
    assert (seen["last_outcome"], seen["due_at"] - finished) == ("failed", 5 * MINUTE)
