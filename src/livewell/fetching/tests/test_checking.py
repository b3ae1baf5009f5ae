"""Types are checked before anything is fetched: what they say of it, and whether their table takes it."""

from datetime import date, datetime
from typing import Any

import pytest_asyncio

from livewell.fetching import Column, Model, check_fetching, columns_of, read_source
from livewell.fetching.tests.stage import FIELDS
from livewell.kernel import Database
from livewell.registry import RegistryStore
from livewell.testing import grant_table, make_endpoint


class Inner(Model):
    x: int


class Everything(Model):
    text: str
    whole: int
    number: float | None
    truth: bool
    at: datetime
    day: date | None
    inner: Inner
    rows: list[Inner]
    anything: Any


def test_columns_are_those_of_the_model() -> None:
    """Each with its type, and whether it may be null."""
    assert columns_of(Everything) == {
        "text": Column(type="string"),
        "whole": Column(type="integer"),
        "number": Column(type="number", nullable=True),
        "truth": Column(type="boolean"),
        "at": Column(type="timestamp"),
        "day": Column(type="date", nullable=True),
        "inner": Column(type="object"),
        "rows": Column(type="array"),
        "anything": Column(type="any"),
    }


@pytest_asyncio.fixture
async def quotes(owner: Database) -> RegistryStore:
    """A type with a table of its own and a fetcher."""
    await make_endpoint(owner, "sim/quote")
    await owner.execute("select livewell.set_provider('sim', '{\"base_url\": \"https://sim.test\"}')")
    await owner.execute(
        "create table public.quotes"
        " (symbol text primary key, price float8, timestamp timestamptz, fetched_at timestamptz)"
    )
    await grant_table(owner, "public.quotes")
    types = RegistryStore(owner)
    wanted = {
        "endpoint": "sim/quote",
        "ttl": "1 minute",
        "table_name": "public.quotes",
        "key_column": "symbol",
        "time_column": "fetched_at",
        "fetch_call": {"path": "/quote/{key}"},
        "fields": FIELDS,
    }
    await types.apply_types({"quote": wanted}, plan_only=False, actor="tests")
    return types


async def test_a_type_that_can_be_fetched_has_no_finding(owner: Database, quotes: RegistryStore) -> None:
    """Its source is what the worker will use."""
    assert await check_fetching(owner) == []
    (one,) = await quotes.list_types()
    source = await read_source(owner, one)
    assert (source.limits.seconds, source.to.base) == (10, "https://sim.test")


async def test_what_only_a_program_can_tell_is_found(owner: Database, quotes: RegistryStore) -> None:
    """A model that cannot be imported, and a field the table has no column for."""
    await quotes.set_type("quote", {"fields": {**FIELDS, "volume": {"type": "integer"}}}, reason=None, actor="tests")
    assert [(finding.problem, finding.severity) for finding in await check_fetching(owner, ["quote"])] == [
        ("no_column", "error")
    ]
    await quotes.set_type("quote", {"fields": "", "model": "no.such:Model"}, reason=None, actor="tests")
    (found,) = await check_fetching(owner)
    assert (found.problem, found.severity) == ("fetch", "error")
    assert "cannot be imported" in found.message
