"""What is stored of items is read by one call: value, age, viewers, and why it is as it is."""

import secrets
from typing import Any

import pytest

from livewell.fetching import InvalidRead, Items, StoredItem
from livewell.fetching.tests.storing_surface import (
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    Storing,
    failed,
    gone,
    make_quotes,
    refused,
)
from livewell.kernel import Database, DatabaseOptions
from livewell.registry import UnknownType
from livewell.testing import Standby, grant_table, make_table, make_type


@pytest.fixture
def items(database: Database) -> Items:
    return Items(database)


async def decided(owner: Database, key: str, decision: str, viewers: int = 1) -> None:
    await owner.execute(
        "insert into livewell_private.item (data_type, key, viewers, decision, due_at) values ('quote', $1, $2,"
        " $3, now())"
        " on conflict (data_type, key) do update set viewers = excluded.viewers, decision = excluded.decision",
        key,
        viewers,
        decision,
    )


async def test_a_record_is_read_with_its_age(owner: Database, storing: Storing, items: Items) -> None:
    """What is kept in Livewell's own table is read with when it was fetched, its age, and that it is fresh."""
    await make_type(owner, "quote")
    await storing.fetch("quote", {"AAPL": {"price": 190.12}})
    assert await items.get("quote", "AAPL", now=NOON + SECOND) == StoredItem(
        type="quote",
        key="AAPL",
        value={"price": 190.12},
        fetched_at=NOON,
        age=SECOND,
        is_stale=False,
        viewers=0,
        why="fresh",
    )


async def test_keys_are_answered_in_their_order(owner: Database, storing: Storing, items: Items) -> None:
    """Many keys are one call, answered by position, also those that are unknown, no keys at all, or named twice."""
    await make_type(owner, "quote")
    await storing.fetch("quote", {"AAPL": {"price": 1}, "MSFT": {"price": 2}})
    asked = ["MSFT", "NOSUCH", "AAPL", "a b; drop table x", "MSFT"]
    found = await items.get_many("quote", asked, now=NOON)
    assert [(item.key, item.value and item.value["price"], item.why) for item in found] == [
        ("MSFT", 2, "fresh"),
        ("NOSUCH", None, "never fetched"),
        ("AAPL", 1, "fresh"),
        ("a b; drop table x", None, "no key of this type"),
        ("MSFT", 2, "fresh"),
    ]
    assert await items.get_many("quote", []) == []


async def test_an_unknown_type_is_one_line(owner: Database, items: Items) -> None:
    """A type that nobody declared is refused, with what was probably meant."""
    await make_type(owner, "quote")
    with pytest.raises(UnknownType, match="unknown type quots") as refused_:
        await items.get("quots", "AAPL")
    assert refused_.value.fix == "did you mean quote?"


async def test_too_many_keys_are_refused(owner: Database, items: Items) -> None:
    """No more keys than the setting says are read by one call, and a list of keys must be there."""
    await make_type(owner, "quote")
    await owner.execute("update livewell_private.setting set value = '2' where name = 'fetching.keys_per_read'")
    assert len(await items.get_many("quote", ["A", "B"])) == 2
    with pytest.raises(InvalidRead, match="no more than 2 keys are read at once, not 3"):
        await items.get_many("quote", ["A", "B", "C"])
    with pytest.raises(InvalidRead, match="keys to read are missing"):
        await owner.fetch("select * from livewell.read_items('quote', null)")


async def test_a_table_with_one_row_per_key_gives_the_row(owner: Database, storing: Storing, items: Items) -> None:
    """Where the key alone is unique in the user's table, a value is the row with all its columns."""
    await make_quotes(owner)
    await storing.fetch("quote", {"AAPL": {"price": 3, "volume": 7}})
    found = await items.get("quote", "AAPL", now=NOON + 2 * MINUTE)
    assert (found.value["price"], found.value["volume"], found.fetched_at) == (3, 7, NOON)
    assert (found.is_stale, found.why) == (True, "stale: nobody watches it")


