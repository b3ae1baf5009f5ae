"""The trigger that tells what was written runs as Livewell's owner, whoever writes: strangers try to use it."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
import pytest_asyncio

from livewell.fetching import UnsoundTrigger
from livewell.fetching.tests.storing_surface import Storing, make_quotes
from livewell.kernel import Connection, Database, NotPermitted
from livewell.testing import make_type
from tests.contracts.guards import take_away

TELLS = "for each statement when (current_user <> 'livewell_writer') execute function livewell.tell_written('quote')"
EVIL = """
create sequence public.ran_as_owner;
grant usage on public.ran_as_owner to public;
create function public.evil() returns text language plpgsql volatile as $$
begin
    if has_table_privilege('livewell_private.audit_entry', 'select') then
        perform nextval('public.ran_as_owner');
    end if;
    return 'A';
end $$;
"""
RAN = "select is_called from public.ran_as_owner"


@pytest_asyncio.fixture
async def stranger(owner: Database) -> AsyncIterator[Connection]:
    """A login that may write the table of a type, make things of its own, and has no right on Livewell."""
    await make_quotes(owner)
    await owner.execute("insert into public.quotes (symbol, price) values ('A', 1)")
    await owner.execute(EVIL)
    # Roles are of the whole server, which tests share.
    role = f"writing_stranger_{uuid4().hex[:12]}"
    await owner.execute(f"create role {role}; grant create on schema public to {role}")
    await owner.execute(f"grant select, insert, update, trigger on public.quotes to {role}")
    try:
        async with owner.connection() as connection:
            await connection.execute(f"set role {role}")
            yield connection
            await connection.execute("reset role")
    finally:
        await owner.execute(f"drop owned by {role} cascade; drop role {role}")


async def test_a_stranger_makes_no_such_trigger(stranger: Connection) -> None:
    """Neither on a table of others nor on one of its own: it may not call the function."""
    await stranger.execute("create table public.mine (symbol text, price integer)")
    for table in ("public.quotes", "public.mine"):
        with pytest.raises(NotPermitted):
            await stranger.execute(
                f"create trigger t after insert on {table} referencing new table as new_rows {TELLS}"
            )


async def test_a_trigger_tells_of_its_own_table_only(owner: Database) -> None:
    """On another table than its type's it tells nothing: who writes there cannot tell of what he may not write."""
    await make_quotes(owner)
    await Storing(owner).fetch("quote", {"A": {"price": 1}})
    await owner.execute("create table public.other (symbol text)")
    await owner.execute(f"create trigger t after insert on public.other referencing new table as new_rows {TELLS}")
    with pytest.raises(UnsoundTrigger):
        await owner.execute("insert into public.other values ('A')")


async def test_a_temporary_view_is_no_transition_table(owner: Database, stranger: Connection) -> None:
    """A trigger without a transition table would read what the writer calls so, and run it as the owner."""
    await owner.execute(f"create trigger t after update on public.quotes {TELLS}")
    await stranger.execute("create temporary view new_rows as select public.evil() as symbol")
    await stranger.execute("create temporary view old_rows as select public.evil() as symbol")
    await stranger.execute("grant select on new_rows, old_rows to public")
    with pytest.raises(UnsoundTrigger):
        await stranger.execute("update public.quotes set price = 2")
    assert not await owner.fetchval(RAN)
    # That it is looked up so is what the guard is for.
    await take_away(owner, "tell_written", "num_nonnulls(g.tgnewtable, g.tgoldtable) > 0 and ", "")
    await take_away(owner, "tell_written", "if v_trigger.has_new then", "if true then")
    await stranger.execute("update public.quotes set price = 2")
    assert await owner.fetchval(RAN)


async def test_a_cast_of_the_writers_is_not_run(owner: Database, stranger: Connection) -> None:
    """Keys are written out by their type's own function: a cast may be anybody's, and would run as the owner."""
    await stranger.execute("create type public.sort as enum ('A', 'B')")
    await stranger.execute("create table public.sorted (symbol public.sort primary key, fetched_at timestamptz)")
    await stranger.execute(
        "create function public.shown(public.sort) returns text language sql volatile as 'select public.evil()'"
    )
    await stranger.execute("create cast (public.sort as text) with function public.shown(public.sort) as assignment")
    fields = {"table_name": "public.sorted", "key_column": "symbol", "time_column": "fetched_at"}
    await make_type(owner, "sorted", **fields)
    tells = TELLS.replace("'quote'", "'sorted'")
    await owner.execute(f"create trigger t after insert on public.sorted referencing new table as new_rows {tells}")
    await stranger.execute("insert into public.sorted values ('A')")
    assert not await owner.fetchval(RAN)
    await take_away(owner, "tell_written", "'concat(r.%I)'", "'(r.%I)::text'")
    await stranger.execute("insert into public.sorted values ('B')")
    assert await owner.fetchval(RAN)
