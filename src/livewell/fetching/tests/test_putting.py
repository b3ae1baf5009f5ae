"""Putting by Python: rows are read as those of an answer, by the model of their type, and stored."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY

from livewell import Call, Fetcher, Livewell, Model, bounded
from livewell.fetching import InvalidPut, Items, Put, UnsoundFetch
from livewell.fetching.tests.storing_surface import Storing, make_quotes
from livewell.kernel import Database
from livewell.registry import UnknownType
from livewell.testing import make_type, until

FETCHED = ("fetched", None)
QUOTE = (
    '{"symbol": {"type": "string"}, "price": {"type": "number", "above": 0, "from": "$.last.price"},'
    ' "source_at": {"type": "epoch", "source_time": true, "from": "$.last.at"}}'
)
CALL = '{"path": "/quote/{key}", "key": "symbol"}'


def quote(symbol: Any, price: Any, at: float | None = None) -> dict[str, Any]:
    """As the provider sends it."""
    return {"symbol": symbol, "last": {"price": price, "at": datetime.now(UTC).timestamp() if at is None else at}}


def became(answers: Sequence[Put]) -> dict[str | None, tuple[str, str | None]]:
    return {answer.key: (answer.outcome, answer.reason) for answer in answers}


async def test_rows_are_read_as_those_of_an_answer(owner: Database, database: Database, storing: Storing) -> None:
    """Names and paths of the provider, bounds, source times: what fits is stored, each other key refused alone."""
    await make_quotes(owner, fields=QUOTE, fetch_call=CALL, source_time_column="source_at")
    tomorrow = (datetime.now(UTC) + timedelta(days=2)).timestamp()
    rows = [
        quote("A", 1.5),
        quote("B", -1),
        quote("C", "1"),
        quote("D", 1, tomorrow),
        {**quote("E", 1), "other": 1},
        quote(None, 1),
        quote("not a key", 1),
        quote("F", 1),
        quote("F", 2),
    ]
    assert became(await Items(database).put("quote", rows)) == {
        "A": FETCHED,
        "B": ("refused", "bounds"),
        "C": ("refused", "schema"),
        "D": ("refused", "bounds"),
        "E": ("refused", "schema"),
        None: ("refused", "missing_key"),
        "not a key": ("refused", "invalid_key"),
        "F": ("refused", "duplicate_rows"),
    }
    assert await storing.table("public.quotes", "symbol, price::float") == [("A", 1.5)]
    assert (await storing.warnings())["quote"][0] == 7


async def test_rows_by_their_keys(owner: Database, database: Database) -> None:
    """Where rows do not say whose they are, or say it again; of another key they are refused."""
    await make_quotes(owner, fields=QUOTE, fetch_call=CALL, source_time_column="source_at")
    await make_type(owner, "note", fields='{"text": {"type": "string"}}', fetch_call='{"path": "/{key}"}')
    items = Items(database)
    assert became(await items.put("quote", {"A": quote("A", 1), "B": [quote("C", 1)], "D": []})) == {
        "A": FETCHED,
        "B": ("refused", "wrong_key"),
        "D": ("refused", "empty"),
    }
    assert became(await items.put("note", {"A": {"text": "a"}, "B": {"text": 1}})) == {
        "A": FETCHED,
        "B": ("refused", "schema"),
    }
    with pytest.raises(InvalidPut, match="whose a row is"):
        await items.put("note", [{"text": "a"}])
    assert await items.put("note", {}) == []


async def test_the_hash_is_that_of_a_fetch(owner: Database, database: Database) -> None:
    """What is put again with another source time is unchanged: it is read by the same model."""
    await make_quotes(owner, fields=QUOTE, fetch_call=CALL, source_time_column="source_at")
    items, now = Items(database), datetime.now(UTC).timestamp()
    seen = [became(await items.put("quote", [quote("A", price, now + at)]))["A"] for at, price in enumerate((1, 1, 2))]
    assert seen == [FETCHED, ("unchanged", "same_content"), FETCHED]
    assert became(await items.put("quote", [quote("A", 3, now)])) == {"A": ("refused", "old_data")}


async def test_a_type_that_is_never_fetched_is_put(owner: Database, database: Database) -> None:
    """Its fields are enough, and its key column says whose a row is; without fields nothing says what a row is."""
    await make_quotes(owner, fields='{"symbol": {"type": "string"}, "price": {"type": "number"}}')
    await make_type(owner, "note")
    items = Items(database)
    assert became(await items.put("quote", [{"symbol": "A", "price": 1}])) == {"A": FETCHED}
    with pytest.raises(UnsoundFetch):
        await items.put("note", {"A": {"text": "a"}})
    with pytest.raises(UnknownType):
        await items.put("nosuch", [])


class Report(Model):
    symbol: str
    revenue: float = bounded(ge=0)


async def test_the_model_of_a_programs_own_fetcher(owner: Database, database_url: str) -> None:
    """A type that a class fetches is read by the model of that class; a row may be one of its models."""
    await make_type(owner, "report")
    app = Livewell(database_url)

    @app.type("report", endpoint="sim/report", ttl="1 minute")
    class Reports(Fetcher[Report]):
        key = "symbol"

        async def fetch(self, call: Call) -> list[Any]:
            return [await call.get(f"/{call.key}").json()]

    async with app:
        rows: list[Any] = [Report(symbol="A", revenue=1), {"symbol": "B", "revenue": -1}]
        assert became(await app.items.put("report", rows)) == {"A": FETCHED, "B": ("refused", "bounds")}
        assert (await app.items.get("report", "A")).value == {"symbol": "A", "revenue": 1}


async def test_a_put_of_a_transaction(owner: Database, database: Database, storing: Storing) -> None:
    """With a connection it is stored when that commits, or never."""
    await make_quotes(owner, fields='{"symbol": {"type": "string"}, "price": {"type": "number"}}')
    items = Items(database)

    async def put_and_fail() -> None:
        async with database.transaction() as connection:
            assert became(await items.put("quote", [{"symbol": "A", "price": 1}], connection=connection))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await put_and_fail()
    assert await storing.table("public.quotes") == []


async def test_what_somebody_held_is_put_again(owner: Database, database: Database) -> None:
    """A row that is free after a while is stored; one that is not is answered busy, and the others are stored."""
    await make_quotes(owner, fields='{"symbol": {"type": "string"}, "price": {"type": "number"}}')
    items = Items(database)
    await items.put("quote", {key: {"symbol": key, "price": 1} for key in "AB"})
    later = {key: {"symbol": key, "price": 2} for key in "AB"}
    async with owner.transaction() as stranger:
        await stranger.execute("select from public.quotes where symbol = 'A' for update")
        putting = asyncio.create_task(items.put("quote", later))
        await until(lambda: _is_two(owner), "the other is stored")
    assert became(await putting) == {"A": FETCHED, "B": FETCHED}


async def _is_two(owner: Database) -> bool:
    return bool(await owner.fetchval("select price = 2 from public.quotes where symbol = 'B'"))


async def test_puts_are_counted(owner: Database, database: Database) -> None:
    """By type and outcome."""
    await make_quotes(owner, name="counted_puts", fields='{"symbol": {"type": "string"}, "price": {"type": "number"}}')
    rows: list[dict[str, Any]] = [
        {"symbol": "A", "price": 1},
        {"symbol": "B", "price": 2},
        {"symbol": "C", "price": None},
    ]
    await Items(database).put("counted_puts", rows)

    def counted(outcome: str) -> float | None:
        return REGISTRY.get_sample_value("livewell_puts_total", {"data_type": "counted_puts", "outcome": outcome})

    assert (counted("fetched"), counted("refused")) == (2, 1)


async def test_what_was_written_is_said_by_python(owner: Database, database: Database, storing: Storing) -> None:
    """As by SQL."""
    await make_quotes(owner)
    await storing.fetch("quote", {"A": {"price": 1}})
    assert await Items(database).changed("quote", ["A", "B"]) == {"A": "changed", "B": "unknown"}
