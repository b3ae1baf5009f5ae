"""What is not Livewell's: who owns what Livewell reads, writes or calls tries to become Livewell's owner through it.

The stranger's code does, from inside, what only the owner may: read the audit log, change a setting, make a table. How
often it managed to, and as whom it ran, is counted in sequences, which nothing takes back.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from pydantic_core import to_json

from livewell.fetching.tests.storing_surface import NOON, Storing, fetched
from livewell.kernel import Database, LivewellError, NotPermitted
from livewell.presence import InvalidSource
from livewell.registry import InvalidType
from livewell.schedule import InvalidTask
from livewell.testing import make_type
from tests.contracts.guards import take_away

READER, WRITER, OWNER, SESSION = "livewell_reader", "livewell_writer", "livewell_owner", "session"

STRANGE = f"""
create schema strange;
grant usage on schema strange to public;
create sequence strange.managed;
create sequence strange.ran_{READER};
create sequence strange.ran_{WRITER};
create sequence strange.ran_{OWNER};
create sequence strange.ran_{SESSION};
grant usage on all sequences in schema strange to public;
create function strange.attack() returns text language plpgsql volatile as $$
declare
    v_deed text;
begin
    foreach v_deed in array array[
        'select count(*) from livewell_private.audit_entry',
        'update livewell_private.setting set value = value where false',
        'create table livewell.taken (id bigint primary key)'
    ] loop
        begin
            execute v_deed;
            perform nextval('strange.managed');
        exception when insufficient_privilege or duplicate_table then
            null;
        end;
    end loop;
    perform nextval('strange.ran_' || case when current_user = session_user then '{SESSION}' else current_user end);
    return 'A';
end $$;
create function strange.calm(text) returns text language sql immutable as $$ select strange.attack() $$;
create function strange.pull() returns trigger language plpgsql
as $$ begin perform strange.attack(); return new; end $$;
create table strange.prices (symbol text primary key, price text, fetched_at timestamptz);
insert into strange.prices values ('A', '1', '{NOON.isoformat()}');
grant select, insert, update on strange.prices to public;
"""
PRICES = {"table_name": "strange.prices", "key_column": "symbol", "time_column": "fetched_at"}


@dataclass(frozen=True)
class Stage:
    """A stranger's schema, and Livewell as a login that is only its service."""

    owner: Database
    service: Database

    async def prepare(self, change: str) -> None:
        """Make what the stranger has; what ran while it was made is forgotten."""
        await self.owner.execute(change)
        await self.owner.execute("drop table if exists livewell.taken")
        await self.owner.fetch(
            "select setval(c.oid::regclass, 1, false) from pg_class as c"
            " where c.relnamespace = 'strange'::regnamespace and c.relkind = 'S'"
        )

    async def ran_as(self) -> set[str]:
        """Who ran the stranger's code."""
        rows = await self.owner.fetch(
            "select sequencename::text as name from pg_sequences"
            " where schemaname = 'strange' and last_value is not null"
        )
        return {row["name"].removeprefix("ran_") for row in rows}

    async def store(self) -> str:
        """A refresh of key A is stored by the service; its outcome."""
        held = await Storing(self.owner).hold_one("price", "A")
        answers = await Storing(self.service).end(fetched(held, {"symbol": "A", "price": "2"}))
        return answers["A"][1]

    async def read(self) -> None:
        """What the service asks of a type: to be checked, read and listed."""
        await self.service.fetch("select * from livewell.check_types()")
        await self.service.fetch("select * from livewell.read_items('price', '{A}')")
        await self.service.fetch("select * from livewell.list_keys('price')")

    async def run(self, task: str) -> Any:
        return await self.service.fetchval("select livewell.run_task($1, true)::text", task)


@pytest_asyncio.fixture
async def stage(owner: Database, database: Database) -> Stage:
    await owner.execute(STRANGE)
    return Stage(owner, database)


async def presence_view(stage: Stage) -> None:
    await stage.owner.execute(
        "create view strange.looking as select 'anna' as user_id, 'price' as data_type, strange.attack() as key;"
        " grant select on strange.looking to public"
    )
    declared = to_json({"web": {"reads": "strange.looking"}}).decode()
    await stage.service.fetch("select * from livewell.apply_presence_sources($1::text::jsonb)", declared)
    await stage.run("presence_sources")


async def policy_when_read(stage: Stage) -> None:
    await make_type(stage.owner, "price", **PRICES)
    await stage.owner.execute(
        "create policy sly on strange.prices using (strange.attack() is not null);"
        " alter table strange.prices enable row level security"
    )
    await stage.read()


