"""Keeping fresh while a stranger is idle in a transaction: one item waits, and nothing else."""

from datetime import timedelta

from livewell.freshness.tests.surface import MINUTE, NOON, Freshness
from livewell.kernel import Database
from livewell.testing import idle_in_transaction, make_type

HOLD_B = "update livewell_private.item set viewers = viewers where key = 'B'"
DUE = "select key, due_at from livewell_private.item order by key"


async def _due(owner: Database) -> dict[str, object]:
    return {row["key"]: row["due_at"] for row in await owner.fetch(DUE)}


async def test_a_changed_type_waits_for_nobody(owner: Database, owner_url: str, freshness: Freshness) -> None:
    """What decides on freshness changes and commits at once; an item that somebody holds is due when it is free."""
    await make_type(owner, "quote")
    await freshness.watch("quote", ["A", "B", "C"])
    later = NOON + timedelta(days=365)
    await owner.execute("update livewell_private.item set due_at = $1, decision = 'fresh'", later)
    async with idle_in_transaction(owner_url, HOLD_B):
        await owner.execute("update livewell_private.data_type set ttl = '7 minutes', updated_at = $1", NOON)
        assert await _due(owner) == {"A": NOON, "B": later, "C": NOON}
        await owner.execute("select livewell_private.make_freed_items_due($1)", NOON)
        assert (await _due(owner))["B"] == later
    await owner.execute("select livewell_private.make_freed_items_due($1)", NOON)
    assert await _due(owner) == {"A": NOON, "B": NOON, "C": NOON}
    assert await owner.fetchval("select count(*) from livewell_private.locked_row") == 0


async def test_a_buried_refresh_waits_for_nobody(owner: Database, owner_url: str, freshness: Freshness) -> None:
    """A rescue that buries refreshes tells the items that are free; one that somebody holds is looked at when it is."""
    await make_type(owner, "quote")
    await freshness.watch("quote", ["A", "B"])
    await freshness.tick()
    await owner.execute("update livewell_private.job_live set retries = 0")
    claimed = await owner.fetch("select * from livewell.claim_jobs('w', '{refresh}', 10, p_now => $1)", NOON)
    assert len(claimed) == 2
    async with idle_in_transaction(owner_url, HOLD_B):
        rescued = await owner.fetch("select state from livewell.rescue_jobs(10, $1)", NOON + 60 * MINUTE)
    assert [row["state"] for row in rescued] == ["failed", "failed"]
    decisions = {
        row["key"]: row["decision"] for row in await owner.fetch("select key, decision from livewell_private.item")
    }
    assert decisions == {"A": "refresh_failed", "B": "queued"}
    assert await owner.fetchval(
        "select row_key from livewell_private.locked_row where table_name = 'livewell_private.item'"
    ) == str(await owner.fetchval("select id from livewell_private.item where key = 'B'"))


async def test_a_cancelled_refresh_waits_for_nobody(owner: Database, owner_url: str, freshness: Freshness) -> None:
    """Who cancels a refresh does not wait for whoever holds its item."""
    await make_type(owner, "quote")
    await freshness.watch("quote", ["A", "B"])
    await freshness.tick()
    async with idle_in_transaction(owner_url, HOLD_B):
        cancelled = await owner.fetch(
            "select c.outcome from livewell.cancel_jobs(array(select id from livewell_private.job_live), 'so',"
            " 'me', $1) as c",
            NOON,
        )
    assert [row["outcome"] for row in cancelled] == ["cancelled", "cancelled"]


async def test_a_refresh_that_somebody_is_queueing(owner: Database, owner_url: str, freshness: Freshness) -> None:
    """A refresh in somebody's open transaction keeps the checker from queueing that one, and no other."""
    await make_type(owner, "quote")
    keys = [f"K{number:02}" for number in range(20)]
    await freshness.watch("quote", keys)
    queueing = (
        "select livewell.enqueue_jobs(jsonb_build_array(jsonb_build_object('kind', 'refresh.quote', 'dedupe_key',"
        " 'refresh/quote/K07', 'endpoint', t.endpoint, 'payload', jsonb_build_object('a', 1))))"
        " from livewell_private.data_type as t where t.name = 'quote'"
    )
    async with idle_in_transaction(owner_url, queueing):
        await freshness.tick()
        queued = await owner.fetch("select payload ->> 'key' from livewell_private.job_live")
        assert {row[0] for row in queued} == set(keys) - {"K07"}
    assert await owner.fetchval("select due_at from livewell_private.item where key = 'K07'") == NOON + timedelta(
        seconds=10
    )


async def test_a_table_that_somebody_has_locked(owner: Database, owner_url: str, freshness: Freshness) -> None:
    """A user's table under an exclusive lock fails the check of its own type; the others are looked at."""
    await owner.execute("create table public.quotes (symbol text primary key, fetched_at timestamptz)")
    await owner.execute("grant select on public.quotes to livewell_owner")
    columns = {"table_name": "public.quotes", "key_column": "symbol", "time_column": "fetched_at"}
    await make_type(owner, "quote", **columns)
    await make_type(owner, "note")
    await freshness.watch("quote", ["A"])
    await freshness.watch("note", ["A"])
    async with idle_in_transaction(owner_url, "lock table public.quotes"):
        await freshness.tick()
    assert await owner.fetchval("select decision from livewell_private.item where data_type = 'note'") == "queued"
    assert ("freshness.check_failed", "quote") in await freshness.warnings()


async def test_a_key_that_somebody_is_adding(owner: Database, owner_url: str) -> None:
    """An item in somebody's open transaction has no id for others yet; those beside it are made."""
    await make_type(owner, "quote")
    make = "select livewell_private.make_items(array['quote', 'quote', 'quote'], array['A', 'B', 'C'], now())"
    async with idle_in_transaction(owner_url, "select livewell_private.make_items(array['quote'], array['B'], now())"):
        await owner.execute(make)
        assert [row[0] for row in await owner.fetch("select key from livewell_private.item order by 1")] == ["A", "C"]
    await owner.execute(make)
    assert [row[0] for row in await owner.fetch("select key from livewell_private.item order by 1")] == ["A", "B", "C"]
