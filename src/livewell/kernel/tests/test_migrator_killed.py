"""The migrator killed anywhere: the next run ends what was begun, once."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from livewell.kernel import CheckReport, check, migrate
from livewell.kernel.tests.conftest import SqlFolder
from livewell.testing import connected, until

_MIGRATE = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from livewell.kernel import MigratorOptions, SqlFiles, migrate

options = MigratorOptions(lock_timeout=timedelta(minutes=1))
told = lambda step: print(step, file=sys.stderr, flush=True)
asyncio.run(migrate(sys.argv[1], files=SqlFiles.below(Path(sys.argv[2])), options=options, on_step=told))
"""
_GATE = 4711


@asynccontextmanager
async def _child(url: str, folder: SqlFolder) -> AsyncIterator[asyncio.subprocess.Process]:
    """A migrate in a process of its own that tells its steps on standard error; killed when the block ends."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _MIGRATE, url, str(folder.path)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.communicate()


@asynccontextmanager
async def _closed_gate(url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """Until the block ends, whoever asks for the gate's lock waits."""
    async with connected(url) as gate:
        await gate.execute("select pg_advisory_lock($1)", _GATE)
        yield gate


async def _is_at_the_gate(gate: "asyncpg.Connection[asyncpg.Record]") -> bool:
    waiting = await gate.fetchval("select exists (select from pg_locks where objid = $1 and not granted)", _GATE)
    return bool(waiting)


def _rows(folder: SqlFolder) -> None:
    """Migrations and a function that would show if one of them ran twice or by half."""
    folder.migration(2, "kernel_log", "create table livewell_private.ran (step integer, half text);")
    for number in (3, 4, 5):
        folder.migration(number, "kernel_row", "".join(_halves(number)))
    folder.function("answer", "() returns integer language sql set search_path = '' as 'select 42';")
    folder.view("rows_ran", "select step from livewell_private.ran;")


def _halves(number: int) -> list[str]:
    return [f"insert into livewell_private.ran values ({number}, '{half}');" for half in ("first", "second")]


async def _assert_each_ran_once(url: str, folder: SqlFolder) -> None:
    await migrate(url, files=folder.files)
    async with connected(url) as connection:
        rows = await connection.fetch("select step, half from livewell_private.ran order by step, half")
        assert await connection.fetchval("select livewell.answer()") == 42
    assert [tuple(row) for row in rows] == [(step, half) for step in (3, 4, 5) for half in ("first", "second")]
    assert await check(url, files=folder.files) == CheckReport(pending=(), drift=())


@pytest.mark.parametrize("step", range(6))
async def test_a_migrate_killed_between_steps_is_ended_by_the_next(
    empty_owner_url: str, sql_folder: SqlFolder, step: int
) -> None:
    """Kill -9 after any number of steps, wherever that finds it: repeating applies the rest and nothing twice."""
    _rows(sql_folder)
    async with _child(empty_owner_url, sql_folder) as child:
        assert child.stderr is not None
        for _ in range(step):
            await child.stderr.readline()
        child.kill()
        await child.wait()
    await _assert_each_ran_once(empty_owner_url, sql_folder)


@pytest.mark.parametrize("number", [3, 5])
async def test_a_migrate_killed_within_a_step_leaves_no_half_of_it(
    empty_owner_url: str, sql_folder: SqlFolder, number: int
) -> None:
    """Kill -9 in the middle of a migration: its first half is gone, and repeating runs it whole."""
    _rows(sql_folder)
    waits = f"select pg_advisory_xact_lock({_GATE});"
    sql_folder.migration(number, "kernel_row", waits.join(_halves(number)))
    async with _closed_gate(empty_owner_url) as gate, _child(empty_owner_url, sql_folder) as child:
        await until(lambda: _is_at_the_gate(gate), "the migration is half done")
        child.kill()
        await child.wait()
    await _assert_each_ran_once(empty_owner_url, sql_folder)


async def test_a_migrate_killed_while_it_replaces_functions_leaves_the_old_ones(
    empty_owner_url: str, sql_folder: SqlFolder
) -> None:
    """All functions change together or not at all, also for a kill -9 between two of them."""
    _rows(sql_folder)
    await migrate(empty_owner_url, files=sql_folder.files)
    sql_folder.function("answer", "() returns integer language sql set search_path = '' as 'select 43';")
    sql_folder.view("rows_ran", "select step, half from livewell_private.ran;")
    slow = f"do $$ begin perform pg_advisory_xact_lock({_GATE}); end $$;\n"
    view = sql_folder.path / "views" / "rows_ran.sql"
    view.write_text(view.read_text(encoding="utf-8").replace("create or", f"{slow}create or"), encoding="utf-8")
    async with _closed_gate(empty_owner_url) as gate, _child(empty_owner_url, sql_folder) as child:
        await until(lambda: _is_at_the_gate(gate), "the function is replaced and the view is not")
        child.kill()
        await child.wait()
        assert await gate.fetchval("select livewell.answer()") == 42
    report = await migrate(empty_owner_url, files=sql_folder.files)
    assert {step.name for step in report.steps} == {"answer", "rows_ran"}
