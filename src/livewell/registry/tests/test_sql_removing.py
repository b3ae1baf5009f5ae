"""Removing a type: refused while it is in use, and when forced nothing of it stays stuck."""

import asyncio
from uuid import uuid4

import pytest

from livewell.kernel import Database
from livewell.registry import TypeInUse, UnknownType
from livewell.registry.tests.surface import NOON, Registry
from livewell.testing import make_table, make_type

JOBS = """select livewell.enqueue_jobs(jsonb_agg(jsonb_build_object(
    'kind', 'refresh.quote', 'payload', jsonb_build_object('key', k), 'dedupe_key', 'refresh/quote/' || k
))) from unnest(array['A', 'B']) as k"""


SUBSCRIBE = "select outcomes from livewell.subscribe($1, array_fill('quote'::text, array[cardinality($2::text[])]), $2)"


async def _in_use(registry: Registry, owner: Database) -> None:
    table = await make_table(owner, "public.quotes")
    await owner.execute("insert into public.quotes values ('A', $1)", NOON)
    await make_type(owner, "quote", **table)
    await make_type(owner, "other")
    await owner.execute(
        "insert into livewell_private.record (data_type, key, value) values ('quote', 'A', '{}'), ('other', 'A', '{}')"
    )
    await registry.import_keys("quote", ["A", "B"])
    await owner.execute(
        "insert into livewell_private.item (data_type, key, viewers, due_at)"
        " values ('quote', 'A', 1, $1), ('quote', 'B', 0, $1), ('other', 'A', 1, $1)",
        NOON,
    )
    await owner.execute(
        "insert into livewell_private.viewer (item_id, user_id, sessions) select id, 'u', 1 from livewell_private.item"
    )
    await owner.execute(
        "insert into livewell_private.subscription select gen_random_uuid(), id from livewell_private.item"
    )
    await owner.execute("insert into livewell_private.type_learning (data_type) values ('quote')")
    await owner.fetch(JOBS)


async def test_a_type_in_use_is_not_removed(registry: Registry, owner: Database) -> None:
    """Refreshes, items, records or keys of a type are named, and nothing is changed."""
    await _in_use(registry, owner)
    with pytest.raises(TypeInUse, match="2 items, 2 keys, 1 records, 2 refreshes"):
        await registry.remove("quote")
    assert await registry.row("quote")
    assert await owner.fetchval("select count(*) from livewell_private.job_live") == 2
    with pytest.raises(UnknownType):
        await registry.remove("quotes")


async def test_a_removed_type_leaves_nothing_stuck(registry: Registry, owner: Database) -> None:
    """Forced: waiting refreshes are cancelled, running ones told, its rows go; a user's table and other types stay."""
    await _in_use(registry, owner)
    (claimed,) = await owner.fetch("select job_id from livewell.claim_jobs('w1', array['refresh'], 1)")
    assert await registry.remove("quote", force=True) == {"refreshes": 2, "items": 2, "records": 1, "keys": 2}
    live = await owner.fetch("select id, cancel_reason from livewell_private.job_live")
    assert [tuple(row) for row in live] == [(claimed["job_id"], "type quote was removed")]
    assert await owner.fetchval("select state from livewell_private.job_done") == "cancelled"
    for table, left in [
        ("item", 1),
        ("record", 1),
        ("viewer", 1),
        ("subscription", 1),
        ("type_key", 0),
        ("type_learning", 0),
    ]:
        assert await owner.fetchval(f"select count(*) from livewell_private.{table}") == left, table
    assert await owner.fetchval("select count(*) from public.quotes") == 1
    assert await registry.row("quote") == {}


async def test_removing_races_with_viewers(registry: Registry, owner: Database, database: Database) -> None:
    """Who leaves while a type is removed is in nobody's way, and no viewer of what is gone stays."""
    for turn in range(5):
        await make_type(owner, "quote", endpoint="sim/quote")
        sessions = [uuid4() for _ in range(20)]
        users = [f"u{number % 5}" for number in range(20)]
        await database.fetchval("select livewell.open_sessions($1, $2, $3)", sessions, users, f"g{turn}")
        watch = [database.fetch(SUBSCRIBE, [session] * 10, [f"K{n}" for n in range(10)]) for session in sessions[:10]]
        await asyncio.gather(*watch)
        leave = [database.fetchval("select livewell.close_sessions($1)", [session]) for session in sessions[:10]]
        await asyncio.gather(*leave, registry.remove("quote", force=True))
        for table in ("item", "viewer", "subscription"):
            assert await owner.fetchval(f"select count(*) from livewell_private.{table}") == 0, table


async def test_a_type_comes_back_as_new(registry: Registry, owner: Database) -> None:
    """A type that was removed can be declared again; its kind is known still."""
    await registry.put("quote", endpoint="sim/quote", ttl="1 minute", queue_group="core")
    await registry.remove("quote")
    await registry.put("quote", endpoint="sim/quote", ttl="1 minute")
    assert (
        await owner.fetchval("select queue_group from livewell_private.job_kind where kind = 'refresh.quote'")
        == "refresh"
    )


async def test_an_unused_type_is_removed_without_force(registry: Registry) -> None:
    """Nothing stands on it: nothing is lost."""
    await registry.put("quote", endpoint="sim/quote", ttl="1 minute")
    assert await registry.remove("quote") == {"refreshes": 0, "items": 0, "records": 0, "keys": 0}


async def test_removing_races_with_a_check(registry: Registry, owner: Database) -> None:
    """Whatever a checker queues while a type is being removed is cancelled with it."""
    for _ in range(5):
        await make_type(owner, "quote", endpoint="sim/quote")
        await owner.execute(
            "insert into livewell_private.item (data_type, key, viewers, due_at)"
            " select 'quote', 'K' || n, 1, $1 from generate_series(1, 200) n",
            NOON,
        )
        await asyncio.gather(
            owner.fetchval("select livewell_private.task_check($1)", NOON), registry.remove("quote", force=True)
        )
        assert await owner.fetchval("select count(*) from livewell_private.job_live") == 0
        assert await owner.fetchval("select count(*) from livewell_private.item") == 0
