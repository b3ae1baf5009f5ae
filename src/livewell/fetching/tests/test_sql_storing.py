"""Storing a batch: what is kept, in tables and records, and what becomes of jobs and items."""

from typing import Any

import asyncpg
import pytest

from livewell.fetching.errors import InvalidFetches
from livewell.fetching.tests.storing_surface import (
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    Storing,
    failed,
    fetched,
    gone,
    make_quotes,
    refused,
    throttled,
    unchanged,
)
from livewell.kernel import Database
from livewell.testing import make_endpoint, make_type

STORED = ("completed", "fetched", None)


async def test_rows_go_into_the_table(owner: Database, storing: Storing) -> None:
    """Rows are stored under their keys with the time of the fetch; the jobs are done, the items due after the TTL."""
    await make_quotes(owner)
    held = await storing.hold("quote", "AAPL", "MSFT")
    ended = [fetched(job, {"symbol": job["key"], "price": 190.12, "volume": 7}) for job in held]
    assert await storing.end(*ended) == {"AAPL": STORED, "MSFT": STORED}
    assert await storing.table("public.quotes", "symbol, price::float, volume, fetched_at") == [
        ("AAPL", 190.12, 7, NOON),
        ("MSFT", 190.12, 7, NOON),
    ]
    assert await owner.fetchval("select count(*) from livewell_private.job_live") == 0
    item = await storing.item(held[0]["item"])
    assert (item["last_outcome"], item["due_at"]) == ("fetched", NOON + MINUTE)


async def test_first_seen_at_is_kept(owner: Database, storing: Storing) -> None:
    """`first_seen_at` is the time of the first fetch and no later one changes it, also when rows bring one."""
    await make_quotes(owner)
    await storing.fetch("quote", {"AAPL": {"price": 1}})
    await storing.fetch("quote", {"AAPL": {"price": 2}}, NOON + HOUR)
    await storing.fetch("quote", {"AAPL": {"price": 3, "first_seen_at": NOON + HOUR}}, NOON + 2 * HOUR)
    assert await storing.table("public.quotes", "price::int, fetched_at, first_seen_at") == [(3, NOON + 2 * HOUR, NOON)]


async def test_unchanged_moves_the_time(owner: Database, storing: Storing) -> None:
    """An unchanged answer is a success that moves the time of the row and touches nothing else."""
    await make_quotes(owner)
    await make_type(owner, "note")
    await storing.fetch("quote", {"AAPL": {"price": 1}})
    await storing.fetch("note", {"AAPL": {"text": "a"}})
    held = [await storing.hold_one(name, now=NOON + MINUTE) for name in ("quote", "note")]
    for job in held:
        assert await storing.end(unchanged(job), now=NOON + MINUTE) == {
            "AAPL": ("completed", "unchanged", "not_modified")
        }
    assert await storing.table("public.quotes", "price::int, fetched_at") == [(1, NOON + MINUTE)]
    assert await storing.table("livewell_private.record", "value ->> 'text', fetched_at") == [("a", NOON + MINUTE)]


async def test_same_content_is_unchanged(owner: Database, storing: Storing) -> None:
    """The same content again is unchanged and moves the time."""
    await make_quotes(owner)
    await make_type(owner, "note")
    for name in ("quote", "note"):
        await storing.fetch(name, {"AAPL": {"price": 1}})
        assert await storing.fetch(name, {"AAPL": {"price": 1}}, NOON + MINUTE) == {
            "AAPL": ("completed", "unchanged", "same_content")
        }
    assert await storing.table("public.quotes", "price::int, fetched_at") == [(1, NOON + MINUTE)]
    assert await storing.table("livewell_private.record", "value ->> 'price', fetched_at") == [("1", NOON + MINUTE)]


