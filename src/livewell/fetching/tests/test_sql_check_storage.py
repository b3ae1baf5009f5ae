"""A table and a model that disagree are found before anything is fetched."""

from typing import Any

import pytest

from livewell.fetching.errors import InvalidModel
from livewell.fetching.store import FetchStore
from livewell.fetching.tests.storing_surface import Storing, make_quotes
from livewell.fetching.types import Column
from livewell.kernel import Database
from livewell.registry import UnknownType
from livewell.testing import make_type

MODEL = {"price": Column(type="number"), "volume": Column(type="integer", nullable=True)}


async def found(database: Database, model: dict[str, Column] = MODEL) -> set[tuple[str, str]]:
    findings = await FetchStore(database).check_storage("quote", model)
    assert all(finding.message and finding.fix for finding in findings)
    return {(finding.severity, finding.problem) for finding in findings}


async def test_a_table_that_fits(owner: Database, database: Database) -> None:
    """A table that takes what the model brings has no finding; columns of its own do not matter."""
    await make_quotes(owner)
    assert await found(database) == set()


async def test_records_take_everything(owner: Database, database: Database) -> None:
    """A type without a table has nothing to disagree with."""
    await make_type(owner, "quote")
    assert await found(database) == set()


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ("drop table public.quotes", ("error", "no_table")),
        ("alter table public.quotes drop column volume", ("error", "no_column")),
        ("alter table public.quotes drop column fetched_at", ("error", "no_column")),
        ("alter table public.quotes alter price type integer", ("error", "column_type")),
        ("alter table public.quotes alter volume type boolean using true", ("error", "column_type")),
        ("alter table public.quotes alter volume set not null", ("warning", "may_be_null")),
        ("alter table public.quotes add must text not null", ("error", "never_filled")),
        ("alter table public.quotes drop constraint quotes_pkey", ("error", "no_unique_key")),
        ("update livewell_private.data_type set source_rule = 'newer'", ("error", "no_source_time")),
    ],
)
async def test_a_table_that_does_not_fit(
    owner: Database, database: Database, change: str, finding: tuple[str, str]
) -> None:
    """Whatever keeps a model's rows from being stored is an error; what may is a warning."""
    await make_quotes(owner)
    await owner.execute(change)
    assert await found(database) == {finding}


async def test_a_trigger_with_borrowed_rights(owner: Database, database: Database) -> None:
    """A trigger that would run with Livewell's rights, and is nobody's who has them, is told."""
    await make_quotes(owner)
    await owner.execute("create role stranger")
    try:
        await owner.execute("create function public.own() returns trigger language plpgsql as 'begin return new; end'")
        await owner.execute(
            "create trigger own before insert on public.quotes for each row execute function public.own()"
        )
        assert await found(database) == set()
        await owner.execute("alter function public.own() owner to stranger")
        assert await found(database) == {("warning", "not_trusted")}
        await owner.execute("alter function public.own() security definer")
        assert await found(database) == set()
    finally:
        await owner.execute("drop owned by stranger cascade")
        await owner.execute("drop role stranger")


async def test_what_is_refused_is_found_first(owner: Database, database: Database, storing: Storing) -> None:
    """What storing would refuse for its table the check finds: the two ask the same questions."""
    await make_quotes(owner)
    assert await found(database, {**MODEL, "name": Column(type="string")}) == {("error", "no_column")}
    assert await storing.fetch("quote", {"A": {"price": 1, "name": "x"}}) == {"A": ("pending", "refused", "table")}


@pytest.mark.parametrize(
    "of_model", ["string", "integer", "number", "boolean", "object", "array", "timestamp", "date", "any"]
)
async def test_jsonb_and_text_hold_everything(owner: Database, database: Database, of_model: Any) -> None:
    """A column of JSON or text takes what any field brings."""
    await make_quotes(owner)
    await owner.execute("alter table public.quotes add t text, add j jsonb")
    assert await found(database, {name: Column(type=of_model) for name in "tj"} | MODEL) == set()


async def test_nonsense(owner: Database, database: Database) -> None:
    """An unknown type, or a model that says nothing of a column, is refused with a fact."""
    await make_quotes(owner)
    with pytest.raises(UnknownType):
        await FetchStore(database).check_storage("qoute", MODEL)
    for columns in ('{"price": {}}', '{"price": 1}', "[]", "null"):
        with pytest.raises(InvalidModel):
            await database.fetch("select * from livewell.check_storage('quote', $1::text::jsonb)", columns)