async def view_of_a_type(stage: Stage) -> None:
    await stage.owner.execute(
        "create view strange.shown as select strange.attack() as symbol, fetched_at from strange.prices;"
        " grant select on strange.shown to public"
    )
    await make_type(stage.owner, "price", **{**PRICES, "table_name": "strange.shown"})
    await stage.read()


async def cast_when_read(stage: Stage) -> None:
    await stage.prepare(
        "create domain strange.symbol as text check (strange.attack() is not null);"
        " alter table strange.prices alter symbol type strange.symbol"
    )
    await make_type(stage.owner, "price", **PRICES)
    await stage.read()


async def staleness(stage: Stage) -> None:
    await stage.owner.execute(
        "create function strange.stale(timestamptz, interval, timestamptz) returns boolean language sql"
        " as $$ select strange.attack() is null $$"
    )
    await make_type(stage.owner, "price", staleness="strange.stale", **PRICES)
    await stage.read()


async def gate(stage: Stage) -> None:
    await stage.owner.execute(
        "create function strange.gate(text[], timestamptz) returns table (key text, open boolean, opens_at timestamptz)"
        " language sql as $$ select strange.attack(), true, null::timestamptz $$"
    )
    await make_type(stage.owner, "price", gate="strange.gate")
    await stage.service.fetch("select * from livewell.check_types()")


async def catalogue(stage: Stage) -> None:
    await stage.owner.execute(
        "create view strange.listed as select strange.attack() as symbol; grant select on strange.listed to public"
    )
    await make_type(stage.owner, "price", keys_table="strange.listed", keys_key_column="symbol")
    await stage.read()


async def task(stage: Stage) -> None:
    """The function was what it should be when it was declared, and takes the rights of its caller when it is run."""
    await stage.owner.execute(
        "create function strange.sweep(p_now timestamptz) returns jsonb language sql security definer"
        " as $$ select to_jsonb(strange.attack()) $$"
    )
    declared = to_json({"sweep": {"run": "strange.sweep", "every": "1 hour"}}).decode()
    await stage.service.fetch("select livewell.declare_tasks($1::text::jsonb)", declared)
    await stage.owner.execute("alter function strange.sweep security invoker")
    assert "is not security definer" in await stage.run("sweep")
    assert await stage.ran_as() == set()
    await take_away(stage.owner, "check_task_function", "if not v_function.prosecdef and", "if false and")
    await stage.run("sweep")


def written(change: str) -> Callable[[Stage], Awaitable[None]]:
    async def attack(stage: Stage) -> None:
        await make_type(stage.owner, "price", **PRICES)
        await stage.prepare(f"delete from strange.prices; {change}")
        await stage.store()

    return attack


# One for each function that runs as the reader.
READ: dict[str, Callable[[Stage], Awaitable[None]]] = {
    "read_foreign_presence": presence_view,
    "read_foreign_rows": policy_when_read,
    "read_foreign_ages": cast_when_read,
    "judge_foreign_ages": staleness,
    "ask_foreign": catalogue,
    "run_foreign_task": task,
}
MORE_READ = {"a view as a type's table": view_of_a_type, "a gate": gate}
ALTER = "alter table strange.prices "
WRITTEN = {
    "trigger before": written(
        "create trigger sly before insert or update on strange.prices for each row execute function strange.pull()"
    ),
    "trigger after": written(
        "create trigger sly after insert or update on strange.prices for each row execute function strange.pull()"
    ),
    "trigger deferred": written(
        "create constraint trigger sly after insert or update on strange.prices deferrable initially deferred"
        " for each row execute function strange.pull()"
    ),
    "default": written(f"{ALTER} add made text default strange.attack()"),
    "check": written(f"{ALTER} add constraint sly check (strange.attack() is not null)"),
    "generated": written(f"{ALTER} add made text generated always as (strange.calm(price)) stored"),
    "index expression": written("create index on strange.prices (strange.calm(price))"),
    "index predicate": written("create index on strange.prices (price) where strange.calm(price) = 'A'"),
    "domain": written(
        "create domain strange.price as text check (strange.attack() is not null);"
        f"{ALTER} alter price type strange.price"
    ),
    "cast": written(
        "create type strange.named as (name text);"
        " create function strange.name(text) returns strange.named language sql"
        " as $$ select row (strange.attack())::strange.named $$;"
        " create cast (text as strange.named) with function strange.name(text);"
        f"{ALTER} alter symbol type strange.named using row (symbol)::strange.named"
    ),
    "policy": written(
        "create policy sly on strange.prices using (strange.attack() is not null)"
        " with check (strange.attack() is not null);"
        f"{ALTER} enable row level security"
    ),
}


@pytest.mark.parametrize("attack", [*READ.values(), *MORE_READ.values()], ids=[*READ, *MORE_READ])
async def test_what_is_read_or_called_runs_as_the_reader(
    stage: Stage, attack: Callable[[Stage], Awaitable[None]]
) -> None:
    """A view, policy, domain, staleness function, gate, catalogue or task runs as livewell_reader, in vain."""
    await attack(stage)
    assert await stage.ran_as() == {READER}