async def test_a_row_that_was_lost_comes_back(owner: Database, storing: Storing) -> None:
    """The same content again brings back a row that somebody had deleted; that is a change."""
    await make_quotes(owner)
    await storing.fetch("quote", {"AAPL": {"price": 1}})
    await owner.execute("delete from public.quotes")
    assert await storing.fetch("quote", {"AAPL": {"price": 1}}, NOON + MINUTE) == {"AAPL": STORED}
    assert await storing.table("public.quotes", "price::int, fetched_at") == [(1, NOON + MINUTE)]


async def test_unchanged_without_rows_is_refused(owner: Database, storing: Storing) -> None:
    """What is not stored cannot be unchanged: refused, and the next request asks without a condition."""
    await make_quotes(owner)
    await make_type(owner, "note")
    for name in ("quote", "note"):
        await storing.fetch(name, {"AAPL": {"price": 1}}, etag='"1"')
    await owner.execute("delete from public.quotes")
    await owner.execute("delete from livewell_private.record")
    for name in ("quote", "note"):
        held = await storing.hold_one(name, now=NOON + MINUTE)
        answer = await storing.end(unchanged(held, etag='"1"'), now=NOON + MINUTE)
        assert answer == {"AAPL": ("pending", "refused", "nothing_stored")}
    assert await storing.table("livewell_private.fetch_state", "*", "1") == []


async def test_records(owner: Database, storing: Storing) -> None:
    """A type without a table keeps its row as a record, or the list of its rows where a key may have many."""
    await make_type(owner, "note")
    await storing.fetch("note", {"A": {"text": "a"}})
    await storing.fetch("note", {"B": {"text": "b"}}, many=True)
    assert await storing.fetch("note", {"C": [{"text": "c"}, {"text": "d"}]}) == {
        "C": ("pending", "refused", "many_rows")
    }
    await storing.fetch("note", {"A": {"text": "z"}}, NOON + MINUTE, source_time=NOON)
    assert await storing.table(
        "livewell_private.record", "key, value::text, fetched_at, source_time, first_seen_at"
    ) == [
        ("A", '{"text": "z"}', NOON + MINUTE, NOON, NOON),
        ("B", '[{"text": "b"}]', NOON, None, NOON),
    ]


@pytest.mark.parametrize("table", [True, False])
@pytest.mark.parametrize(
    ("rule", "source", "expected", "price"),
    [
        (None, NOON - SECOND, ("pending", "refused", "old_data"), 1),
        ("not_older", NOON - SECOND, ("pending", "refused", "old_data"), 1),
        ("not_older", NOON, STORED, 2),
        ("not_older", NOON + SECOND, STORED, 2),
        ("newer", NOON - SECOND, ("pending", "refused", "old_data"), 1),
        ("newer", NOON, ("completed", "unchanged", "same_source_time"), 1),
        ("newer", NOON + SECOND, STORED, 2),
    ],
)
async def test_source_times(
    owner: Database, storing: Storing, *, table: bool, rule: str | None, source: Any, expected: Any, price: int
) -> None:
    """Older data is refused; of the same time it is stored under `not_older`, and unchanged under `newer`."""
    if table:
        await make_quotes(owner, source_time_column="source_at", source_rule=rule)
    else:
        await make_type(owner, "quote", source_rule=rule)
    await storing.fetch("quote", {"AAPL": {"price": 1}}, source_time=NOON)
    answer = await storing.fetch("quote", {"AAPL": {"price": 2}}, NOON + HOUR, source_time=source)
    assert answer == {"AAPL": expected}
    stored, times = (
        ("public.quotes", "price::int, source_at")
        if table
        else (
            "livewell_private.record",
            "(value ->> 'price')::int, source_time",
        )
    )
    assert await storing.table(stored, f"{times}, fetched_at") == [
        (price, max(NOON, source) if price == 2 else NOON, NOON + HOUR if expected[0] == "completed" else NOON)
    ]