async def test_a_table_with_many_rows_per_key_gives_all(owner: Database, items: Items) -> None:
    """Where a key may have several rows, a value is their list, the newest first, up to the setting."""
    table = await make_table(owner, "public.news")
    await make_type(owner, "news", **table)
    await owner.execute(
        "insert into public.news select k, $1::timestamptz + n * interval '1 second', to_jsonb(n)"
        " from unnest(array['A', 'B']) as k, generate_series(1, 5) as n",
        NOON,
    )
    found = await items.get("news", "A", now=NOON + MINUTE)
    assert [row["value"] for row in found.value] == [5, 4, 3, 2, 1]
    assert found.fetched_at == NOON + 5 * SECOND
    await owner.execute("update livewell_private.setting set value = '2' where name = 'fetching.rows_per_key'")
    assert [row["value"] for row in (await items.get("news", "B", now=NOON)).value] == [5, 4]
    assert (await items.get("news", "C", now=NOON)).value is None


@pytest.mark.parametrize(
    ("column", "key", "other"),
    [
        ("integer", "1", "one"),
        ("char(8)", "AAPL", "A"),
        ("uuid", "00000000-0000-4000-8000-000000000007", "7"),
        ("public.ticker", "AAPL", "7"),
    ],
)
async def test_a_key_column_may_be_of_any_type(
    owner: Database, items: Items, column: str, key: str, other: str
) -> None:
    """A key is read by the type of its column; one that the column cannot hold, or not as it is, finds nothing."""
    await owner.execute("create domain public.ticker as text check (value ~ '^[A-Z]+$')")
    await owner.execute(f"create table public.things (k {column} primary key, at timestamp)")
    await grant_table(owner, "public.things")
    await owner.execute(f"insert into public.things values ('{key}', timestamp '2026-11-16 12:00')")
    await make_type(owner, "thing", table_name="public.things", key_column="k", time_column="at")
    for asked in ([key, other], [other, key], [key, other, key]):
        found = await items.get_many("thing", asked, now=NOON + SECOND)
        assert [item.key for item in found] == asked
        for item in found:
            assert (item.value is None, item.is_stale) == ((item.key == other,) * 2)
            assert item.fetched_at == (None if item.key == other else NOON)


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        ("gate_closed", "its gate is closed"),
        ("quota_closed", "the quota of its provider is used up"),
        ("endpoint_closed", "its endpoint is closed"),
        ("not_worth", "it seldom changes"),
        ("waiting", "others go first"),
        ("queue_full", "others go first"),
        ("queued", "being refreshed"),
    ],
)
async def test_what_is_stale_says_what_was_decided(
    owner: Database, storing: Storing, items: Items, decision: str, said: str
) -> None:
    """A watched item that is stale, or was never fetched, says in words what the checker decided."""
    await make_type(owner, "quote")
    await owner.execute("select livewell.register_worker('w', '{refresh}', '{refresh.quote}', 1)")
    await storing.fetch("quote", {"AAPL": {"price": 1}})
    for key in ("AAPL", "MSFT"):
        await decided(owner, key, decision)
    found = await items.get_many("quote", ["AAPL", "MSFT"], now=NOON + HOUR)
    assert [(item.why, item.viewers) for item in found] == [(f"stale: {said}", 1), (f"never fetched: {said}", 1)]
    assert (await items.get("quote", "AAPL", now=NOON)).why == "fresh"


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        (failed, "the fetch failed (nothing came)"),
        (refused, "the answer was refused (not as it should be)"),
        (gone, "the provider does not have it (no such thing)"),
    ],
)
async def test_what_is_stale_says_how_its_last_refresh_ended(
    owner: Database, storing: Storing, items: Items, ending: Any, said: str
) -> None:
    """After a refresh that brought nothing the reason is said, until one brings something."""
    await make_type(owner, "quote")
    await storing.end(ending(await storing.hold_one("quote")))
    assert (await items.get("quote", "AAPL", now=NOON)).why == f"never fetched: {said}"
    await storing.fetch("quote", {"AAPL": {"price": 1}}, now=NOON + HOUR)
    assert (await items.get("quote", "AAPL", now=NOON + HOUR)).why == "fresh"
    await storing.end(ending(await storing.hold_one("quote", now=NOON + 2 * HOUR)), now=NOON + 2 * HOUR)
    assert (await items.get("quote", "AAPL", now=NOON + 2 * HOUR)).why == f"stale: {said}"


