"""Whoever may call a function cannot slip a type, a function, an operator or a relation of theirs under its feet.

The stranger may make objects in `pg_temp` and even in `public`, and puts both first on the path. Hostile objects are
named like everything in PostgreSQL's own catalogue that our functions could mean, and each tells as whom it was run: by
a sequence, whose steps no rollback takes back.
"""

import re
import secrets
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

import asyncpg
import pytest
import pytest_asyncio

from livewell.kernel import Database, migrate
from livewell.testing import connected
from tests.house.project import sql_functions

ROLES = ("livewell_user", "livewell_anon", "livewell_service")

MARK = """
create sequence public.taken;
grant usage on sequence public.taken to public;
create function public.mark() returns boolean language plpgsql volatile set search_path = pg_catalog as $$
begin
    if current_user not in (session_user, 'livewell_user', 'livewell_anon', 'livewell_service') then
        perform nextval('public.taken');
    end if;
    return true;
end $$;
grant execute on function public.mark() to public
"""
# Every type of the catalogue as a domain whose check runs code, and every relation as a view that does.
IN_PG_TEMP = """
do $$
declare
    v_name text;
begin
    for v_name in select typname from pg_catalog.pg_type
        where typnamespace = 'pg_catalog'::regnamespace and typtype = 'b' and typname !~ '^_' and typelem = 0
    loop
        begin
            execute format('create domain pg_temp.%1$I as pg_catalog.%1$I check (public.mark())', v_name);
        exception when others then null;
        end;
    end loop;
    for v_name in select relname from pg_catalog.pg_class
        where relnamespace = any ('{pg_catalog,livewell,livewell_private}'::regnamespace[]) and relkind in ('r', 'v',
            'p')
    loop
        begin
            execute format('create temporary view %I as select public.mark() as hostile', v_name);
        exception when others then null;
        end;
    end loop;
end $$
"""
# Functions and operators for the very types our functions use; a closer match than PostgreSQL's own wins by the path.
IN_PUBLIC = """
do $$
declare
    v_one record;
begin
    for v_one in select p.oid, p.proname, pg_get_function_identity_arguments(p.oid) as arguments,
            pg_get_function_result(p.oid) as result
        from pg_catalog.pg_proc as p
        where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f' and p.provariadic = 0
            and p.proname = any (string_to_array('NAMES', ','))
            and not exists (
                select from unnest(p.proargtypes) as t (id) join pg_type as y on y.oid = t.id where y.typtype = 'p')
    loop
        begin
            execute format('create function public.%I(%s) returns %s language plpgsql as '
                '''begin perform public.mark(); return null; end''', v_one.proname, v_one.arguments, v_one.result);
        exception when others then null;
        end;
    end loop;
    for v_one in
        select o.oid, o.oprname, o.oprleft::regtype as l, o.oprright::regtype as r, o.oprresult::regtype as result
        from pg_catalog.pg_operator as o
        where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprkind = 'b'
            and o.oprleft = any ('{text,jsonb,uuid,timestamptz,int8,int4,interval,numeric,bool}'::regtype[])
    loop
        begin
            execute format('create function public.hostile_%s(%s, %s) returns %s language plpgsql as '
                '''begin perform public.mark(); return null; end''', v_one.oid, v_one.l, v_one.r, v_one.result);
            execute format('create operator public.%s (function = public.hostile_%s, leftarg = %s, rightarg = %s)',
                v_one.oprname, v_one.oid, v_one.l, v_one.r);
        exception when others then null;
        end;
    end loop;
end $$
"""
CALLABLE = """
select p.oid::regproc::text as name,
    array(select format_type(t, null) from unnest(p.proargtypes) with ordinality as a (t, n) order by n) as types
from pg_proc as p
where p.pronamespace = any ('{livewell,livewell_private}'::regnamespace[]) and has_function_privilege($1, p.oid,
    'execute')
order by p.proname
"""
# A value that gets further than a null does, by the type of the parameter.
SAMPLES = {
    "text": "'x'",
    "jsonb": """'[{"type": "x", "key": "x", "kind": "x", "payload": {}}]'""",
    "uuid": "'00000000-0000-4000-8000-000000000000'",
    "timestamp with time zone": "'2026-01-01'",
    "integer": "1",
    "bigint": "1",
    "interval": "'1 minute'",
    "boolean": "true",
    "text[]": "'{x}'",
    "bigint[]": "'{1}'",
    "integer[]": "'{1}'",
    "uuid[]": "'{00000000-0000-4000-8000-000000000000}'",
    "jsonb[]": "'{}'",
}


