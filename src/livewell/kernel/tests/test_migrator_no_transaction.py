"""Migrations that no transaction may hold: concurrent index builds, also broken ones."""

import asyncio

import asyncpg
import pytest

from livewell.kernel import CheckReport, MigrationFailed, check, migrate
from livewell.kernel.tests.conftest import SqlFolder
from livewell.testing import child, connected, until

_BUILD = """-- livewell: no transaction
-- Built beside the writers; a comment with a ; in it.
create index concurrently if not exists thing_by_note on livewell_private.thing (note);
create index concurrently if not exists thing_by_id on livewell_private.thing (id, note);
"""
_MIGRATE = """
from pathlib import Path
from livewell.kernel import SqlFiles, migrate

asyncio.run(migrate(sys.argv[1], files=SqlFiles.below(Path(sys.argv[2]))))
"""
_VALID = (
    "select c.relname, i.indisvalid, c.relowner::regrole::text as owner"
    " from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = 'livewell_private.thing'::regclass"
    " order by c.relname"
)


async def _thing(url: str, folder: SqlFolder) -> None:
    folder.migration(2, "kernel_thing", "create table livewell_private.thing (id integer, note text);")
    await migrate(url, files=folder.files)
    folder.migration(3, "kernel_index", _BUILD)


async def test_an_index_is_built_outside_a_transaction(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A migration marked so runs statement by statement, is recorded after its last, and belongs to the owner."""
    await _thing(empty_owner_url, sql_folder)
    await migrate(empty_owner_url, files=sql_folder.files)
    async with connected(empty_owner_url) as connection:
        rows = [tuple(row) for row in await connection.fetch(_VALID)]
    assert rows == [("thing_by_id", True, "livewell_owner"), ("thing_by_note", True, "livewell_owner")]
    assert await check(empty_owner_url, files=sql_folder.files) == CheckReport(pending=(), drift=())


async def test_two_at_once_build_an_index_once(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """The turn is kept while statements run outside a transaction."""
    await _thing(empty_owner_url, sql_folder)
    reports = await asyncio.gather(*(migrate(empty_owner_url, files=sql_folder.files) for _ in range(3)))
    assert sorted(len(report.steps) for report in reports) == [0, 0, 1]


async def test_an_index_broken_off_in_the_middle_is_built_again(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """What a killed build left invalid is dropped and rebuilt by the next run; IF NOT EXISTS alone would keep it."""
    await _thing(empty_owner_url, sql_folder)
    async with connected(empty_owner_url) as reader, connected(empty_owner_url) as watcher:
        snapshot = reader.transaction(isolation="repeatable_read")
        await snapshot.start()
        await reader.execute("insert into livewell_private.thing values (1)")
        building = asyncio.create_task(migrate(empty_owner_url, files=sql_folder.files))
        await until(lambda: _is_being_built(watcher), "the index is begun")
        await watcher.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where query ~ 'create index concurrently' and pid <> pg_backend_pid() and datname = current_database()"
        )
        with pytest.raises(Exception, match=r"terminating connection|not reachable|closed"):
            await building
        assert [tuple(row)[:2] for row in await watcher.fetch(_VALID)] == [("thing_by_note", False)]
        await snapshot.rollback()
    await migrate(empty_owner_url, files=sql_folder.files)
    async with connected(empty_owner_url) as connection:
        assert [row["indisvalid"] for row in await connection.fetch(_VALID)] == [True, True]


async def test_a_killed_migrator_whose_build_goes_on_is_no_obstacle(
    empty_owner_url: str, sql_folder: SqlFolder
) -> None:
    """Kill -9 does not reach the server, which builds on: the next run waits for it, drops, and builds again."""
    await _thing(empty_owner_url, sql_folder)
    async with connected(empty_owner_url) as reader, connected(empty_owner_url) as watcher:
        snapshot = reader.transaction(isolation="repeatable_read")
        await snapshot.start()
        await reader.execute("insert into livewell_private.thing values (1)")
        async with child(_MIGRATE, empty_owner_url, sql_folder.path) as killed:
            await until(lambda: _is_being_built(watcher), "the index is begun")
            await killed.kill()
        repeated = asyncio.create_task(migrate(empty_owner_url, files=sql_folder.files))
        await until(lambda: _is_being_dropped(watcher), "the next run waits for the one that goes on")
        await snapshot.rollback()
        await repeated
        assert [row["indisvalid"] for row in await watcher.fetch(_VALID)] == [True, True]
    assert await check(empty_owner_url, files=sql_folder.files) == CheckReport(pending=(), drift=())


async def test_a_statement_that_fails_leaves_the_migration_unrecorded(
    empty_owner_url: str, sql_folder: SqlFolder
) -> None:
    """Only after its last statement is such a migration history."""
    await _thing(empty_owner_url, sql_folder)
    sql_folder.migration(
        3, "kernel_index", _BUILD + "create index concurrently broken on livewell_private.nowhere (id);"
    )
    with pytest.raises(MigrationFailed, match=r"0003_kernel_index\.sql"):
        await migrate(empty_owner_url, files=sql_folder.files)
    sql_folder.migration(3, "kernel_index", _BUILD)
    report = await migrate(empty_owner_url, files=sql_folder.files)
    assert [step.name for step in report.steps] == ["0003_kernel_index.sql"]


async def _is_being_dropped(watcher: "asyncpg.Connection[asyncpg.Record]") -> bool:
    waiting = "select from pg_stat_activity where query ~ '^drop index' and wait_event_type = 'Lock'"
    return bool(await watcher.fetch(f"{waiting} and datname = current_database()"))


async def _is_being_built(watcher: "asyncpg.Connection[asyncpg.Record]") -> bool:
    return bool(await watcher.fetch("select from pg_index where indrelid = 'livewell_private.thing'::regclass"))
