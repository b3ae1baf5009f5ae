"""Who may read what: the read rule of a type, tried by those who may not, and each guard shown to be needed."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import asyncpg
import pytest
import pytest_asyncio
from pydantic_core import from_json

from livewell.access import NotReadable, NotSignedIn
from livewell.fetching import InvalidRead
from livewell.kernel import Connection, Database, LivewellError, NotPermitted
from livewell.registry import UnknownType
from livewell.testing import connected, make_table, make_type
from tests.contracts.guards import take_away

USER, ANON, SERVICE = "livewell_user", "livewell_anon", "livewell_service"
ADA = '{"sub": "ada"}'
READ = "select * from livewell.read_items($1, $2)"
HOSTILE = [
    "' or true --",
    '"; drop table livewell_private.record; --',
    "A' union select value from livewell_private.setting --",
    "$1",
    "%I",
    "\\",
    "A\nB",
    "🐟",
    "A" * 10_000,
    "",
]
NO_TYPES = [*HOSTILE, 'quote"', "quote'", "livewell_private.setting", "public.quotes", "QUOTE", "quote "]


async def read(
    caller: "Database | Connection", data_type: str | None, keys: Sequence[str | None] | None = ("A",), **who: Any
) -> list[dict[str, Any]]:
    """Read as somebody: a role that was set, with or without claims."""
    if isinstance(caller, Database):
        async with caller.connection() as connection:
            return await read(connection, data_type, keys, **who)
    return [dict(row) for row in await ask(caller, READ, data_type, keys, **who)]


async def ask(
    connection: Connection, statement: str, *args: object, role: str, claims: str | None = None
) -> list[asyncpg.Record]:
    async with connection.transaction():
        await connection.execute(f"set local role {role}")
        await connection.execute("select set_config('request.jwt.claims', $1, true)", claims or "")
        return await connection.fetch(statement, *args)


@pytest_asyncio.fixture
async def stage(owner: Database) -> Database:
    """Three types of records and three over a table of the user's, one for each read rule, with a value each."""
    table = await make_table(owner, "public.quotes")
    await owner.execute("insert into public.quotes values ('A', now(), '\"own\"')")
    for rule in ("nobody", "signed_in", "public"):
        await make_type(owner, f"{rule}-record", read_rule=rule)
        await make_type(owner, f"{rule}-table", read_rule=rule, **table)
        await owner.execute(
            "insert into livewell_private.record (data_type, key, value, fetched_at) values ($1, 'A',"
            " '\"record\"', now())",
            f"{rule}-record",
        )
    return owner


async def _nobody_reads_what_is_nobodys(stage: Database) -> None:
    for where in ("record", "table"):
        for role in (USER, ANON):
            with pytest.raises(NotReadable, match="you may not read type"):
                await read(stage, f"nobody-{where}", role=role, claims=ADA)
        with pytest.raises(NotReadable):
            await read(stage, f"signed_in-{where}", role=ANON, claims=ADA)


async def _claims_are_needed(stage: Database) -> None:
    for claims in (None, "", "{}", '{"sub": ""}', "no json"):
        with pytest.raises(NotSignedIn):
            await read(stage, "signed_in-record", role=USER, claims=claims)


async def _row_level_security_is_not_gone_round(stage: Database) -> None:
    await stage.execute("alter table public.quotes enable row level security")
    try:
        for rule in ("signed_in", "public"):
            with pytest.raises(NotReadable, match="cannot be read by users as its table is"):
                await read(stage, f"{rule}-table", role=USER, claims=ADA)
    finally:
        await stage.execute("alter table public.quotes disable row level security")


async def _private_tables_are_not_read(stage: Database) -> None:
    """Also when somebody has forced a type over one into the registry."""
    await stage.execute(
        "update livewell_private.data_type set table_name = 'livewell_private.setting', key_column = 'name',"
        " time_column = 'updated_at', key_pattern = '^.*$' where name = 'public-record'"
    )
    with pytest.raises(NotReadable):
        await read(stage, "public-record", ["worker.timeout"], role=ANON)


async def _a_call_reads_so_many_keys(stage: Database) -> None:
    assert len(await read(stage, "public-record", ["A"] * 1000, role=ANON)) == 1000
    for many in (1001, 200_000):
        with pytest.raises(InvalidRead, match=f"no more than 1000 keys are read at once, not {many}"):
            await read(stage, "public-record", ["A"] * many, role=ANON)


