"""Putting: what is pushed is stored as what is fetched, and a fetch that had begun by then does not undo it."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from pydantic_core import to_json

from livewell.fetching import InvalidPut
from livewell.fetching.tests.storing_surface import (
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    Storing,
    fetched,
    gone,
    make_quotes,
    unchanged,
)
from livewell.fetching.tests.test_sql_versions import listening, version
from livewell.kernel import Database
from livewell.registry import UnknownType
from livewell.testing import make_type

FETCHED = ("fetched", None)
FIELDS = (
    '{"symbol": {"type": "string"}, "price": {"type": "number", "above": 0},'
    ' "day": {"type": "date", "missing": true}, "kind": {"type": "string", "one_of": ["a", "b"], "missing": true},'
    ' "volume": {"type": "integer", "optional": true, "volatile": true}}'
)


async def put(owner: Database, rows: Any, now: datetime = NOON, data_type: str = "quote") -> dict[Any, Any]:
    """What became of each key: its outcome and reason."""
    answers = await owner.fetch(
        "select * from livewell.put($1, $2::text::jsonb, $3)", data_type, to_json(rows).decode(), now
    )
    return {row["key"]: (row["outcome"], row["reason"]) for row in answers}


async def test_a_put_counts_as_a_fetch(owner: Database, storing: Storing) -> None:
    """It is stored, told and learned from, and its item is due after the TTL; its conditions are forgotten."""
    await make_quotes(owner)
    (item,) = await storing.watch("quote", "AAPL")
    await storing.fetch("quote", {"AAPL": {"price": 1}}, etag='"1"')
    async with listening(owner) as ear:
        assert await put(owner, [{"symbol": "AAPL", "price": 2}], NOON + HOUR) == {"AAPL": FETCHED}
        assert await ear.heard() == [(item, await version(owner))]
    known = await storing.item(item)
    assert (known["fetched_at"], known["expires_at"], known["due_at"]) == (NOON + HOUR, *[NOON + HOUR + MINUTE] * 2)
    assert (known["last_outcome"], known["fetches"], known["changes"]) == ("fetched", 1, 1)
    assert await storing.table("public.quotes", "symbol, price::int, fetched_at") == [("AAPL", 2, NOON + HOUR)]
    assert await storing.table("livewell_private.fetch_state", "*", "1") == []


async def test_the_same_again_is_unchanged(owner: Database, storing: Storing) -> None:
    """What is there already moves the time and not the version, whoever brings it: a put or the fetch after it."""
    await make_quotes(owner)
    await make_type(owner, "note")
    for name in ("quote", "note"):
        await put(owner, {"AAPL": {"price": 2}}, data_type=name)
        assert await put(owner, {"AAPL": {"price": 2}}, NOON + MINUTE, name) == {"AAPL": ("unchanged", "same_content")}
        answer = await storing.fetch(name, {"AAPL": {"price": 2}}, NOON + HOUR)
        assert answer == {"AAPL": ("completed", "unchanged", "same_content")}
    assert await storing.table("public.quotes", "price::int, fetched_at") == [(2, NOON + HOUR)]


async def test_bad_rows_are_refused_alone(owner: Database, storing: Storing) -> None:
    """Each with its reason, and warned about; the others are stored, and no item learns of a failure."""
    await make_quotes(owner, fields=FIELDS)
    good = {"symbol": "A", "price": 1, "volume": None}
    rows = [
        good,
        {**good, "symbol": "B", "price": -1},
        {**good, "symbol": "C", "price": "1"},
        {**good, "symbol": "D", "other": 1},
        {"symbol": "E", "price": 1},
        {**good, "symbol": "not a key"},
        {**good, "symbol": "F", "price": 10**400},
        {**good, "symbol": "G", "day": "2026-13-01"},
        {**good, "symbol": "H", "kind": "c"},
        {**good, "symbol": "I", "volume": 1.5},
        {**good, "symbol": "J", "price": None},
        {"price": 1, "volume": 1},
        7,
    ]
    await owner.execute("alter table public.quotes add day date, add kind text, alter price type double precision")
    found = await put(owner, rows)
    assert found.pop("A") == FETCHED
    assert found.pop("not a key") == ("refused", "invalid_key")
    assert found.pop("F") == ("refused", "value")
    assert set(found.values()) == {("refused", "schema")}
    assert found.keys() == {*"BCDEGHIJ", None}
    assert await storing.table("public.quotes", "symbol", "1") == [("A",)]
    assert {row[0] for row in await storing.table("livewell_private.item", "last_outcome", "1")} == {"fetched", None}
    assert (await storing.warnings())["quote"][0] == len(rows) - 2


async def test_what_the_table_refuses(owner: Database) -> None:
    """A constraint, an old source time and a row of another key refuse a put as they refuse a fetch."""
    await make_quotes(owner, source_time_column="source_at")
    await put(owner, {"A": {"price": 1, "source_at": NOON}})
    found = await put(
        owner,
        {
            "A": {"price": 1, "source_at": NOON - SECOND},
            "B": {"price": -1, "source_at": NOON},
            "C": {"price": 1},
            "D": {"symbol": "E", "price": 1, "source_at": NOON},
            "E": [],
        },
    )
    assert {key: reason for key, (outcome, reason) in found.items() if outcome == "refused"} == {
        "A": "old_data",
        "B": "constraint",
        "C": "missing_source_time",
        "D": "wrong_key",
        "E": "empty",
    }


async def test_records_are_put(owner: Database, storing: Storing) -> None:
    """Without a table: a row by its key, or the list of its rows; several where there is one are refused."""
    await make_type(owner, "note", fetch_call='{"path": "/{key}", "key": "id"}')
    assert await put(owner, [{"id": "A", "text": "a"}], data_type="note") == {"A": FETCHED}
    assert await put(owner, {"B": [{"text": "b"}, {"text": "c"}]}, data_type="note") == {"B": FETCHED}
    twice = await put(owner, [{"id": "C", "text": "b"}, {"id": "C", "text": "c"}], data_type="note")
    assert twice == {"C": ("refused", "many_rows")}
    assert await storing.table("livewell_private.record", "key, value::text") == [
        ("A", '{"id": "A", "text": "a"}'),
        ("B", '[{"text": "b"}, {"text": "c"}]'),
    ]


@pytest.mark.parametrize("rows", ["1", "null", '"x"'])
async def test_nonsense_is_refused_whole(owner: Database, database: Database, rows: str) -> None:
    """What is no list of rows and no object is refused with a fact, and nothing is done; so is an unknown type."""
    await make_type(owner, "quote")
    with pytest.raises(InvalidPut):
        await database.fetch("select * from livewell.put('quote', $1::text::jsonb)", rows)
    with pytest.raises(UnknownType):
        await database.fetch("select * from livewell.put('nosuch', '[]')")
    for puts in ("{}", "[1]", '[{"key": "A"}]'):
        with pytest.raises(InvalidPut):
            await database.fetch("select * from livewell.store_puts('quote', $1::text::jsonb)", puts)
    assert await database.fetch("select * from livewell.put('quote', '[]')") == []


async def test_a_disabled_type_takes_no_puts(owner: Database) -> None:
    """As it takes no watchers."""
    await make_type(owner, "quote", enabled=False)
    with pytest.raises(Exception, match="disabled"):
        await put(owner, {"A": {"price": 1}})


@pytest.mark.parametrize("table", [True, False])
@pytest.mark.parametrize(
    ("begun", "source", "stored"),
    [
        (-SECOND, None, False),
        (timedelta(), None, False),
        (SECOND, None, True),
        (-SECOND, NOON, False),
        (-SECOND, NOON + SECOND, True),
        (SECOND, NOON + SECOND, True),
    ],
)
async def test_a_fetch_that_had_begun_is_not_stored_over_a_put(
    owner: Database, storing: Storing, *, table: bool, begun: timedelta, source: datetime | None, stored: bool
) -> None:
    """Unless its source time is newer; its job is done, and the item is as the put left it."""
    rule: dict[str, Any] = {} if source is None else {"source_rule": "not_older"}
    if table:
        await make_quotes(owner, **rule, **({} if source is None else {"source_time_column": "source_at"}))
    else:
        await make_type(owner, "quote", **rule)
    held = await storing.hold_one("quote", now=NOON + begun)
    told = {"key": "AAPL", "rows": [{"price": 2}], "source_time": None if source is None else NOON}
    answers = await owner.fetch(
        "select outcome from livewell.store_puts('quote', $1::text::jsonb, $2)", to_json([told]).decode(), NOON
    )
    assert [row["outcome"] for row in answers] == ["fetched"]
    before = await storing.item(held["item"])
    answer = await storing.end(fetched(held, {"price": 1}, source_time=source, etag='"1"'), now=NOON + MINUTE)
    assert answer == {"AAPL": ("completed", *(FETCHED if stored else ("unchanged", "put_meanwhile")))}
    price = (
        "select price::int from public.quotes"
        if table
        else "select (value -> 'price')::int from livewell_private.record"
    )
    assert await owner.fetchval(price) == (1 if stored else 2)
    if not stored:
        assert await storing.item(held["item"]) == before
        assert await storing.table("livewell_private.fetch_state", "*", "1") == []


async def test_an_answer_to_before_a_put_says_nothing_of_it(owner: Database, storing: Storing) -> None:
    """That it is unchanged, or gone, was said of what was there when the fetch began."""
    await make_quotes(owner)
    await storing.fetch("quote", {"A": {"price": 1}, "B": {"price": 1}})
    held = await storing.hold("quote", "A", "B", now=NOON + MINUTE)
    await put(owner, {"A": {"price": 2}, "B": {"price": 2}}, NOON + HOUR)
    meanwhile = ("completed", "unchanged", "put_meanwhile")
    answers = await storing.end(unchanged(held[0]), gone(held[1]), now=NOON + 2 * HOUR)
    assert answers == {"A": meanwhile, "B": meanwhile}
    assert await storing.table("public.quotes", "price::int, fetched_at") == [(2, NOON + HOUR)] * 2


async def test_a_put_of_what_somebody_holds_is_busy(owner: Database, storing: Storing) -> None:
    """An item or a row in somebody's open transaction is not waited for; the others are stored."""
    await make_quotes(owner)
    await put(owner, {key: {"price": 1} for key in "ABC"})
    async with owner.transaction() as stranger:
        await stranger.execute("select from livewell_private.item where key = 'A' for update")
        await stranger.execute("update public.quotes set price = 9 where symbol = 'B'")
        found = await put(owner, {key: {"price": 2} for key in "ABC"}, NOON + MINUTE)
    assert {key: outcome for key, (outcome, _) in found.items()} == {"A": "busy", "B": "busy", "C": "fetched"}
    assert found["A"][1].startswith("item_held")
    assert found["B"][1].startswith("row_held")
    assert await storing.table("public.quotes", "symbol, price::int") == [("A", 1), ("B", 9), ("C", 2)]


async def test_a_put_cancels_nothing(owner: Database, storing: Storing) -> None:
    """A refresh that waits or runs goes on."""
    await make_quotes(owner)
    await storing.hold("quote", "A", "B")
    await put(owner, {"A": {"price": 1}})
    assert await storing.table("livewell_private.job_live", "state", "1") == [("processing",)] * 2


async def test_only_known_keys_are_put(owner: Database) -> None:
    """A type that takes known keys only refuses the others alone."""
    await make_quotes(owner, keys_only_known=True)
    await owner.execute("select livewell.import_keys('quote', '{A}')")
    assert await put(owner, {"A": {"price": 1}, "B": {"price": 1}}) == {"A": FETCHED, "B": ("refused", "unknown_key")}
