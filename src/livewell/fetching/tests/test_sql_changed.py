"""What the application writes itself is seen when it says so, or when a trigger of its table does."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
import pytest_asyncio

from livewell.fetching import UnsoundTrigger
from livewell.fetching.tests.storing_surface import MINUTE, NOON, Storing, make_quotes
from livewell.fetching.tests.test_sql_versions import listening, version
from livewell.kernel import Connection, Database
from livewell.registry import UnknownType
from livewell.testing import make_type

TRIGGER = """
create trigger tell_{event} after {event} on public.quotes referencing {tables}
for each statement when (current_user <> 'livewell_writer') execute function livewell.tell_written('quote')
"""
EVENTS = {
    "insert": "new table as new_rows",
    "update": "old table as old_rows new table as new_rows",
    "delete": "old table as old_rows",
}


async def changed(caller: "Database | Connection", *keys: str, data_type: str = "quote") -> dict[str, str]:
    rows = await caller.fetch("select * from livewell.changed($1, $2)", data_type, keys)
    return {row["key"]: row["outcome"] for row in rows}


async def test_who_writes_says_so(owner: Database, database: Database, storing: Storing) -> None:
    """These keys have a new version and are told; the next fetch asks without a condition; nothing is any younger."""
    await make_quotes(owner)
    a, b = await storing.watch("quote", "A", "B")
    await storing.fetch("quote", {"A": {"price": 1}, "B": {"price": 1}}, etag='"1"')
    before = [await version(owner, key) for key in "AB"]
    async with listening(owner) as ear:
        assert await changed(database, "A", "A", "nobody") == {"A": "changed", "nobody": "unknown"}
        assert await ear.heard() == [(a, await version(owner, "A"))]
    assert await version(owner, "A") > before[0]
    assert await version(owner, "B") == before[1]
    assert await storing.table("livewell_private.fetch_state", "item_id", "1") == [(b,)]
    assert (await storing.item(a))["fetched_at"] == NOON
    assert await changed(database) == {}


async def test_an_unknown_type_is_refused(database: Database) -> None:
    """As everywhere."""
    with pytest.raises(UnknownType):
        await changed(database, "A")


async def test_what_somebody_holds_is_busy(owner: Database, storing: Storing) -> None:
    """An item in somebody's open transaction is not waited for, and the answer says so."""
    await make_type(owner, "quote")
    await storing.fetch("quote", {"A": {"price": 1}, "B": {"price": 1}})
    before = await version(owner, "A")
    async with owner.transaction() as stranger:
        await stranger.execute("select from livewell_private.item where key = 'A' for update")
        assert await changed(owner, "A", "B") == {"A": "busy", "B": "changed"}
    assert await version(owner, "A") == before


@pytest_asyncio.fixture
async def application(owner: Database, storing: Storing) -> AsyncIterator[Connection]:
    """A login that may write the table and has no right on Livewell, and triggers that tell what it writes."""
    await make_quotes(owner)
    await storing.watch("quote", "A", "B", "C")
    await storing.fetch("quote", {key: {"price": 1} for key in "ABC"})
    for event, tables in EVENTS.items():
        await owner.execute(TRIGGER.format(event=event, tables=tables))
    # Roles are of the whole server, which tests share.
    role = f"writing_application_{uuid4().hex[:12]}"
    await owner.execute(f"create role {role}")
    await owner.execute(f"grant select, insert, update, delete on public.quotes to {role}")
    try:
        async with owner.connection() as connection:
            await connection.execute(f"set role {role}")
            yield connection
            await connection.execute("reset role")
    finally:
        await owner.execute(f"drop owned by {role}")
        await owner.execute(f"drop role {role}")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("update public.quotes set price = 2 where symbol <> 'C'", "AB"),
        ("update public.quotes set price = 2 where symbol = 'nobody'", ""),
        ("insert into public.quotes (symbol, price) values ('D', 1), ('A', 1) on conflict (symbol) do nothing", ""),
        ("delete from public.quotes where symbol = 'B'", "B"),
        ("update public.quotes set symbol = 'Z' where symbol = 'C'", "C"),
    ],
)
async def test_a_trigger_tells_what_is_written(
    owner: Database, application: Connection, statement: str, expected: str
) -> None:
    """Whoever writes, with whatever rights: the keys that were written, and those that were there before."""
    before = {key: await version(owner, key) for key in "ABC"}
    await application.execute(statement)
    assert [key for key in "ABC" if await version(owner, key) > before[key]] == list(expected)


async def test_livewells_own_writes_are_not_told_twice(
    owner: Database, application: Connection, storing: Storing
) -> None:
    """A store has told of what it changed: the trigger is left alone, and the conditions of the answer stay."""
    assert not application.is_closed()
    async with listening(owner) as ear:
        await storing.fetch("quote", {"A": {"price": 7}}, NOON + MINUTE, etag='"7"')
        assert len(await ear.heard()) == 1
    assert len(await storing.table("livewell_private.fetch_state", "*", "1")) == 1


async def test_a_type_that_is_gone_stops_nobody(owner: Database, application: Connection) -> None:
    """A trigger that outlives its type tells nobody, and the application writes as before."""
    for event, tables in EVENTS.items():
        await owner.execute(f"drop trigger tell_{event} on public.quotes")
        made = TRIGGER.format(event=event, tables=tables).replace("'quote'", "'removed'")
        await owner.execute(made)
    assert await application.execute("update public.quotes set price = 3") == "UPDATE 3"


@pytest.mark.parametrize(
    "made",
    [
        "for each statement when (true)",
        "referencing new table as new_rows for each statement",
        "referencing new table as others for each statement when (true)",
        "for each row when (true)",
        "referencing new table as new_rows for each row when (true)",
    ],
)
async def test_a_trigger_that_cannot_tell_is_refused(owner: Database, made: str) -> None:
    """Without its transition table, its name or its condition: the first write says so, and how it is made."""
    await make_quotes(owner)
    await owner.execute("insert into public.quotes (symbol, price) values ('A', 1)")
    await owner.execute(
        f"create trigger tell after update on public.quotes {made} execute function livewell.tell_written('quote')"
    )
    with pytest.raises(UnsoundTrigger, match="cannot tell what was written"):
        await owner.execute("update public.quotes set price = 2")
