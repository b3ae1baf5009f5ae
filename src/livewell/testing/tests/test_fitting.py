"""A type that does not fit its table, its model or its provider fails a test of its user, with everything at once."""

import json
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from livewell import Call, Fetcher, Livewell, Model, bounded
from livewell.kernel import Database
from livewell.registry import RegistryStore
from livewell.testing import assert_type_fits, grant_table, make_endpoint
from livewell.testing.recorded import recorded_provider

FIELDS: dict[str, Any] = {
    "symbol": {"type": "string"},
    "price": {"type": "number", "above": 0},
    "volume": {"type": "integer", "optional": True},
    "timestamp": {"type": "epoch", "source_time": True, "rule": "not_older"},
}
QUOTE: dict[str, Any] = {"symbol": "AAPL", "price": 190.12, "volume": None, "timestamp": 1_769_860_800}
TABLE = """
create table public.quotes (
    symbol text primary key, price float8 not null, volume bigint, timestamp timestamptz, fetched_at timestamptz
)
"""


@pytest_asyncio.fixture
async def app(owner: Database, database_url: str) -> AsyncIterator[Livewell]:
    """An application of a service login, and a type with a table of its own whose provider nobody can reach."""
    await make_endpoint(owner, "sim/quote")
    await owner.execute("select livewell.set_provider('sim', '{\"base_url\": \"https://sim.invalid/v3\"}')")
    await owner.execute(TABLE)
    await owner.execute("create index on public.quotes (symbol, fetched_at desc)")
    await grant_table(owner, "public.quotes")
    wanted = {
        "endpoint": "sim/quote",
        "ttl": "1 minute",
        "table_name": "public.quotes",
        "key_column": "symbol",
        "time_column": "fetched_at",
        "source_time_column": "timestamp",
        "source_rule": "not_older",
        "keys_per_request": 20,
        "fetch_call": {"path": "/quote/{keys}", "key": "symbol"},
        "fields": FIELDS,
    }
    await RegistryStore(owner).apply_types({"quote": wanted}, plan_only=False, actor="tests")
    async with Livewell(database_url) as application:
        yield application


async def misfits(app: Livewell, name: str = "quote", **told: Any) -> list[str]:
    """What is said of a type that does not fit, line by line."""
    with pytest.raises(AssertionError) as caught:
        await assert_type_fits(app, name, **told)
    head, *lines = str(caught.value).splitlines()
    assert head == f"type {name} does not fit:"
    return lines


async def test_a_type_that_fits(app: Livewell, owner: Database, tmp_path: Path) -> None:
    """Nothing is raised, in whichever form the answer was recorded, and nothing is stored or queued."""
    recorded = tmp_path / "quote.json"
    recorded.write_text(json.dumps([QUOTE]))
    await assert_type_fits(app, "quote")
    for answer in ([QUOTE], json.dumps([QUOTE]), json.dumps([QUOTE]).encode(), recorded):
        await assert_type_fits(app, "quote", key="AAPL", answer=answer)
    await assert_type_fits(app, "quote", key=["AAPL", "MSFT"], answer=[QUOTE, {**QUOTE, "symbol": "MSFT"}])
    for table in (
        "public.quotes",
        "livewell_private.item",
        "livewell_private.job_live",
        "livewell_private.record",
        "livewell.warnings",
    ):
        assert await owner.fetchval(f"select count(*) from {table}") == 0, table


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("drop table public.quotes", "no_table"),
        ("alter table public.quotes drop column volume", "no_column"),
        ("alter table public.quotes alter price type boolean using true", "column_type"),
        ("alter table public.quotes alter volume set not null", "may_be_null"),
        ("alter table public.quotes add must text not null", "never_filled"),
        ("alter table public.quotes drop constraint quotes_pkey", "no_unique_key"),
        ("update livewell_private.provider set base_url = null", "base_url"),
    ],
)
async def test_a_table_that_has_drifted(app: Livewell, owner: Database, change: str, told: str) -> None:
    """A changed table is found without an answer of the provider, and with what mends it."""
    await owner.execute(change)
    lines = await misfits(app)
    assert any(told in line and "; " in line for line in lines), lines


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ([{**QUOTE, "price": "190.12"}], "- AAPL: refused: price: Input should be a valid number (schema)"),
        ([{**QUOTE, "price": -1}], "- AAPL: refused: price: Input should be greater than 0 (bounds)"),
        ([{**QUOTE, "bid": 190}], "- AAPL: refused: bid: Extra inputs are not permitted (schema)"),
        ([{**QUOTE, "symbol": "MSFT"}], "- AAPL: refused: the answer is about another key (wrong_key)"),
        ([], "- AAPL: refused: the answer has no row of it (empty)"),
        ({"quotes": [QUOTE]}, "- AAPL: refused: "),
        ("<html>", "- AAPL: refused: expected value at line 1 column 1 (not_json)"),
        (b"", "- AAPL: refused: HTTP 200 with an empty body (empty)"),
        ((), "- AAPL: gone: HTTP 404"),
    ],
    ids=["retyped", "absurd", "unknown", "other", "none", "elsewhere", "no-json", "empty", "not-there"],
)
async def test_an_answer_that_does_not_fit_its_model(app: Livewell, answer: Any, told: str) -> None:
    """What the provider sends is read by the model, whole, and what it objects to is said."""
    (line,) = await misfits(app, key="AAPL", answer=answer)
    assert line.startswith(told)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("alter table public.quotes add check (price < 100)", "(constraint)"),
        ("alter table public.quotes alter symbol type varchar(3)", "(value)"),
        ("insert into public.quotes (symbol, price, timestamp) values ('AAPL', 1, '2100-01-01 00:00Z')", "(old_data)"),
    ],
    ids=["constraint", "value", "older"],
)
async def test_rows_that_their_table_does_not_take(app: Livewell, owner: Database, change: str, told: str) -> None:
    """What only the database can tell is found by storing it; what is stored is taken back."""
    await owner.execute(change)
    before = await owner.fetch("select * from public.quotes")
    (line,) = await misfits(app, key="AAPL", answer=[QUOTE])
    assert line.startswith("- AAPL: not stored: ")
    assert line.endswith(told)
    assert await owner.fetch("select * from public.quotes") == before


