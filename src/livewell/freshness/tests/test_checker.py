"""The checker: what is stale, what is done about it, and that every look moves its item on."""

from datetime import timedelta
from typing import Any

import pytest

from livewell.freshness.tests.surface import DAY, MINUTE, NOON, SECOND, Freshness
from livewell.kernel import Database
from livewell.testing import make_table, make_type


async def _quotes(owner: Database, **fields: Any) -> None:
    await make_type(owner, "quote", **await make_table(owner, "public.quotes"), **fields)


async def _row(owner: Database, key: str, fetched_at: object) -> None:
    await owner.execute("insert into public.quotes (symbol, fetched_at) values ($1, $2)", key, fetched_at)


async def test_missing_is_stale(owner: Database, freshness: Freshness) -> None:
    """What has no row, or no time in it, is stale and queued once, with its dedupe key, kind and cause."""
    await _quotes(owner)
    await _row(owner, "MSFT", None)
    await freshness.watch("quote", ["AAPL", "MSFT"], viewers=3)
    assert await freshness.tick() == {"checked": 2, "queued": 2}
    assert await freshness.jobs() == {"refresh/quote/AAPL": 3, "refresh/quote/MSFT": 3}
    job = await owner.fetchrow(
        "select kind, endpoint, payload::text as payload, serial_key from livewell_private.job_live limit 1"
    )
    assert job is not None
    assert (job["kind"], job["endpoint"], job["serial_key"]) == ("refresh.quote", "sim/quote", "sim/AAPL")
    assert '"cause": "missing"' in job["payload"]
    assert await freshness.tick(NOON + SECOND) == {}


async def test_fresh_until_it_expires(owner: Database, freshness: Freshness) -> None:
    """What is fresh is due when it expires, not before, and then it is stale."""
    await _quotes(owner)
    await _row(owner, "AAPL", NOON - 20 * SECOND)
    [item] = await freshness.watch("quote", ["AAPL"])
    assert await freshness.tick() == {"checked": 1, "fresh": 1}
    assert (await freshness.item(item))["due_at"] == NOON + 40 * SECOND
    assert await freshness.tick(NOON + 39 * SECOND) == {}
    assert await freshness.tick(NOON + 40 * SECOND) == {"checked": 1, "queued": 1}


async def test_a_schema_need_be_open_to_the_reader_alone(owner: Database, freshness: Freshness) -> None:
    """What `grant usage … to livewell_reader` says is enough; livewell_owner needs no right there."""
    await owner.execute("create schema shop")
    await owner.execute("grant usage on schema shop to livewell_reader")
    await make_type(owner, "quote", **await make_table(owner, "shop.quotes"))
    await owner.execute("insert into shop.quotes (symbol, fetched_at) values ('AAPL', $1)", NOON)
    await freshness.watch("quote", ["AAPL"])
    async with owner.transaction() as connection:
        await connection.execute("set local role livewell_owner")
        assert await Freshness(connection).tick() == {"checked": 1, "fresh": 1}


async def test_newest_row_decides(owner: Database, freshness: Freshness) -> None:
    """Of many rows of a key the newest counts; an old or empty one beside it makes nothing stale."""
    await _quotes(owner)
    for age in (DAY, 10 * SECOND, 100 * DAY):
        await _row(owner, "AAPL", NOON - age)
    await _row(owner, "AAPL", None)
    await freshness.watch("quote", ["AAPL"])
    assert await freshness.tick() == {"checked": 1, "fresh": 1}


async def test_row_overrides_ttl(owner: Database, freshness: Freshness) -> None:
    """A row's own TTL counts where the table has the column and the row a value, as an interval or as minutes."""
    table = await make_table(owner, "public.quotes", ttl_column="keep")
    await make_type(owner, "quote", **table)
    await owner.execute(
        "insert into public.quotes values ('A', $1, null, '2 hours'), ('B', $1, null, null)", NOON - MINUTE
    )
    a, b = await freshness.watch("quote", ["A", "B"])
    assert await freshness.check([a, b]) == {a: "fresh", b: "queued"}
    assert (await freshness.item(a))["due_at"] == NOON + 119 * MINUTE
    await owner.execute("alter table public.quotes alter column keep type integer using extract(epoch from keep) / 60")
    assert await freshness.check([a]) == {a: "fresh"}
    assert (await freshness.item(a))["due_at"] == NOON + 119 * MINUTE


async def test_records(owner: Database, freshness: Freshness) -> None:
    """A type without a table of its own is judged by Livewell's records."""
    await make_type(owner, "note", ttl=DAY)
    a, b = await freshness.watch("note", ["A", "B"])
    await owner.execute(
        "insert into livewell_private.record (data_type, key, value, fetched_at) values ('note', 'A', '{}', $1)",
        NOON - MINUTE,
    )
    assert await freshness.check([a, b]) == {a: "fresh", b: "queued"}


