"""`check_types` finds what keeps a type from being kept fresh, before it is live, and says how to mend it."""

from typing import Any

import pytest

from livewell.kernel import Database
from livewell.registry import InvalidType, UnknownType
from livewell.registry.tests.surface import MINUTE, NOON, Registry
from livewell.testing import grant_table, make_table, make_type


async def test_a_sound_type_has_no_findings(registry: Registry, owner: Database) -> None:
    """A type with everything in its place has nothing to be said of, empty or with rows."""
    await make_type(owner, "quote", **await make_table(owner, "public.quotes", ttl_column="own_ttl"))
    await make_type(owner, "own")
    assert await registry.check() == []
    await owner.execute(
        "insert into public.quotes (symbol, fetched_at) values ('A', $1), ('A', null), ('B', null)", NOON
    )
    await owner.execute("update public.quotes set own_ttl = '1 hour' where fetched_at is not null")
    await owner.execute("insert into livewell_private.record (data_type, key, value) values ('own', 'A', '{}')")
    assert await registry.check() == []


async def test_tables_and_columns_are_looked_for(registry: Registry, owner: Database) -> None:
    """A table, column or right that is missing, and a column of the wrong type, are errors with their fix."""
    await owner.execute("create schema hidden")
    await owner.execute("create table hidden.quotes (symbol text primary key, fetched_at timestamptz)")
    await owner.execute("create table public.quotes (symbol text primary key, fetched_at text, own_ttl text)")
    await grant_table(owner, "public.quotes")
    columns = {"key_column": "symbol", "time_column": "fetched_at"}
    for name, table, fields, found in [
        ("gone", "public.gone", columns, [("error", "no_table")]),
        ("hidden", "hidden.quotes", columns, [("error", "no_right"), ("error", "no_right")]),
        (
            "column",
            "public.quotes",
            {**columns, "key_column": "ticker"},
            [("error", "column_type"), ("error", "no_column")],
        ),
        ("types", "public.quotes", {**columns, "ttl_column": "own_ttl"}, [("error", "column_type")] * 2),
    ]:
        await make_type(owner, name, table_name=table, **fields)
        errors = [finding for finding in await registry.check(name) if finding[0] == "error"]
        assert errors == found, name
    for row in await owner.fetch("select fix from livewell.check_types(array['hidden'])"):
        await owner.execute(row["fix"])
    assert await registry.check("hidden") == []


async def test_what_users_read_has_no_row_level_security(registry: Registry, owner: Database) -> None:
    """A read rule on a table with row-level security, or on a view, is an error; for the service alone it is none."""
    table = await make_table(owner, "public.quotes")
    await owner.execute("create view public.shown as select * from public.quotes")
    await owner.execute("grant select on public.shown to livewell_reader")
    for name, rule in (("secret", "nobody"), ("known", "signed_in"), ("open", "public")):
        await make_type(owner, name, read_rule=rule, **table)
        await make_type(owner, f"view-{name}", read_rule=rule, **{**table, "table_name": "public.shown"})
    assert await registry.check("secret", "known", "open", "view-secret") == []
    assert await registry.check("view-known", "view-open") == [("error", "not_readable")] * 2
    await owner.execute("alter table public.quotes enable row level security")
    assert await registry.check("secret") == []
    assert await registry.check("known", "open") == [("error", "not_readable")] * 2
    with pytest.raises(InvalidType, match="quotes has row-level security"):
        await registry.put("secret", read_rule="public")


async def test_a_table_without_an_index_on_its_key_is_a_warning(registry: Registry, owner: Database) -> None:
    """Nothing that leads from a key to its newest row, and no right to write, are warnings."""
    await owner.execute("create table public.quotes (symbol text, fetched_at timestamp, own_ttl integer)")
    await owner.execute("grant select on public.quotes to livewell_reader")
    table = {"table_name": "public.quotes", "key_column": "symbol", "time_column": "fetched_at"}
    await make_type(owner, "quote", ttl_column="own_ttl", **table)
    assert await registry.check() == [("warning", "no_index"), ("warning", "not_writable")]
    await owner.execute("create index on public.quotes (fetched_at, symbol)")
    assert ("warning", "no_index") in await registry.check()
    await owner.execute("create index on public.quotes (symbol) where own_ttl is null")
    assert ("warning", "no_index") in await registry.check()
    await owner.execute("create index on public.quotes (symbol, fetched_at)")
    await owner.execute("grant insert, update on public.quotes to livewell_writer")
    assert await registry.check() == []


async def test_staleness_functions_are_tried(registry: Registry, owner: Database) -> None:
    """A staleness function is there, of its form, has no default TTL, and knows what was never fetched."""
    three = "(a timestamptz, b interval, c timestamptz) returns boolean"
    judging = "select coalesce($1 + $2 <= $3, true)"
    functions: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
        "sound": (three, judging, []),
        "now_default": (three.replace("c timestamptz", "c timestamptz default now()"), judging, []),
        "ttl_default": (
            "(a timestamptz, b interval default '1 day', c timestamptz default now()) returns boolean",
            judging,
            [("error", "ttl_default")],
        ),
        "two_values": ("(a timestamptz, b interval) returns boolean", "select true", [("error", "no_function")]),
        "no_boolean": (three.replace("boolean", "text"), "select 'yes'", [("error", "function_result")]),
        "raises": (three, "select 1 / extract(epoch from $3 - $3) > 0", [("error", "function_fails")]),
        "missing_fresh": (three, "select coalesce($1 + $2 <= $3, false)", [("error", "missing_is_fresh")]),
        "never_fresh": (three, "select true", [("warning", "never_fresh")]),
    }
    for name, (form, body, found) in functions.items():
        await owner.execute(f"create function public.{name}{form} language sql as $${body}$$")
        await make_type(owner, name, staleness=f"public.{name}")
        assert await registry.check(name) == found, name
    await make_type(owner, "none", staleness="public.nothing")
    assert await registry.check("none") == [("error", "no_function")]