async def test_everything_is_said_at_once(app: Livewell, owner: Database) -> None:
    """Findings on the table and on each key come together: one run of a test tells all there is to mend."""
    await owner.execute("alter table public.quotes add must text not null, add check (symbol <> 'IBM')")
    answer = [QUOTE, {**QUOTE, "symbol": "MSFT", "price": None}]
    lines = await misfits(app, key=["AAPL", "MSFT", "IBM"], answer=answer)
    assert [line.split(":")[0] for line in lines[-3:]] == ["- MSFT", "- IBM", "- AAPL"]
    assert any("never_filled" in line for line in lines[:-3])


async def test_a_fetcher_of_the_program_is_tried(app: Livewell, owner: Database) -> None:
    """A fetcher in Python is asked with recorded answers in the order of its requests, with a key nobody pays for."""

    class Quote(Model):
        symbol: str
        price: float = bounded(gt=0)
        timestamp: datetime

    @app.type("quote", endpoint="sim/quote", ttl="1 minute")
    class QuoteFetcher(Fetcher[Quote]):
        key = "symbol"

        async def fetch(self, call: Call) -> Any:
            (found,) = await call.get("/find", query={"q": call.keys[0]}).items()
            return await call.get(f"/quote/{found['id']}").items()

    await owner.execute("update livewell_private.provider set key_in = 'bearer'")
    said = {**QUOTE, "timestamp": "2026-01-31T12:00:00Z"}
    del said["volume"]
    await assert_type_fits(app, "quote", key="AAPL", answer=([{"id": 7}], [said]))
    assert await misfits(app, key="AAPL", answer=[{"id": 7}]) == ["- AAPL: gone: HTTP 404"]


async def test_a_server_of_ones_own_is_asked(app: Livewell, owner: Database) -> None:
    """With a base URL the answer comes from there; else from the provider, which is given no key that was not said."""
    async with recorded_provider([json.dumps([QUOTE]).encode()]) as url:
        await assert_type_fits(app, "quote", key="AAPL", base_url=f"{url}/v3")
    await owner.execute("update livewell_private.provider set base_url = $1, allow_private = true", url)
    (line,) = await misfits(app, key="AAPL")
    assert line.startswith("- AAPL: failed: no connection")
    await owner.execute("update livewell_private.provider set key_in = 'bearer'")
    (line,) = await misfits(app, key="AAPL")
    assert line.endswith("(no_key)")


async def test_mistakes_of_the_test_itself(app: Livewell, owner: Database) -> None:
    """A type that is not there, one that nothing fetches, and an answer without its key are told apart from misfits."""
    with pytest.raises(AssertionError, match="there is no type qoute: did you mean quote"):
        await assert_type_fits(app, "qoute")
    with pytest.raises(ValueError, match="say which"):
        await assert_type_fits(app, "quote", answer=[QUOTE])
    await owner.execute("update livewell_private.data_type set fetch_call = null, fields = null, keys_per_request = 1")
    (line,) = await misfits(app, key="AAPL", answer=[QUOTE])
    assert "nothing says how type quote is fetched" in line
