"""Behind PgBouncer in transaction mode, where nothing of a session may be relied on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from livewell.kernel import (
    CheckReport,
    Database,
    DatabaseOptions,
    DatabaseUnavailable,
    StatementTimedOut,
    check,
    migrate,
)
from livewell.kernel.tests.conftest import SqlFolder
from livewell.testing import PgBouncer, TcpProxy, Way, pgbouncer_before, until


@pytest_asyncio.fixture
async def pooled(pgbouncer: PgBouncer) -> AsyncIterator[Database]:
    """The database of a test, by way of the pooler."""
    options = DatabaseOptions(url=pgbouncer.url, pooled=True, statement_timeout=timedelta(milliseconds=500))
    async with await Database.open(options) as database:
        yield database


async def test_more_callers_than_server_connections_are_served(pooled: Database) -> None:
    """Calls of many clients share few server connections and do not meet each other's prepared statements."""
    answers = await asyncio.gather(*(pooled.fetchval("select $1::integer + 1", number) for number in range(30)))
    assert answers == list(range(1, 31))


async def test_every_call_has_its_time_limit(pooled: Database) -> None:
    """Without startup options the limit of a call is set in its transaction."""
    assert await pooled.fetchval("show statement_timeout") == "500ms"
    with pytest.raises(StatementTimedOut):
        await pooled.execute("select pg_sleep(60)")
    assert await pooled.fetchval("select 1") == 1


async def test_a_transaction_has_its_time_limit(pooled: Database) -> None:
    """So has a transaction of the caller's own."""
    async with pooled.transaction() as connection:
        assert await connection.fetchval("show statement_timeout") == "500ms"
        assert await connection.fetchval("show idle_in_transaction_session_timeout") == "1min"


async def test_a_caller_cut_off_in_the_middle_of_a_call_lets_go(pgbouncer: PgBouncer, owner: Database) -> None:
    """What a call has locked when its caller falls silent before the commit is free again after a moment."""
    async with TcpProxy.before(pgbouncer.url) as proxy:
        options = DatabaseOptions(
            url=proxy.through(pgbouncer.url), pooled=True, idle_in_call_timeout=timedelta(seconds=1), pool_size=1
        )
        async with await Database.open(options) as database:
            call = asyncio.create_task(database.execute("select pg_advisory_xact_lock(7), pg_sleep(0.5)"))

            async def is_locked() -> bool:
                return bool(await owner.fetchval("select exists (select from pg_locks where locktype = 'advisory')"))

            async def is_free() -> bool:
                return not await is_locked()

            await until(is_locked, "the call has its lock")
            proxy.black_hole(Way.TO_SERVER)
            await until(is_free, "the lock is free", within=timedelta(seconds=15))
            proxy.cut()
            with pytest.raises(DatabaseUnavailable):
                await call


async def test_limits_do_not_stay_behind(pooled: Database) -> None:
    """What a call sets is gone with its transaction; the next client of the server connection starts clean."""
    await asyncio.gather(*(pooled.fetchval("select 1") for _ in range(20)))
    untouched = "select setting = reset_val from pg_settings where name = 'statement_timeout'"
    async with pooled.connection() as connection:
        assert {await connection.fetchval(untouched) for _ in range(9)} == {True}


async def test_a_server_connection_cut_behind_the_pooler_is_got_over(pooled: Database, owner: Database) -> None:
    """A call may fail as unavailable when its server connection goes; the one after works."""
    for _ in range(3):
        await owner.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid() and usename <> current_user"
        )
        with suppress(DatabaseUnavailable):
            await pooled.fetchval("select 1")
        assert await pooled.fetchval("select 1") == 1


async def test_migrating_works_through_the_pooler(
    empty_owner_url: str, sql_folder: SqlFolder, own_folder: Path
) -> None:
    """Turns, limits and roles are those of a transaction, so several migrators may come through a pooler at once."""
    sql_folder.migration(2, "kernel_thing", "create table livewell_private.thing (id integer);")
    sql_folder.migration(
        3,
        "kernel_index",
        "-- livewell: no transaction\ncreate index concurrently thing_by_id on livewell_private.thing (id);",
    )
    sql_folder.function("answer", "() returns integer language sql set search_path = '' as 'select 42';")
    async with pgbouncer_before(empty_owner_url, own_folder) as pooler:
        reports = await asyncio.gather(*(migrate(pooler.url, files=sql_folder.files) for _ in range(3)))
        assert sum(len(report.steps) for report in reports) == 4
        assert await check(pooler.url, files=sql_folder.files) == CheckReport(pending=(), drift=())