async def test_what_was_held_back_is_not_known(owner: Database, storing: Storing) -> None:
    """Content that was not stored, for its source time, is a change when it comes again and is."""
    await make_quotes(owner, source_time_column="source_at", source_rule="newer")
    await storing.fetch("quote", {"AAPL": {"price": 1}}, source_time=NOON)
    await storing.fetch("quote", {"AAPL": {"price": 2}}, NOON + MINUTE, source_time=NOON)
    answer = await storing.fetch("quote", {"AAPL": {"price": 2}}, NOON + HOUR, source_time=NOON + MINUTE)
    assert answer == {"AAPL": STORED}


async def test_source_time_of_the_row(owner: Database, storing: Storing) -> None:
    """The source time is that of the row if it has one; without any, a type that compares them refuses."""
    await make_quotes(owner, source_time_column="source_at")
    await make_type(owner, "note", source_rule="newer")
    await storing.fetch("quote", {"AAPL": {"price": 1, "source_at": NOON}})
    answer = await storing.fetch("quote", {"AAPL": {"price": 2, "source_at": NOON - SECOND}}, source_time=NOON + HOUR)
    assert answer == {"AAPL": ("pending", "refused", "old_data")}
    missing = ("pending", "refused", "missing_source_time")
    assert await storing.fetch("quote", {"MSFT": {"price": 1}}) == {"MSFT": missing}
    assert await storing.fetch("note", {"MSFT": {"price": 1}}) == {"MSFT": missing}


async def test_a_lost_lease_stores_nothing(owner: Database, storing: Storing) -> None:
    """Whoever lost the lease is told so and changes nothing, also when it sends again; the others are stored."""
    await make_quotes(owner)
    mine, lost = await storing.hold("quote", "AAPL", "MSFT")
    await owner.execute(
        "update livewell_private.job_live set lease_token = gen_random_uuid() where id = $1", lost["job"]
    )
    ended = [fetched(job, {"price": 1}) for job in (mine, lost)]
    assert await storing.end(*ended) == {"AAPL": STORED, "MSFT": ("lost", "fetched", None)}
    assert await storing.end(*ended) == dict.fromkeys(("AAPL", "MSFT"), ("lost", "fetched", None))
    assert await storing.table("public.quotes", "symbol", "1") == [("AAPL",)]
    assert (await storing.item(lost["item"]))["last_outcome"] is None


async def test_how_jobs_end(owner: Database, storing: Storing) -> None:
    """Gone is done and says so; refused and failed cost a retry, throttled does not; each tells why."""
    await make_type(owner, "note")
    held = await storing.hold("note", "A", "B", "C", "D")
    ended = [gone(held[0]), refused(held[1]), failed(held[2], status=500), throttled(held[3])]
    assert await storing.end(*ended) == {
        "A": ("completed", "gone", None),
        "B": ("pending", "refused", "schema"),
        "C": ("pending", "failed", "timeout"),
        "D": ("pending", "throttled", None),
    }
    assert await storing.table("livewell_private.job_live", "payload ->> 'key', failures", "1") == [
        ("B", 1),
        ("C", 1),
        ("D", 0),
    ]
    assert await owner.fetchval("select result ->> 'outcome' from livewell_private.job_brief") == "gone"
    assert await storing.table("livewell_private.job_attempt", "error ->> 'reason', error ->> 'status'", "job_id") == [
        ("schema", None),
        ("timeout", "500"),
        (None, None),
    ]
    items = {job["key"]: await storing.item(job["item"]) for job in held}
    assert [items[key]["last_outcome"] for key in "ABCD"] == ["gone", "refused", "failed", None]
    assert await storing.warnings() == {"note": (1, "B: not as it should be (schema)")}


