"""A stranger with a login holds every lock it may take: nothing of ours waits, ours are rows it cannot reach."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from livewell.kernel import Connection, Database, LockNotAvailable, NotPermitted, migrate
from livewell.testing import make_type
from tests.contracts.guards import session, take_away

USER, ANON, SERVICE = "livewell_user", "livewell_anon", "livewell_service"

# What each function once locked by an advisory key, and does now by a row.
ONCE = {
    "declare_tasks": ("livewell_private.take_lock('tasks')", "livewell.declare_tasks"),
    "change_budgets": ("livewell_private.take_lock('budgets')", "livewell.budgets"),
    "change_types": ("livewell_private.take_lock('registry')", "livewell.registry"),
    "remove_type": ("livewell_private.take_lock('registry')", "livewell.registry"),
    "set_exchange_rule": ("livewell_private.take_lock('exchange_rules')", "livewell_private.exchange_rule"),
    "put_calendar": ("livewell_private.take_lock('calendars')", "livewell_private.exchange/XLON"),
}
CALLS = {
    "declare_tasks": """select livewell.declare_tasks('{"mine": {"every": "1 hour", "late_after": "1 day"}}')""",
    "change_budgets": """select livewell.apply_providers('{"providers": {"acme": {}}}', false)""",
    "change_types": """select livewell.apply_types('{"quote": {"ttl": "1 hour"}}', false)""",
    "remove_type": "select livewell.remove_type('quote', true)",
    "set_exchange_rule": "select livewell.set_exchange_rule('.L', 'XLON')",
    "put_calendar": "select livewell.put_calendar('XLON', now(), now() + interval '1 day', '{}', '{}')",
    "seal_audit": "select livewell.seal_audit()",
    "claim_jobs": "select livewell.claim_jobs('w1', '{general}', 10)",
}
_KEYS = [*sorted({key for _, key in ONCE.values()}), "livewell.seal_audit", "livewell/presence/ada"]


@asynccontextmanager
async def held_by(url: str, role: str) -> AsyncIterator[Connection]:
    """A stranger's open transaction with all the keys that were ever ours."""
    async with session(url) as stranger, stranger.transaction():
        await stranger.execute(f"set local role {role}")
        await stranger.execute("select pg_advisory_xact_lock(hashtextextended(k, 0)) from unnest($1::text[]) k", _KEYS)
        await stranger.execute("select pg_advisory_xact_lock(hashtextextended('s', 7238))")
        await stranger.execute("select pg_advisory_xact_lock(x'6c697665'::integer, x'77656c6c'::integer)")
        yield stranger


async def _stage(owner: Database) -> None:
    await make_type(owner, "quote")
    await owner.execute("""select livewell.declare_kinds('[{"kind": "plain"}]')""")
    await owner.execute(
        """select livewell.enqueue_jobs('[{"kind": "plain", "payload": {"n": 1}, "serial_key": "s"}]')"""
    )


@pytest.mark.parametrize("role", [USER, ANON])
async def test_held_advisory_keys_stop_nothing(owner: Database, owner_url: str, role: str) -> None:
    """With every key held that was ever ours, all is declared, claimed, sealed and migrated as if nobody were there."""
    await _stage(owner)
    async with held_by(owner_url, role), session(owner_url) as ours:
        for name, call in CALLS.items():
            assert len(await ours.fetch(call)) > 0, name
        await migrate(owner_url)
    assert await owner.fetchval("select state from livewell_private.job_live where serial_key = 's'") == "processing"


@pytest.mark.parametrize("name", CALLS)
async def test_nothing_of_ours_takes_an_advisory_lock(owner: Database, owner_url: str, name: str) -> None:
    """What pg_locks shows of our transactions has no key that another login could take."""
    await _stage(owner)
    async with session(owner_url) as ours, ours.transaction():
        await ours.execute(CALLS[name])
        assert (
            await ours.fetchval("select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()")
            == 0
        )


@pytest.mark.parametrize("name", ONCE)
async def test_with_an_advisory_key_in_its_place_a_stranger_stops_it(
    owner: Database, owner_url: str, name: str
) -> None:
    """Were the lock a key again, whoever holds the key would stop it for as long as it likes."""
    await _stage(owner)
    guard, key = ONCE[name]
    await take_away(owner, name, guard, f"pg_advisory_xact_lock(hashtextextended('{key}', 0))")
    async with held_by(owner_url, ANON), session(owner_url) as ours:
        with pytest.raises(LockNotAvailable):
            await ours.execute(CALLS[name])


@pytest.mark.parametrize("name", ["declare_tasks", "change_budgets", "change_types", "put_calendar"])
async def test_the_locks_still_lock(owner: Database, owner_url: str, name: str) -> None:
    """Two of ours that change the same wait for each other; without the row they would not."""
    await _stage(owner)
    async with session(owner_url) as one, session(owner_url) as two:
        async with one.transaction():
            await one.execute(CALLS[name])
            with pytest.raises(LockNotAvailable):
                await two.execute("select livewell_private.take_lock($1)", ONCE[name][0].split("'")[1])
        await two.execute(CALLS[name])


@pytest.mark.parametrize("role", [USER, ANON, SERVICE])
@pytest.mark.parametrize("table", ["named_lock", "migration", "job_live", "fresh_warning", "notification_state"])
async def test_no_login_locks_our_rows_or_tables(owner_url: str, role: str, table: str) -> None:
    """A lock on a row or a table needs a right on it, which nobody but the owner has."""
    for statement in (
        f"select from livewell_private.{table} for update",
        f"select from livewell_private.{table} for key share",
        f"lock table livewell_private.{table} in access share mode",
        f"lock table livewell_private.{table} in access exclusive mode",
    ):
        async with session(owner_url) as stranger:
            await stranger.execute(f"set role {role}")
            with pytest.raises(NotPermitted):
                await stranger.execute(f"begin; {statement}")


async def test_several_migrators_on_an_empty_database_make_it_once(empty_owner_url: str) -> None:
    """Before the first migration there is no row to lock: who comes second finds the schema, and goes on from there."""
    reports = await asyncio.gather(*(migrate(empty_owner_url) for _ in range(3)))
    names = [step.name for report in reports for step in report.steps if step.kind == "migration"]
    assert len(names) == len(set(names)) > 0