@pytest.mark.parametrize("attack", WRITTEN.values(), ids=WRITTEN)
async def test_what_is_written_to_runs_as_the_writer(stage: Stage, attack: Callable[[Stage], Awaitable[None]]) -> None:
    """Whatever a table that Livewell stores in makes run, runs as livewell_writer and can do nothing."""
    await attack(stage)
    assert await stage.ran_as() == {WRITER}


def calling(function: str) -> Callable[[Stage], Awaitable[None]]:
    return READ.get(function, WRITTEN["trigger before"])


async def signature(stage: Stage, function: str) -> Any:
    return await stage.owner.fetchval("select to_regproc('livewell_private.' || $1)::oid::regprocedure::text", function)


FOREIGN = pytest.mark.parametrize("function", [*READ, "store_foreign_rows"])


@FOREIGN
@pytest.mark.parametrize("change", [f"owner to {OWNER}", "security invoker"])
async def test_a_function_that_lost_its_role_is_not_called(stage: Stage, function: str, change: str) -> None:
    """A function that belongs to somebody else, or runs as who calls it, is not called: it would run as the owner."""
    await stage.owner.execute(f"alter function {await signature(stage, function)} {change}")
    with suppress(NotPermitted):
        await calling(function)(stage)
    assert await stage.ran_as() <= {READER}


async def test_a_writer_that_got_into_the_schema_gets_no_further(stage: Stage) -> None:
    """Where the writer was let into the schema, as by whoever made it a member of himself, a trigger may spoil the
    function that it is run by: nothing is stored any more until it is mended, and nothing runs as the owner.
    """
    await make_type(stage.owner, "price", **PRICES)
    await stage.prepare(
        "grant usage on schema livewell_private to livewell_writer;"
        " create function strange.spoil() returns trigger language plpgsql as $$ begin"
        f"  alter function {await signature(stage, 'store_foreign_rows')} security invoker;"
        "  perform strange.attack(); return new; end $$;"
        " create trigger sly before insert or update on strange.prices for each row execute function strange.spoil()"
    )
    assert [await stage.store(), await stage.store()] == ["fetched", "refused"]
    assert OWNER not in await stage.ran_as()


@FOREIGN
async def test_the_roles_are_what_keeps_them_out(stage: Stage, function: str) -> None:
    """Given back to the owner, each function that touches what is not Livewell's lets a stranger become owner."""
    await take_away(stage.owner, "require_foreign", "if not exists (", "if false and not exists (")
    await stage.owner.execute(f"alter function {await signature(stage, function)} owner to {OWNER}")
    await calling(function)(stage)
    assert {"managed", OWNER} <= await stage.ran_as()


AGAIN = """
create function strange.again() returns trigger language plpgsql as $$
begin
    perform strange.attack();
    set constraints all deferred;
    insert into strange.after values (pg_trigger_depth());
    return null;
end $$;
create table strange.after (depth integer);
grant insert on strange.after to public;
create constraint trigger sly after insert or update on strange.prices deferrable initially deferred
for each row execute function strange.again();
create constraint trigger sly after insert on strange.after deferrable initially deferred
for each row execute function strange.pull();
"""


async def test_what_waits_for_the_commit_never_runs_as_the_owner(stage: Stage) -> None:
    """A trigger that puts another off while it fires has that fire at the commit: as the writer from PostgreSQL 18 on,
    as the session's login before, never as the owner.
    """
    await make_type(stage.owner, "price", **PRICES)
    await stage.prepare(AGAIN)
    assert await stage.store() == "fetched"
    server = await stage.owner.fetchval("select current_setting('server_version_num')::integer / 10000")
    assert await stage.ran_as() == ({WRITER} if server >= 18 else {WRITER, SESSION})
    assert await stage.owner.fetchval("select count(*) from strange.after") == 1


async def test_what_a_session_left_for_its_commit_never_runs_as_the_owner(stage: Stage) -> None:
    """A service whose own deferred trigger waits stores and runs a task: neither fires it with the owner's rights."""
    await make_type(stage.owner, "price", **PRICES)
    await stage.prepare(AGAIN)
    held = await Storing(stage.owner).hold_one("price", "A")
    await stage.owner.execute("drop trigger sly on strange.prices")
    async with stage.service.connection() as connection, connection.transaction():
        await connection.execute("insert into strange.after values (0)")
        await Storing(connection).end(fetched(held, {"symbol": "A", "price": "2"}))
        await connection.execute("insert into strange.after values (0)")
        await connection.fetchval("select livewell.run_task('check', true)")
    assert (await stage.ran_as()) <= {WRITER, READER, SESSION}
    assert await stage.ran_as()


