"""Presence that is read from a view, a table or a function of the user's."""

from datetime import datetime
from typing import Any

import pytest
from pydantic_core import to_json

from livewell.audit import AuditStore
from livewell.kernel import Database
from livewell.presence import InvalidSource, PresenceStore
from livewell.presence.tests.surface import GONE_AFTER, MINUTE, NOON, SECOND, PresenceSql

TABLE = "create table public.looking (user_id text, data_type text, key text)"
GRANT = "grant select on public.looking to livewell_reader"


@pytest.fixture
async def source(presence: PresenceSql, owner: Database) -> PresenceSql:
    """A source `web` that reads the table `public.looking`."""
    await owner.execute(TABLE)
    await owner.execute(GRANT)
    await declare(owner, web={"reads": "public.looking", "every": "10 seconds"})
    return presence


async def declare(owner: Database, **sources: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    statement = "select name, change, field from livewell.apply_presence_sources($1::text::jsonb, false, 'me', $2)"
    return [tuple(row) for row in await owner.fetch(statement, to_json(sources).decode(), NOON)]


async def looking(owner: Database, *rows: tuple[str, str]) -> None:
    await owner.execute("delete from public.looking")
    for user, key in rows:
        await owner.execute("insert into public.looking values ($1, 'quote', $2)", user, key)


async def read(presence: PresenceSql, now: datetime) -> dict[str, Any]:
    """Run the task until it does not ask to be run again; what all its runs did."""
    done = {"came": 0, "went": 0, "failed": 0}
    again = True
    while again:
        told = await presence.task("presence_sources", now)
        again = told.pop("again_in") is not None
        done = {name: done[name] + told[name] for name in done}
    return done


async def test_viewers_are_what_the_source_says(source: PresenceSql, owner: Database) -> None:
    """Who comes, who leaves and who changes is found by comparing; what stays is not written."""
    await looking(owner, ("anna", "A"), ("anna", "B"), ("bert", "A"))
    assert await read(source, NOON) == {"came": 3, "went": 0, "failed": 0}
    assert await source.viewers() == {"A": 2, "B": 1}
    await looking(owner, ("anna", "A"), ("anna", "C"), ("carl", "A"))
    assert await read(source, NOON + 5 * SECOND) == {"came": 0, "went": 0, "failed": 0}
    assert await read(source, NOON + 10 * SECOND) == {"came": 2, "went": 2, "failed": 0}
    assert await source.viewers() == {"A": 2, "C": 1}
    assert await read(source, NOON + 20 * SECOND) == {"came": 0, "went": 0, "failed": 0}
    assert await source.is_exact()


async def test_a_user_of_two_sources_is_one_viewer(source: PresenceSql, owner: Database) -> None:
    """What a source says adds to what sessions say, and users are distinct over all."""
    await looking(owner, ("anna", "A"))
    await read(source, NOON)
    await source.open((1, "anna"), (2, "bert"))
    await source.subscribe((1, "A"), (2, "A"))
    assert await source.viewers() == {"A": 2}
    await looking(owner, ("carl", "B"))
    await read(source, NOON + MINUTE)
    assert await source.viewers() == {"A": 2, "B": 1}


async def test_a_function_is_read_like_a_view(source: PresenceSql, owner: Database) -> None:
    """A function without parameters that returns the columns, with its owner's rights."""
    await owner.execute(
        "create function public.who() returns table (user_id text, data_type text, key text)"
        " language sql security definer as $$ values ('anna', 'quote', 'F') $$"
    )
    await declare(owner, web={"reads": "public.who"})
    await read(source, NOON)
    assert await source.viewers() == {"F": 1}


async def test_a_schema_need_be_open_to_the_reader_alone(presence: PresenceSql, owner: Database) -> None:
    """What `grant usage … to livewell_reader` says is enough; livewell_owner needs no right there."""
    await owner.execute("create schema shop; create table shop.looking (user_id text, data_type text, key text)")
    await owner.execute(
        "grant usage on schema shop to livewell_reader; grant select on shop.looking to livewell_reader"
    )
    await owner.execute("insert into shop.looking values ('anna', 'quote', 'A')")
    async with owner.transaction() as connection:
        await connection.execute("set local role livewell_owner")
        statement = "select name from livewell.apply_presence_sources($1::text::jsonb, false, 'me', $2)"
        await connection.fetch(statement, '{"web": {"reads": "shop.looking"}}', NOON)
        await connection.fetchval("select livewell_private.task_presence_sources($1)", NOON)
    assert await presence.viewers() == {"A": 1}


async def test_a_silent_source_keeps_its_viewers_for_a_while(source: PresenceSql, owner: Database) -> None:
    """Nobody at all, where there were viewers, is taken for a fault: warned about, and believed after five minutes."""
    await looking(owner, ("anna", "A"))
    await read(source, NOON)
    await looking(owner)
    for minute in range(1, 5):
        await read(source, NOON + minute * MINUTE)
        await source.sweep(NOON + minute * MINUTE)
        assert await source.viewers() == {"A": 1}
    assert "presence.source_silent web" in await source.warnings()
    (found,) = await PresenceStore(owner).list_sources()
    assert found.silent_since == NOON + MINUTE
    await source.sweep(NOON + GONE_AFTER)
    assert await source.viewers() == {}
    await read(source, NOON + GONE_AFTER)
    (found,) = await PresenceStore(owner).list_sources()
    assert (found.silent_since, found.users) == (None, 0)


async def test_a_failing_source_keeps_its_viewers_for_a_while(source: PresenceSql, owner: Database) -> None:
    """Its error is warned about; it stops no other source; once it is back its viewers are."""
    await owner.execute("create table public.other as select 'bert' as user_id, 'quote' as data_type, 'O' as key")
    await owner.execute("grant select on public.other to livewell_reader")
    await declare(owner, other={"reads": "public.other"})
    await looking(owner, ("anna", "A"))
    await read(source, NOON)
    await owner.execute("alter table public.looking rename to lost")
    assert (await read(source, NOON + 4 * MINUTE))["failed"] == 1
    assert await source.viewers() == {"A": 1, "O": 1}
    assert "public.looking" in (await source.warnings())["presence.source_failed web"]
    await source.sweep(NOON + GONE_AFTER)
    assert await source.viewers() == {"O": 1}
    await owner.execute("alter table public.lost rename to looking")
    await read(source, NOON + GONE_AFTER + MINUTE)
    assert await source.viewers() == {"A": 1, "O": 1}
    assert await source.is_exact()


async def test_a_source_that_comes_back_before_the_sweeper_begins_anew(source: PresenceSql, owner: Database) -> None:
    """Its old viewers are past their time: they are undone first, and then it is as the source says."""
    await looking(owner, ("anna", "A"), ("bert", "B"))
    await read(source, NOON)
    await looking(owner, ("anna", "A"))
    assert await read(source, NOON + GONE_AFTER) == {"came": 1, "went": 0, "failed": 0}
    assert await source.viewers() == {"A": 1}
    assert await source.is_exact()


async def test_rows_that_livewell_does_not_know_are_left_out(source: PresenceSql, owner: Database) -> None:
    """An unknown type, a key that is none, a user that is none: counted, warned about, and the rest is taken."""
    await looking(owner, ("anna", "A"), ("anna", "two words"), ("", "A"))
    await owner.execute(
        "insert into public.looking values ('bert', 'quotes', 'A'), (null, 'quote', 'A'), ('bert', null, null)"
    )
    assert (await read(source, NOON))["came"] == 1
    assert await source.viewers() == {"A": 1}
    assert (await source.warnings())["presence.source_rows_skipped web"].startswith("5 of 6 rows")
    (found,) = await PresenceStore(owner).list_sources()
    assert (found.rows_read, found.rows_skipped, found.users) == (6, 5, 1)


@pytest.mark.parametrize(
    ("made", "reads", "told"),
    [
        ("select 1", "public.nothing", "there is no table, view or function"),
        ("create table public.t (user_id text, key text)", "public.t", "lacks one of the columns"),
        ("create table public.t (user_id text, data_type text, key text)", "public.t", "may not read"),
        (
            (
                "create function public.t() returns table (user_id text, data_type text, key text)"
                " language sql as $$ select '', '', '' $$"
            ),
            "public.t",
            "is not security definer",
        ),
        ("select 1", "looking; drop table x", "cannot be so|there is no table"),
    ],
)
async def test_a_source_that_cannot_be_read_is_not_declared(
    presence: PresenceSql, owner: Database, made: str, reads: str, told: str
) -> None:
    """It is tried when it is declared, and refused with what is wrong."""
    del presence
    await owner.execute(made)
    with pytest.raises(InvalidSource, match=told):
        await declare(owner, web={"reads": reads})
    assert await PresenceStore(owner).list_sources() == []


async def test_a_declaration_changes_what_differs(source: PresenceSql, owner: Database, database: Database) -> None:
    """Declared again it is the same; a changed field is told, applied and audited; what cannot be is refused."""
    del source
    assert await declare(owner, web={"reads": "public.looking"}) == [("web", "same", None)]
    assert await declare(owner, web={"every": "20 seconds", "enabled": False}) == [
        ("web", "change", "enabled"),
        ("web", "change", "every"),
    ]
    for wrong in ({"every": "2 minutes"}, {"every": "soon"}, {"evry": "1 minute"}):
        with pytest.raises(InvalidSource):
            await declare(owner, web=wrong)
    events = [
        entry.event for entry in await AuditStore(database).list_entries() if entry.table_name == "presence_source"
    ]
    assert events == ["presence_source_changed", "presence_source_declared"]