async def test_what_was_not_good_is_counted_with_its_reason(owner: Database, storing: Storing) -> None:
    """Once per type and outcome, however many keys: refused, failed and throttled; our own budget is nothing odd."""
    await make_type(owner, "note")
    held = await storing.hold("note", *"ABCDEF")
    ended = [refused(held[0]), failed(held[1], status=500), failed(held[2], status=500), throttled(held[3])]
    await storing.end(*ended, throttled(held[4], reason="no_permit"), gone(held[5]))
    rows = await owner.fetch("select code, subject, warnings, message from livewell.warnings order by code")
    assert [(row["code"], row["subject"], row["warnings"]) for row in rows] == [
        ("fetching.failed", "note", 2),
        ("fetching.refused", "note", 1),
        ("fetching.throttled", "note", 1),
    ]
    assert rows[2]["message"] == "D: too much"


async def test_a_refused_answer_is_no_fault_of_its_endpoint(owner: Database, storing: Storing) -> None:
    """However many answers are refused, the breaker of their endpoint stays closed; failures open it."""
    await make_endpoint(owner, "sim/shaky", breaker_failures=3)
    await make_type(owner, "note", endpoint="sim/shaky")
    keys = [f"K{n}" for n in range(8)]
    await owner.execute("update livewell_private.job_kind set retries = 1 where kind = 'refresh.note'")
    await storing.end(*map(refused, await storing.hold("note", *keys)))
    breaker = "select breaker from livewell_private.limit_use where name = 'sim/shaky'"
    assert await owner.fetchval(breaker) == "closed"
    again = await storing.end(*map(refused, await storing.hold("note", *keys)))
    assert set(again.values()) == {("failed", "refused", "schema")}
    assert await owner.fetchval(breaker) == "closed"
    await storing.end(*map(failed, await storing.hold("note", "X", "Y", "Z")))
    assert await owner.fetchval(breaker) == "open"


async def test_what_was_spent_is_settled(owner: Database, storing: Storing) -> None:
    """Bytes are booked for every outcome, refused and gone too, and not for what was never sent."""
    await make_type(owner, "note")
    held = await storing.hold("note", "A", "B", "C", "D")
    await storing.end(
        fetched(held[0], {"a": 1}, bytes=1000),
        refused(held[1], bytes=200),
        gone(held[2], bytes=30),
        failed(held[3], "connect", sent=False),
    )
    assert await storing.table("livewell_private.quota_hour", "sum(bytes)::int, sum(requests)::int", "1") == [(1230, 3)]


async def test_conditions(owner: Database, storing: Storing) -> None:
    """What an answer was marked with is kept for the next request until another answer says otherwise."""
    await make_type(owner, "note")
    conditions = "select etag, last_modified from livewell.fetch_conditions(array[$1::bigint])"
    seen = []
    for minute, told in enumerate(
        (
            {"etag": '"1"', "last_modified": "Mon"},
            {"outcome": "unchanged", "reason": "not_modified", "etag": '"1"'},
            {"outcome": "refused", "reason": "schema"},
            {"etag": '"2"'},
            {"etag": "x" * 2000},
        )
    ):
        held = await storing.hold_one("note", now=NOON + minute * MINUTE)
        await storing.end(fetched(held, {"minute": minute}) | told, now=NOON + minute * MINUTE)
        seen.append([tuple(row) for row in await owner.fetch(conditions, held["item"])])
    assert seen == [[('"1"', "Mon")], [('"1"', "Mon")], [('"1"', "Mon")], [('"2"', None)], []]


@pytest.mark.parametrize(
    "ended",
    ["{}", "null", "[1]", "[{}]", '[{"job": 1}]', '[{"job": 1, "token": "x"}]'],
)
async def test_nonsense_is_refused_whole(database: Database, ended: str) -> None:
    """What is no batch of ended refreshes is refused with a fact or a data error, and nothing is done."""
    with pytest.raises((InvalidFetches, asyncpg.DataError)):
        await database.fetch("select * from livewell.store_fetches($1::text::jsonb)", ended)


async def test_an_empty_batch_is_nothing(database: Database) -> None:
    """No refreshes, no answers."""
    assert await database.fetch("select * from livewell.store_fetches('[]')") == []