async def test_reading_leaves_nothing_behind(stage: Stage) -> None:
    """What a stranger's code did while it was read is taken back: rows, settings of the session, and
    that it dropped all that the reader has.
    """
    await stage.owner.execute(
        "create table strange.left (what text); grant insert on strange.left to public;"
        " create function strange.leave() returns text language plpgsql as $$ begin"
        "  insert into strange.left values ('a row'); perform set_config('search_path', 'strange', false);"
        "  drop owned by livewell_reader cascade; perform nextval('strange.managed'); return 'A'; end $$;"
        " create view strange.listed as select strange.leave() as symbol; grant select on strange.listed to public"
    )
    await make_type(stage.owner, "price", keys_table="strange.listed", keys_key_column="symbol")
    async with stage.service.connection() as connection:
        for _ in range(2):
            rows = await connection.fetch("select key from livewell.list_keys('price')")
            assert [row["key"] for row in rows] == ["A"]
        assert await connection.fetchval("select current_setting('search_path')") != "strange"
    assert await stage.ran_as() == {"managed"}
    assert await stage.owner.fetchval("select count(*) from strange.left") == 0


@pytest.mark.parametrize("row_key", ["symbol", "symbol, price"])
async def test_one_bad_type_stops_itself_only(stage: Stage, owner: Database, row_key: str) -> None:
    """In one batch, tables that fail when read or written, or may not be, are refused, and the sound one is stored."""
    bad = {
        "failing": "create trigger no before insert on strange.failing for each row execute function strange.fail()",
        "sly": "alter table strange.sly enable row level security;"
        " create policy no on strange.sly using (strange.fails())",
        "closed": "revoke all on strange.closed from public",
        "frozen": "revoke update on strange.frozen from public",
    }
    await owner.execute(
        "create function strange.fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$;"
        " create function strange.fails() returns boolean language plpgsql as $$ begin raise 'no'; end $$"
    )
    for name in (*bad, "sound"):
        await owner.execute(
            f"create table strange.{name} (symbol text, price text, fetched_at timestamptz, primary key ({row_key}));"
            f" insert into strange.{name} values ('A', '1', now());"
            f" grant select, insert, update on strange.{name} to public; {bad.get(name, '')}"
        )
        await make_type(owner, name, **{**PRICES, "table_name": f"strange.{name}"})
    held = [await Storing(owner).hold_one(name, "A") for name in (*bad, "sound")]
    answers = await Storing(stage.service).answers(*(fetched(job, {"symbol": "A", "price": "2"}) for job in held))
    by_job = {row["job_id"]: row["outcome"] for row in answers}
    assert [by_job[job["job"]] for job in held] == ["refused"] * 4 + ["fetched"]


@pytest.mark.parametrize("schema", ["pg_temp", "pg_temp_3", "pg_toast", "pg_toast_temp_3"])
async def test_what_lasts_for_a_session_is_refused(owner: Database, database: Database, schema: str) -> None:
    """No type, catalogue, staleness function, gate, presence source or task is named in a schema of one session."""
    await make_type(owner, "price")
    for fields in (
        {"table_name": f"{schema}.t", "key_column": "symbol", "time_column": "fetched_at"},
        {"keys_table": f"{schema}.t", "keys_key_column": "symbol"},
        {"staleness": f"{schema}.f"},
        {"gate": f"{schema}.f"},
    ):
        with pytest.raises(InvalidType, match="pg_temp and pg_toast"):
            await owner.fetch("select livewell.apply_types($1::text::jsonb)", to_json({"price": fields}).decode())
    declared = to_json({"web": {"reads": f"{schema}.t"}}).decode()
    with pytest.raises(InvalidSource, match="one session only"):
        await database.fetch("select livewell.apply_presence_sources($1::text::jsonb)", declared)
    declared = to_json({"sweep": {"run": f"{schema}.f", "every": "1 hour"}}).decode()
    with pytest.raises(InvalidTask, match="one session only"):
        await database.fetch("select livewell.declare_tasks($1::text::jsonb)", declared)


async def test_a_row_that_names_what_lasts_for_a_session_is_not_followed(owner: Database, database: Database) -> None:
    """A type written by force that names a temporary catalogue or gate has it asked of nobody."""
    await make_type(owner, "price", keys_table="pg_temp.t", keys_key_column="symbol", gate="pg_temp.f")
    with pytest.raises(LivewellError, match="pg_temp and pg_toast"):
        await database.fetch("select * from livewell.list_keys('price')")
    rows = await database.fetch("select severity, message from livewell.check_types(array['price'])")
    assert [row["severity"] for row in rows] == ["error"]