async def test_a_read_rule_says_who_reads(stage: Database) -> None:
    """The service reads all; users what is for the signed in or public; who is not signed in only what is public."""
    may = {
        (SERVICE, None): {"nobody", "signed_in", "public"},
        (USER, ADA): {"signed_in", "public"},
        (USER, None): {"public"},
        (ANON, None): {"public"},
    }
    for (role, claims), rules in may.items():
        for rule in ("nobody", "signed_in", "public"):
            for where in ("record", "table"):
                try:
                    (row,) = await read(stage, f"{rule}-{where}", role=role, claims=claims)
                    assert row["value"] is not None
                except (NotReadable, NotSignedIn):
                    assert rule not in rules, (role, claims, rule)
                else:
                    assert rule in rules, (role, claims, rule)
    await _nobody_reads_what_is_nobodys(stage)
    await _claims_are_needed(stage)


async def test_a_login_is_judged_like_a_role_that_is_set(stage: Database, owner_url: str) -> None:
    """Who logs in as a user, without setting a role, is a user; nobody becomes the service by saying so."""
    for role, allowed in ((USER, False), (ANON, False), (SERVICE, True)):
        async with connected(owner_url) as connection:
            await connection.execute(f"set session authorization {role}")
            if allowed:
                assert len(await connection.fetch(READ, "nobody-record", ["A"])) == 1
                continue
            with pytest.raises(asyncpg.PostgresError, match="you may not read type"):
                await connection.fetch(READ, "nobody-record", ["A"])
            for statement in (f"set role {SERVICE}", "select set_config('role', 'livewell_service', false)"):
                with pytest.raises(asyncpg.InsufficientPrivilegeError):
                    await connection.execute(statement)


async def test_a_function_of_anothers_does_not_lend_its_rights(stage: Database) -> None:
    """Called from inside a function that runs as a mightier owner, reading is judged by who called that."""
    await stage.execute(
        "create function public.lent() returns bigint language sql security definer"
        " as $$ select count(*) from livewell.read_items('nobody-record', array['A']) $$"
    )
    async with stage.connection() as connection:
        with pytest.raises(NotReadable):
            await ask(connection, "select public.lent()", role=USER)
        assert len(await ask(connection, "select public.lent()", role=SERVICE)) == 1


async def test_row_level_security_is_not_gone_round(stage: Database) -> None:
    """A table that got row-level security after its type was declared is no longer read by users; other types are."""
    await _row_level_security_is_not_gone_round(stage)
    await stage.execute("alter table public.quotes enable row level security")
    assert len(await read(stage, "public-record", role=ANON)) == 1


async def test_nothing_private_is_read(stage: Database) -> None:
    """A type over a table of Livewell's own is refused, however it came about, and so are the tables themselves."""
    await _private_tables_are_not_read(stage)
    for role in (USER, ANON):
        for table in ("record", "item", "data_type", "setting", "session", "api_key"):
            async with stage.connection() as connection:
                with pytest.raises(NotPermitted):
                    await ask(connection, f"select * from livewell_private.{table}", role=role)


async def test_keys_are_nothing_but_keys(stage: Database) -> None:
    """Whatever a key says, it finds what is stored under it and nothing else."""
    for where in ("record", "table"):
        rows = await read(stage, f"public-{where}", [*HOSTILE, None, "A"], role=ANON)
        assert [row["value"] is None for row in rows] == [True] * (len(HOSTILE) + 1) + [False]
    await stage.execute("update livewell_private.data_type set key_pattern = '^.*$'")
    rows = await read(stage, "public-table", HOSTILE, role=ANON)
    assert [row["value"] for row in rows] == [None] * len(HOSTILE)
    assert await stage.fetchval("select count(*) from livewell_private.record") == 3


async def test_names_of_types_are_nothing_but_names(stage: Database) -> None:
    """A type that is none is refused in one line, whatever its name says; who is not signed in learns no names."""
    for name in [*NO_TYPES, None]:
        with pytest.raises(UnknownType) as unknown:
            await read(stage, name, role=USER, claims=ADA)
        assert "\n" not in str(unknown.value)
        with pytest.raises(NotReadable) as refused:
            await read(stage, name, role=ANON)
        assert "nobody-" not in str(refused.value)