async def test_own_staleness_function(owner: Database, freshness: Freshness) -> None:
    """A type may judge by a function of its user; null is stale, and fresh past the TTL is looked at again soon."""
    await owner.execute(
        """
        create function public.weekly(p_fetched_at timestamptz, p_ttl interval, p_now timestamptz) returns boolean
        language sql immutable as $$ select case when p_fetched_at < '2026-01-01' then null else false end $$
        """
    )
    await _quotes(owner, staleness="public.weekly")
    await _row(owner, "A", NOON - DAY)
    await _row(owner, "B", NOON - 1000 * DAY)
    a, b = await freshness.watch("quote", ["A", "B"])
    assert await freshness.check([a, b]) == {a: "fresh", b: "queued"}
    assert NOON < (await freshness.item(a))["due_at"] <= NOON + MINUTE


async def test_poisoned_row(owner: Database, freshness: Freshness) -> None:
    """A row whose check fails is stale and warned about; the others of its type are judged as ever."""
    table = await make_table(owner, "public.quotes", ttl_column="keep")
    await make_type(owner, "quote", **table)
    await owner.execute(
        "insert into public.quotes select 'K' || n, $1, null, case when n = 13 then interval '-1 hour' end"
        " from generate_series(1, 50) as n",
        NOON,
    )
    await freshness.watch("quote", [f"K{number}" for number in range(1, 51)])
    assert await freshness.tick() == {"checked": 50, "fresh": 49, "queued": 1}
    assert await freshness.jobs() == {"refresh/quote/K13": 1}
    assert "a TTL is a positive time" in (await freshness.warnings())["freshness.check_failed", "quote"]


async def test_failed_check_refreshes_once_per_ttl(owner: Database, freshness: Freshness) -> None:
    """What is stale only because its check failed is refreshed at most once per TTL."""
    await _quotes(owner, ttl=timedelta(hours=1))
    [item] = await freshness.watch("quote", ["AAPL"])
    await owner.execute("alter table public.quotes rename to gone")
    assert await freshness.tick() == {"checked": 1, "queued": 1}
    await owner.execute("delete from livewell_private.job_live")
    assert await freshness.check([item], NOON + 59 * MINUTE) == {item: "check_failed"}
    assert (await freshness.item(item))["due_at"] == NOON + 60 * MINUTE
    assert await freshness.check([item], NOON + 60 * MINUTE) == {item: "queued"}


@pytest.mark.parametrize(
    "breakage",
    [
        "drop table public.quotes",
        "alter table public.quotes rename column fetched_at to taken_at",
        "update livewell_private.data_type set staleness = 'public.no_such_function' where name = 'quote'",
        "revoke all on public.quotes from livewell_reader",
        "update livewell_private.data_type set gate = 'public.no_such_gate' where name = 'quote'",
    ],
)
async def test_broken_type(owner: Database, freshness: Freshness, breakage: str) -> None:
    """A type that is broken as a whole stops only itself: the others are checked, and a warning says why."""
    await _quotes(owner)
    await _row(owner, "AAPL", NOON - DAY)
    await make_type(owner, "note")
    await freshness.watch("quote", ["AAPL"])
    await freshness.watch("note", ["AAPL"])
    await owner.execute(breakage)
    assert (await freshness.tick())["queued"] == 2
    assert [subject for _, subject in await freshness.warnings()] == ["quote"]


async def test_bounded_and_fair(owner: Database, freshness: Freshness) -> None:
    """A run looks at so many items and no more, the longest due first; the next run reaches the others."""
    await make_type(owner, "note")
    ids = await freshness.watch("note", [f"K{number}" for number in range(25)])
    for number, item in enumerate(ids):
        await owner.execute("update livewell_private.item set due_at = $2 where id = $1", item, NOON - number * SECOND)
    await owner.execute("update livewell_private.setting set value = '10' where name = 'freshness.max_items'")
    assert (await freshness.tick())["checked"] == 10
    looked = await owner.fetch("select id from livewell_private.item where decision is not null order by id")
    assert [row["id"] for row in looked] == ids[15:]
    assert (await freshness.tick())["checked"] == 10
    assert (await freshness.tick())["checked"] == 5
    assert await freshness.tick() == {}


async def test_unwatched_is_left_alone(owner: Database, freshness: Freshness) -> None:
    """What nobody looks at is not looked at."""
    await make_type(owner, "note")
    await freshness.items("note", ["A"])
    assert await freshness.tick(NOON + DAY) == {}


async def test_raised_by_more_viewers(owner: Database, freshness: Freshness) -> None:
    """A refresh that waits is queued once, and rises with its viewers when its item is looked at again."""
    await make_type(owner, "note")
    [item] = await freshness.watch("note", ["A"], viewers=2)
    await freshness.tick()
    await freshness.change([item], 5, NOON + SECOND)
    await freshness.tick(NOON + 3 * MINUTE)
    assert await freshness.jobs() == {"refresh/note/A": 7}


