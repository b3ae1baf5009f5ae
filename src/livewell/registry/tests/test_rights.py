"""The registry is read-only to everyone but the owner, and a name that is none does no harm, however it got in."""

from collections.abc import Sequence
from typing import Any

import asyncpg
import pytest

from livewell.kernel import Database, NotPermitted
from livewell.registry import InvalidType, ReadOnlyRegistry, RegistryStore
from livewell.registry.tests.surface import NOON, Registry
from livewell.testing import connected, make_type

TABLES = ("data_type", "record", "type_key", "exchange", "market_session", "exchange_rule")
WRITING = [
    """select livewell.apply_types('{"quote": {"ttl": "1 second"}}')""",
    """select livewell.set_type('quote', '{"ttl": "1 second"}')""",
    "select livewell.remove_type('quote', true)",
    "select livewell.import_keys('quote', array['A'])",
    "select livewell.set_keys_active('quote', array['A'], false)",
    "select livewell.set_exchange_rule('.X', 'XNYS')",
    "select livewell_private.keys_after('quote', null, 1)",
    "select livewell_private.open_gates('quote', array['A'], now())",
]
NO_IDENTIFIERS = ["", 'a"b', "a;b", "a b", "a'b", "ä", "a" * 64, "a.b.c", "pg_sleep(9)", "1a", "a\nb", "a--", "a/*"]


async def test_nobody_but_the_owner_writes(registry: Registry, owner: Database, owner_url: str) -> None:
    """No function and no table lets the service, a user or anybody else write to the registry."""
    await make_type(owner, "quote")
    before = await registry.row("quote")
    async with connected(owner_url) as connection:
        for role in ("livewell_service", "livewell_user", "livewell_anon"):
            for statement in [*WRITING, *_writes()]:
                with pytest.raises(NotPermitted):
                    await _as_role(owner, role, statement)
        assert await connection.fetchval("select count(*) from livewell_private.data_type") == 1
    assert await registry.row("quote") == before


async def test_the_service_and_users_read_it(owner: Database) -> None:
    """Service and users see the types and exchanges, and nothing of the tables behind them."""
    await make_type(owner, "quote")
    for role in ("livewell_service", "livewell_user"):
        for view in ("data_types", "exchanges"):
            await _as_role(owner, role, f"select * from livewell.{view}")
        for table in TABLES:
            with pytest.raises(NotPermitted):
                await _as_role(owner, role, f"select * from livewell_private.{table}")


async def test_a_service_login_is_told_who_may(database: Database, registry: Registry) -> None:
    """What is refused to a service login is one fact with its fix, whatever it wanted to write."""
    store = RegistryStore(database)
    with pytest.raises(ReadOnlyRegistry, match="may not write to the registry") as refused:
        await store.apply_types({"quote": {"endpoint": "sim/quote", "ttl": "1 minute"}}, plan_only=True, actor="me")
    assert refused.value.fix == "use a login that was granted livewell_owner: LIVEWELL_OWNER_URL names its address"
    with pytest.raises(ReadOnlyRegistry):
        await store.remove_type("quote", force=True, reason=None, actor="me")
    with pytest.raises(ReadOnlyRegistry):
        await store.import_keys("quote", ["A"], actor="me")


async def test_names_that_are_none_are_refused_when_written(registry: Registry) -> None:
    """Quotes, semicolons, spaces, foreign letters, 64 letters: in no field does such a name get in."""
    sound: dict[str, Any] = {"endpoint": "sim/quote", "ttl": "1 minute", "enabled": False, "table_name": "public.t"}
    sound |= {"key_column": "k", "time_column": "t", "keys_table": "public.t", "keys_key_column": "k"}
    fields = ["key_column", "time_column", "ttl_column", "source_time_column", "keys_key_column", "keys_active_column"]
    for name in NO_IDENTIFIERS[1:]:
        for field in fields:
            with pytest.raises(InvalidType):
                await registry.put("quote", **{**sound, field: name})
        for field in ("table_name", "staleness", "gate", "keys_table"):
            for written in (f"public.{name}", f"{name}.t", name):
                with pytest.raises(InvalidType):
                    await registry.put("quote", **{**sound, field: written})


async def test_the_table_itself_refuses_names_that_are_none(owner: Database, registry: Registry) -> None:
    """Also a row written by hand has to have names that are names."""
    for name in NO_IDENTIFIERS:
        for field in ("table_name", "gate", "staleness", "keys_table"):
            with pytest.raises(asyncpg.CheckViolationError):
                await make_type(owner, "quote", endpoint="sim/quote", **{field: f"public.{name}"})


async def test_a_name_that_got_in_by_force_is_passed_over(owner: Database, registry: Registry) -> None:
    """With the constraints gone and hostile names in the row, using the type runs none of them and warns."""
    await owner.execute("create table public.treasure (id integer)")
    checks = await owner.fetch(
        "select conname from pg_constraint where conrelid = 'livewell_private.data_type'::regclass and contype = 'c'"
    )
    for row in checks:
        await owner.execute(f"alter table livewell_private.data_type drop constraint {row['conname']}")
    for number, hostile in enumerate(_hostile()):
        fields = dict.fromkeys(("keys_key_column", "keys_active_column", "key_column", "time_column"), hostile)
        names = dict.fromkeys(("keys_table", "gate", "table_name", "staleness"), f"public.{hostile}")
        await make_type(owner, f"t{number}", endpoint="sim/quote", **fields, **names)
        await owner.execute(
            "insert into livewell_private.item (data_type, key, viewers, due_at) values ($1, 'A', 1, $2)",
            f"t{number}",
            NOON,
        )
        assert await registry.keys_after(f"t{number}") == []
        assert await registry.gates(f"t{number}", "A") == {"A": (True, None)}
        assert await registry.check(f"t{number}") == [("error", "invalid")]
    await owner.fetchval("select livewell_private.task_check($1)", NOON)
    assert await owner.fetchval("select count(*) from public.treasure") == 0
    codes = {code for code, _ in await registry.warnings()}
    assert {"registry.catalogue_failed", "registry.gate_failed", "freshness.check_failed"} <= codes


def _hostile() -> Sequence[str]:
    return (
        'x"; drop table public.treasure; --',
        "x'; drop table public.treasure; --",
        "x as (select 1)) ; drop table public.treasure cascade; --",
        "treasure where (select true from pg_sleep(60))",
    )


def _writes() -> list[str]:
    """Each way to write each table, and to take it away."""
    return [
        statement.format(table=f"livewell_private.{table}")
        for table in TABLES
        for statement in (
            "insert into {table} default values",
            "delete from {table}",
            "truncate {table}",
            "drop table {table}",
        )
    ]


async def _as_role(owner: Database, role: str, statement: str) -> None:
    async with owner.transaction() as connection:
        await connection.execute(f"set local role {role}")
        await connection.fetch(statement)