EVERY_FUNCTION = """
do $$
declare
    v_function regprocedure;
begin
    for v_function in select oid from pg_proc where pronamespace = any
        ('{livewell,livewell_private}'::regnamespace[]) loop
        execute format('alter function %s ' || $change$CHANGE$change$, v_function);
    end loop;
end $$
"""
OTHER_PATHS = """
select count(*) from pg_proc
where pronamespace = any ('{livewell,livewell_private}'::regnamespace[]) and prosqlbody is null
    and not coalesce(proconfig, '{}') @> array['search_path=pg_catalog, pg_temp']
"""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The stranger's session with everything hostile in place, and the owner's, which looks on."""

    stranger: "asyncpg.Connection[asyncpg.Record]"
    owner: Database

    async def taken(self) -> set[str]:
        """The functions in which something hostile ran with the rights of anybody but who called them."""
        found = set()
        for role in ROLES:
            for function in await self.owner.fetch(CALLABLE, role):
                before = await self._marks()
                for arguments in _arguments(function["types"]):
                    await self._call(role, f"select * from {function['name']}({arguments})")
                if await self._marks() != before:
                    found.add(function["name"])
        return found

    async def _call(self, role: str, statement: str) -> None:
        """Whether it succeeds is nobody's concern here; nothing of it stays."""
        await self.stranger.execute(f"begin; set local role {role}")
        with suppress(asyncpg.PostgresError):
            await self.stranger.execute(
                "select pg_catalog.set_config('request.jwt.claims', '{\"sub\": \"mallory\"}', true)"
            )
            await self.stranger.execute(statement)
        await self.stranger.execute("rollback")

    async def _marks(self) -> int:
        return int(await self.owner.fetchval("select last_value + is_called::integer from public.taken"))


@pytest_asyncio.fixture
async def stage(owner: Database, owner_url: str) -> AsyncIterator[Stage]:
    """A login that was let do all that a login may be let do."""
    name = f"stranger_{secrets.token_hex(4)}"
    await owner.execute(f"create role {name} nologin")
    try:
        await owner.execute(f"grant {', '.join(ROLES)} to {name}")
        await owner.execute(f"grant create, usage on schema public to {name}")
        database = await owner.fetchval("select current_database()")
        await owner.execute(f"grant temporary on database {database} to {name}")
        async with connected(owner_url) as stranger:
            await stranger.execute(f"set session authorization {name}")
            for statement in (MARK, IN_PUBLIC.replace("NAMES", ",".join(sorted(_called()))), IN_PG_TEMP):
                await stranger.execute(statement)
            await stranger.execute("set search_path = pg_temp, public, pg_catalog, livewell")
            yield Stage(stranger=stranger, owner=owner)
    finally:
        await owner.execute(f"drop owned by {name} cascade")
        await owner.execute(f"drop role {name}")


def _called() -> set[str]:
    """Whatever our functions call without naming a schema."""
    return set(
        chain.from_iterable(re.findall(r"(?<![.\w])([a-z_]+)\(", function.statement) for function in sql_functions())
    )


def _arguments(types: list[str]) -> list[str]:
    return [", ".join("null" for _ in types), ", ".join(SAMPLES.get(parameter, "null") for parameter in types)]


async def test_nothing_of_a_strangers_runs_with_our_rights(stage: Stage) -> None:
    """Hostile domains, views, functions and operators run in no function that a user, anybody or a service may call."""
    assert await stage.taken() == set()


@pytest.mark.parametrize(
    ("path", "least"), [("set search_path = ''", 40), ("reset search_path", 40)], ids=["empty path", "no path"]
)
async def test_the_path_is_what_keeps_strangers_out(stage: Stage, path: str, least: int) -> None:
    """With an empty path, or with none, many a function runs what a stranger made."""
    await stage.owner.execute(EVERY_FUNCTION.replace("CHANGE", path))
    assert len(await stage.taken()) >= least


async def test_a_migration_mends_the_path(owner: Database, owner_url: str) -> None:
    """A database whose functions had an empty path has none left after a migration."""
    await owner.execute(EVERY_FUNCTION.replace("CHANGE", "set search_path = ''"))
    assert await owner.fetchval(OTHER_PATHS) > 0
    await migrate(owner_url)
    assert await owner.fetchval(OTHER_PATHS) == 0