async def test_floor_and_priority(owner: Database, freshness: Freshness) -> None:
    """The priority is the greater of the viewers and the type's floor, or what the caller's rule says."""
    await make_type(owner, "statement", priority_floor=500)
    await make_type(owner, "note")
    a, b = await freshness.watch("statement", ["A", "B"], viewers=3)
    c, d = await freshness.watch("note", ["C", "D"], viewers=3)
    await freshness.check([a, c])
    await freshness.check([b, d], priority=1000, cause="subscribe")
    assert await freshness.jobs() == {
        "refresh/statement/A": 500,
        "refresh/note/C": 3,
        "refresh/statement/B": 1000,
        "refresh/note/D": 1000,
    }


async def test_closed_endpoint(owner: Database, freshness: Freshness) -> None:
    """Nothing is queued for an endpoint that is disabled; it is looked at again."""
    await make_type(owner, "note")
    [item] = await freshness.watch("note", ["A"])
    await owner.execute("update livewell_private.endpoint set state = 'disabled' where name = 'sim/note'")
    assert await freshness.tick() == {"checked": 1, "endpoint_closed": 1}
    assert (await freshness.item(item))["due_at"] == NOON + MINUTE
    assert await freshness.jobs() == {}


async def test_full_queue(owner: Database, freshness: Freshness) -> None:
    """No more is queued than the endpoint lets wait; the rest is looked at again soon, and most watched goes first."""
    await make_type(owner, "note")
    await owner.execute("update livewell_private.endpoint set depth_limit = 3 where name = 'sim/note'")
    for number in range(6):
        await freshness.watch("note", [f"K{number}"], viewers=number + 1)
    assert await freshness.tick() == {"checked": 6, "queued": 3, "queue_full": 3}
    assert await freshness.jobs() == {"refresh/note/K5": 6, "refresh/note/K4": 5, "refresh/note/K3": 4}
    assert await freshness.tick(NOON + 5 * SECOND) == {"checked": 3, "queue_full": 3}


async def test_sweep(owner: Database, freshness: Freshness) -> None:
    """A slow sweep finds what nobody told: a row that was emptied, in slices that reach everything watched."""
    await _quotes(owner, ttl=DAY)
    keys = [f"K{number}" for number in range(5)]
    for key in keys:
        await _row(owner, key, NOON)
    await freshness.watch("quote", keys)
    assert (await freshness.tick())["fresh"] == 5
    await owner.execute("update public.quotes set fetched_at = null where symbol = 'K4'")
    for _ in range(3):
        await owner.execute("select livewell_private.sweep_items(2, $1)", NOON + MINUTE)
    assert await freshness.tick(NOON + MINUTE) == {"checked": 5, "fresh": 4, "queued": 1}
    assert await owner.fetchval("select reached from livewell_private.freshness_walk where name = 'sweep'") is None


async def test_changed_ttl(owner: Database, freshness: Freshness) -> None:
    """When what decides about age changes, everything watched of the type is due with the same statement."""
    now = await owner.fetchval("select clock_timestamp()")
    await _quotes(owner, ttl=DAY)
    await _row(owner, "AAPL", now - MINUTE)
    await freshness.watch("quote", ["AAPL"], now=now)
    assert await freshness.tick(now) == {"checked": 1, "fresh": 1}
    await owner.execute("update livewell_private.data_type set ttl = '30 seconds'")
    assert await freshness.tick(now + MINUTE) == {"checked": 1, "queued": 1}


async def _gate(owner: Database) -> None:
    """A gate of the user's: open for keys that begin with O, else open again in an hour."""
    await owner.execute(
        """
        create function public.my_gate(p_keys text[], p_now timestamptz)
        returns table (key text, open boolean, opens_at timestamptz) language sql stable security definer as $$
            select k, k like 'O%', case when k not like 'O%' then p_now + interval '1 hour' end from unnest(p_keys) as k
        $$
        """
    )


async def test_closed_gate(owner: Database, freshness: Freshness) -> None:
    """While a gate is closed what is there is looked at again when it opens; what is missing is fetched."""
    await _gate(owner)
    await _quotes(owner, gate="public.my_gate")
    await _row(owner, "OPEN", NOON - DAY)
    await _row(owner, "CLOSED", NOON - DAY)
    opened, closed, missing = await freshness.watch("quote", ["OPEN", "CLOSED", "MISSING"])
    assert await freshness.check([opened, closed, missing]) == {
        opened: "queued",
        closed: "gate_closed",
        missing: "queued",
    }
    assert (await freshness.item(closed))["due_at"] == NOON + 60 * MINUTE