async def test_what_holds_a_refresh_is_the_reason(owner: Database, items: Items) -> None:
    """A watched item whose refresh is not sent says what holds it: no worker, a provider that asked for a pause."""
    await make_type(owner, "quote")
    await decided(owner, "AAPL", "queued")
    await owner.execute("select livewell.register_worker('w', '{refresh}', '{refresh.other}', 1)")
    assert (await items.get("quote", "AAPL")).why == "never fetched: no worker runs refreshes of quote"
    await owner.execute("select livewell.register_worker('w', '{refresh}', '{refresh.quote}', 1)")
    assert (await items.get("quote", "AAPL")).why == "never fetched: being refreshed"
    await owner.execute("select livewell.pause_endpoint('sim/quote', p_reason => 'HTTP 429')")
    assert (await items.get("quote", "AAPL")).why == "never fetched: sim/quote takes no calls: HTTP 429"


async def test_a_check_that_fails_is_the_reason(owner: Database, items: Items) -> None:
    """An item whose staleness function fails is stale for that reason, and what is stored is read all the same."""
    await make_quotes(owner)
    await owner.execute("insert into public.quotes (symbol, price, fetched_at) values ('A', 1, $1)", NOON)
    await owner.execute(
        "create function public.judge(timestamptz, interval, timestamptz) returns boolean language plpgsql"
        " as $$ begin raise exception 'no idea'; end $$"
    )
    await owner.execute("update livewell_private.data_type set staleness = 'public.judge'")
    found = await items.get("quote", "A", now=NOON)
    assert (found.value["price"], found.fetched_at, found.is_stale) == (1, NOON, True)
    assert found.why == "stale: its check failed (P0001: no idea)"


async def test_reading_changes_nothing(owner: Database, items: Items) -> None:
    """Whoever reads is no viewer: no item is made and nothing is queued, so that a replica can be read."""
    await make_type(owner, "quote")
    await items.get("quote", "AAPL")
    async with owner.connection() as connection, connection.transaction(readonly=True):
        assert len(await connection.fetch("select * from livewell.read_items('quote', array['AAPL'])")) == 1
    assert await owner.fetchval("select count(*) from livewell_private.item") == 0
    assert await owner.fetchval("select count(*) from livewell_private.job_live") == 0


@pytest.mark.xdist_group("standby")
async def test_a_replica_can_be_read(shared_standby: Standby) -> None:
    """What is stored is read on a standby too, records and tables, also with a key its column cannot hold."""
    name = f"read-{secrets.token_hex(4)}"
    async with await Database.open(DatabaseOptions(url=shared_standby.primary.owner_url)) as primary:
        table = name.replace("-", "_")
        await primary.execute(f"create table public.{table} (k integer primary key, at timestamptz)")
        await primary.execute(f"insert into public.{table} values (1, now())")
        await grant_table(primary, f"public.{table}")
        await make_type(primary, f"{name}-table", table_name=f"public.{table}", key_column="k", time_column="at")
        await make_type(primary, f"{name}-record")
        await primary.execute(
            "insert into livewell_private.record (data_type, key, value, fetched_at) values ($1, '1', '{}', now())",
            f"{name}-record",
        )
    await shared_standby.caught_up()
    async with await Database.open(DatabaseOptions(url=shared_standby.database_url)) as replica:
        for where in ("table", "record"):
            found = await Items(replica).get_many(f"{name}-{where}", ["1", "one"])
            assert [(item.value is None, item.is_stale) for item in found] == [(False, False), (True, True)]
