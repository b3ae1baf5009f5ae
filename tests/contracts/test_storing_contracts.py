"""Contracts 14 and 22 where data is stored: no old data as new, no table that has drifted from its model."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from livewell.fetching import Column, FetchStore
from livewell.fetching.tests.storing_surface import HOUR, MINUTE, NOON, Storing, fetched, make_quotes
from livewell.jobs.tests.sql_surface import somebody_waits
from livewell.kernel import Database
from livewell.testing import make_type, until
from tests.contracts.guards import take_away

Proof = Callable[[Database], Awaitable[None]]
MODEL = {"price": Column(type="number"), "volume": Column(type="integer", nullable=True)}


async def _old_rows_are_refused(owner: Database) -> None:
    """A row older than the stored one is refused; one of the same time is a success."""
    storing = Storing(owner)
    await storing.fetch("quote", {"AAPL": {"price": 1}}, source_time=NOON)
    old = await storing.fetch("quote", {"AAPL": {"price": 2}}, NOON + MINUTE, source_time=NOON - MINUTE)
    assert old == {"AAPL": ("pending", "refused", "old_data")}
    same = await storing.fetch("quote", {"AAPL": {"price": 1}}, NOON + MINUTE, source_time=NOON)
    assert same == {"AAPL": ("completed", "unchanged", "same_content")}


async def _old_records_are_refused(owner: Database) -> None:
    """What is kept as a record is compared as well."""
    storing = Storing(owner)
    await make_type(owner, "note", source_rule="not_older")
    await storing.fetch("note", {"A": {"text": "new"}}, source_time=NOON)
    old = await storing.fetch("note", {"A": {"text": "old"}}, NOON + MINUTE, source_time=NOON - MINUTE)
    assert old == {"A": ("pending", "refused", "old_data")}


async def _no_source_time_is_refused(owner: Database) -> None:
    """A declared source time that is missing is a failure."""
    answer = await Storing(owner).fetch("quote", {"AAPL": {"price": 1}})
    assert answer == {"AAPL": ("pending", "refused", "missing_source_time")}


async def _the_upsert_compares(owner: Database) -> None:
    """A row that became newer while the batch was on its way is not overwritten."""
    storing = Storing(owner)
    await storing.fetch("quote", {"AAPL": {"price": 1}}, source_time=NOON)
    held = await storing.hold_one("quote", now=NOON + HOUR)
    async with owner.connection() as other, other.transaction():
        await other.execute("update public.quotes set price = 99, source_at = $1", NOON + HOUR)
        storage = asyncio.create_task(storing.end(fetched(held, {"price": 2}, source_time=NOON + MINUTE)))
        await until(lambda: somebody_waits(owner), "the store waits for the row")
    await storage
    assert await storing.table("public.quotes", "price::int, source_at") == [(99, NOON + HOUR)]


async def _the_upsert_compares_what_was_just_added(owner: Database) -> None:
    """Nor is a row that somebody was adding: it could not be locked before, and is met by the upsert alone."""
    storing = Storing(owner)
    held = await storing.hold_one("quote", now=NOON + HOUR)
    async with owner.connection() as other, other.transaction():
        await other.execute("insert into public.quotes (symbol, price, source_at) values ('AAPL', 99, $1)", NOON + HOUR)
        storage = asyncio.create_task(storing.end(fetched(held, {"price": 2}, source_time=NOON + MINUTE)))
        await until(lambda: somebody_waits(owner), "the store waits for the row")
    await storage
    assert await storing.table("public.quotes", "price::int, source_at") == [(99, NOON + HOUR)]


@pytest.fixture
async def stage(owner: Database) -> Database:
    await make_quotes(owner, source_time_column="source_at", source_rule="not_older")
    return owner


@pytest.mark.parametrize(
    "proof",
    [
        _old_rows_are_refused,
        _old_records_are_refused,
        _no_source_time_is_refused,
        _the_upsert_compares,
        _the_upsert_compares_what_was_just_added,
    ],
)
async def test_contract_14_old_data_is_found_out(stage: Database, proof: Proof) -> None:
    """Contract 14: old data is refused inside the upsert, unchanged data is a success."""
    await proof(stage)


@pytest.mark.parametrize(
    ("function", "guard", "instead", "proof"),
    [
        ("storing_query", "bool_or(i.%1$s < t.%1$s)", "bool_or(false)", _old_rows_are_refused),
        ("store_records", "e.source_time < r.source_time", "false", _old_records_are_refused),
        ("storing_query", "bool_or(i.%1$s is null)", "bool_or(false)", _no_source_time_is_refused),
        # A row that is there is locked before it is compared; the upsert's own comparison is for one that is not yet.
        (
            "storing_query",
            "' is null or excluded.'",
            "' is null or true or excluded.'",
            _the_upsert_compares_what_was_just_added,
        ),
    ],
)
async def test_contract_14_needs_its_guards(
    stage: Database, function: str, guard: str, instead: str, proof: Proof
) -> None:
    """Without its guard each proof of contract 14 fails."""
    await take_away(stage, function, guard, instead)
    with pytest.raises(AssertionError):
        await proof(stage)


async def _a_dropped_column_is_found(owner: Database) -> None:
    """A table that lost a column of its model is found by the check, before anything is fetched."""
    await owner.execute("alter table public.quotes drop column volume")
    assert [finding.problem for finding in await FetchStore(owner).check_storage("quote", MODEL)] == ["no_column"]


async def _a_retyped_column_is_found(owner: Database) -> None:
    """A column that cannot hold what its field brings is found."""
    await owner.execute("alter table public.quotes alter volume type date using null")
    assert [finding.problem for finding in await FetchStore(owner).check_storage("quote", MODEL)] == ["column_type"]


async def _a_new_column_that_must_be_filled_is_found(owner: Database) -> None:
    """A column that must be filled, and that no field fills, is found."""
    await owner.execute("alter table public.quotes add must text not null")
    assert [finding.problem for finding in await FetchStore(owner).check_storage("quote", MODEL)] == ["never_filled"]


async def _nothing_is_stored_without_its_column(owner: Database) -> None:
    """Should nobody have checked: a field without a column refuses the row, it is not dropped on the way."""
    await owner.execute("alter table public.quotes drop column volume")
    answer = await Storing(owner).fetch("quote", {"AAPL": {"price": 1, "volume": 2}}, source_time=NOON)
    assert answer == {"AAPL": ("pending", "refused", "table")}
    assert await Storing(owner).warnings() == {"quote": (1, "AAPL: public.quotes has no column volume (table)")}


DRIFTS = [
    _a_dropped_column_is_found,
    _a_retyped_column_is_found,
    _a_new_column_that_must_be_filled_is_found,
    _nothing_is_stored_without_its_column,
]


@pytest.mark.parametrize("proof", DRIFTS)
async def test_contract_22_a_table_follows_its_model(stage: Database, proof: Proof) -> None:
    """Contract 22: a change of a data table without its model is found, and stores nothing meanwhile."""
    await proof(stage)


@pytest.mark.parametrize(
    ("function", "guard", "instead", "proof"),
    [
        ("findings_on_columns", "where s.column_type is null", "where false", DRIFTS[0]),
        ("findings_on_columns", "when 'integer' then s.category = 'N'", "when 'integer' then true", DRIFTS[1]),
        ("findings_on_columns", "a.attnotnull and not a.atthasdef", "false", DRIFTS[2]),
        ("storing_of", "where c.type is null", "where false", DRIFTS[3]),
    ],
)
async def test_contract_22_needs_its_guards(
    stage: Database, function: str, guard: str, instead: str, proof: Proof
) -> None:
    """Without its guard each proof of contract 22 fails."""
    await take_away(stage, function, guard, instead)
    with pytest.raises(AssertionError):
        await proof(stage)