async def test_functions_of_others_do_not_get_livewells_rights(registry: Registry, owner: Database) -> None:
    """A function that would run with Livewell's rights belongs to a role that has them, or runs as its own owner."""
    await owner.execute("create role registry_stranger")
    await owner.execute(
        "create function public.is_old(timestamptz, interval, timestamptz) returns boolean language sql as"
        " 'select $1 + $2 <= $3'"
    )
    await make_type(owner, "quote", staleness="public.is_old")
    try:
        await owner.execute("alter function public.is_old owner to registry_stranger")
        assert await registry.check() == [("error", "not_trusted")]
        await owner.execute("alter function public.is_old security definer")
        assert await registry.check() == []
        await owner.execute("revoke execute on function public.is_old from public")
        assert await registry.check() == [("error", "no_right")]
    finally:
        await owner.execute("drop owned by registry_stranger cascade")
        await owner.execute("drop role registry_stranger")


async def test_gates_are_tried(registry: Registry, owner: Database) -> None:
    """A gate is a function of its form that answers; exchanges without sessions are a warning."""
    form = (
        "(p_keys text[], p_now timestamptz) returns table (key text, open boolean, opens_at timestamptz) language sql"
    )
    await owner.execute(f"create function public.sound{form} as 'select k, true, null::timestamptz from unnest($1) k'")
    await owner.execute(
        "create function public.bare(text[], timestamptz) returns boolean language sql as 'select true'"
    )
    gates: dict[str, list[tuple[str, str]]] = {
        "always": [],
        "market_hours": [("warning", "no_calendar")],
        "public.sound": [],
        "public.gone": [("error", "no_function")],
        "public.bare": [("error", "function_result")],
    }
    for number, (gate, found) in enumerate(gates.items()):
        await make_type(owner, f"t{number}", gate=gate)
        assert await registry.check(f"t{number}") == found, gate


async def test_rows_are_judged(registry: Registry, owner: Database) -> None:
    """A row whose TTL is none or whose time is to come is found, and named as what it is."""
    await make_type(owner, "quote", **await make_table(owner, "public.quotes", ttl_column="own_ttl"))
    await owner.execute(
        "insert into public.quotes values ('A', $1, null, '0'), ('B', $1, null, '1 hour'), ('C', $2, null, null)",
        NOON,
        NOON + 100_000 * MINUTE,
    )
    assert await registry.check() == [
        ("warning", "check_fails"),
        ("warning", "time_to_come"),
        ("warning", "ttl_not_positive"),
    ]
    await owner.execute("delete from public.quotes where symbol <> 'A'")
    assert ("error", "check_fails") in await registry.check()


async def test_catalogues_are_looked_at(registry: Registry, owner: Database) -> None:
    """A table of keys is there, may be read, has its columns, and keys that are keys."""
    await owner.execute("create table public.symbols (symbol text, active text, on_list boolean)")
    await owner.execute("insert into public.symbols values ('A B')")
    keys = {"keys_table": "public.symbols", "keys_key_column": "symbol"}
    await make_type(owner, "gone", keys_table="public.gone", keys_key_column="symbol")
    await make_type(owner, "wrong", **keys, keys_active_column="active")
    await make_type(owner, "sound", **keys, keys_active_column="on_list")
    assert await registry.check("gone") == [("error", "no_table")]
    assert await registry.check("sound") == [("error", "no_right")]
    await owner.execute("grant select on public.symbols to livewell_reader")
    assert await registry.check("wrong") == [("error", "column_type")]
    assert await registry.check("sound") == [("warning", "strange_key")]


async def test_what_is_closed_or_never_comes_is_found(registry: Registry, owner: Database) -> None:
    """A disabled endpoint or provider is a warning; a cron expression that never comes is an error."""
    await make_type(owner, "quote", endpoint="sim/quote", strategy="both", cron="0 0 30 2 *")
    await owner.execute("update livewell_private.endpoint set state = 'disabled'")
    await owner.execute("update livewell_private.provider set state = 'maintenance'")
    assert await registry.check() == [("error", "cron"), ("warning", "endpoint_closed"), ("warning", "endpoint_closed")]


async def test_one_bad_type_does_not_hide_another(registry: Registry, owner: Database, database: Database) -> None:
    """All types are checked at once, each finding belongs to its type, and an unknown one is refused."""
    for name, table in (("a", "public.gone"), ("b", None), ("c", "public.gone")):
        fields: dict[str, Any] = {"key_column": "symbol", "time_column": "at"} if table else {}
        await make_type(owner, name, table_name=table, **fields)
    rows = await database.fetch("select data_type from livewell.check_types()")
    assert [row["data_type"] for row in rows] == ["a", "c"]
    with pytest.raises(UnknownType):
        await database.fetch("select livewell.check_types(array['a', 'd'])")