async def test_what_is_asked_for_is_bounded(stage: Database) -> None:
    """One call reads so many keys and no more, with a fact that says so."""
    await _a_call_reads_so_many_keys(stage)


async def test_rows_are_bounded_for_all_keys_together(stage: Database) -> None:
    """Who is not the service is given the rows of ten keys at most, shared by all keys; at least one of each."""
    await stage.execute("update livewell_private.setting set value = '4' where name = 'fetching.rows_per_key'")
    await stage.execute(
        "insert into public.quotes select 'A', now() - n * interval '1 hour', '1' from generate_series(1, 5) as n"
    )
    for count, role, rows in ((10, ANON, 4), (20, ANON, 2), (20, USER, 2), (100, ANON, 1), (100, SERVICE, 4)):
        found = await read(stage, "public-table", ["A"] * count, role=role)
        assert [len(from_json(row["value"])) for row in found] == [rows] * count


async def test_users_do_not_learn_what_others_said(stage: Database) -> None:
    """What a function, a provider or a person said is for the service; a user learns that something is in the way."""
    await stage.execute(
        "create function public.judge(timestamptz, interval, timestamptz) returns boolean language plpgsql"
        " as $$ begin raise exception 'secret'; end $$"
    )
    await stage.execute("update livewell_private.data_type set staleness = 'public.judge' where name = 'public-record'")
    (row,) = await read(stage, "public-record", role=ANON)
    assert row["why"] == "stale: its check failed"
    (row,) = await read(stage, "public-record", role=SERVICE)
    assert "secret" in row["why"]
    await stage.execute(
        "insert into livewell_private.item (data_type, key, due_at, last_outcome, last_outcome_at, last_reason)"
        " values ('public-table', 'B', now(), 'failed', now(), 'https://example.com/?key=secret')"
    )
    (row,) = await read(stage, "public-table", ["B"], role=ANON)
    assert row["why"] == "never fetched: the fetch failed"
    (row,) = await read(stage, "public-table", ["B"], role=SERVICE)
    assert "secret" in row["why"]
    await stage.execute("update livewell_private.item set last_outcome = null, viewers = 1, decision = 'queued'")
    await stage.execute("select livewell.pause_endpoint('sim/public-table', p_reason => 'secret')")
    (row,) = await read(stage, "public-table", ["B"], role=ANON)
    assert row["why"] == "never fetched: it is held back"
    (row,) = await read(stage, "public-table", ["B"], role=SERVICE)
    assert "secret" in row["why"]


@pytest.mark.parametrize(
    ("function", "guard", "instead", "proof"),
    [
        (
            "require_reader",
            "coalesce(v_rule, 'nobody') = 'nobody' or (v_rule = 'signed_in' and not v_is_user)",
            "false",
            _nobody_reads_what_is_nobodys,
        ),
        ("require_reader", "v_rule = 'signed_in' and not v_is_user", "false", _nobody_reads_what_is_nobodys),
        ("require_reader", "if v_rule = 'signed_in' and p_by_name then", "if false then", _claims_are_needed),
        (
            "require_readable_table",
            "f.severity = 'error'",
            "false",
            _row_level_security_is_not_gone_round,
        ),
        (
            "require_readable_table",
            "livewell_private.type_problem(livewell_private.type_named(p_type)) is not null",
            "false",
            _private_tables_are_not_read,
        ),
        ("read_items", "perform livewell_private.require_few_keys(p_keys);", "", _a_call_reads_so_many_keys),
        ("calling_role", "nullif(current_setting('role'), 'none')::name", "null", _nobody_reads_what_is_nobodys),
    ],
    ids=["rule", "user", "claims", "row security", "private", "keys", "role"],
)
async def test_reading_needs_its_guards(
    stage: Database, function: str, guard: str, instead: str, proof: Callable[[Database], Awaitable[None]]
) -> None:
    """Without any one of its guards, what it keeps out comes in."""
    await proof(stage)
    await stage.execute(
        "update livewell_private.data_type set table_name = null, key_column = null, time_column = null"
        " where name = 'public-record'"
    )
    await take_away(stage, function, guard, instead)
    with pytest.raises((AssertionError, LivewellError, pytest.fail.Exception)):
        await proof(stage)
