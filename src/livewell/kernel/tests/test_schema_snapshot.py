"""The snapshot shows the schema, the whole schema, and notices when it does not."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from livewell.kernel import migrate
from livewell.kernel.schema_snapshot import NotAsMigrated, differences, snapshot, write
from livewell.kernel.tests.conftest import SqlFolder
from livewell.testing import connected

_TABLES = """
create table livewell_private.thing (
    id integer generated always as identity constraint thing_has_id primary key,
    note text not null default 'none',
    constraint thing_note_is_short check (length(note) < 9)
) with (fillfactor = 70);
create index thing_by_note on livewell_private.thing (note);
alter table livewell_private.thing enable row level security;
create policy thing_is_seen on livewell_private.thing for select to livewell_user using (id > 1);
create table livewell_private.log (at date not null) partition by range (at);
create table livewell_private.log_rest partition of livewell_private.log default;
create table livewell_private.log_20260102 partition of livewell_private.log for values from ('2026-01-02') to
    ('2026-01-03');
"""

_KERNEL = ("migration", "schema_object", "warning", "fresh_warning", "notification_state", "named_lock")


@pytest.fixture
async def migrated(empty_owner_url: str, sql_folder: SqlFolder) -> str:
    """A database with one object of every kind."""
    sql_folder.migration(2, "kernel_thing", _TABLES)
    touch = "() returns trigger language plpgsql set search_path = '' as 'begin return new; end';"
    sql_folder.function("touch", touch, audience="internal")
    sql_folder.function("answer", "() returns integer language sql set search_path = '' as 'select 42';")
    sql_folder.view("things", "select id, note from livewell_private.thing;")
    sql_folder.trigger(
        "thing_is_touched",
        "before insert on livewell_private.thing for each row execute function livewell_private.touch();",
    )
    await migrate(empty_owner_url, files=sql_folder.files)
    return empty_owner_url


async def test_every_object_has_a_file_of_its_own(migrated: str, sql_folder: SqlFolder) -> None:
    """Tables, views and triggers are there by name; functions, whose files are there to read, and partitions of a
    day are not.
    """
    files = await snapshot(migrated, files=sql_folder.files)
    assert set(files) == {
        "schemas.sql",
        *(f"tables/{name}.sql" for name in (*_KERNEL, "thing", "log", "log_rest")),
        *(f"types/{name}.sql" for name in ("declared_change", "declared_thing")),
        "views/things.sql",
        "triggers/thing_is_touched.sql",
    }


async def test_a_table_is_shown_with_all_that_belongs_to_it(migrated: str, sql_folder: SqlFolder) -> None:
    """Columns, constraints, storage, indexes and policies stand in the table's file."""
    files = await snapshot(migrated, files=sql_folder.files)
    for piece in (
        "id integer not null generated always as identity",
        "note text not null default 'none'::text",
        "constraint thing_has_id PRIMARY KEY (id)",
        "constraint thing_note_is_short CHECK",
        "with (fillfactor=70)",
        "CREATE INDEX thing_by_note",
        "enable row level security",
        "create policy thing_is_seen on livewell_private.thing as permissive for select to livewell_user",
    ):
        assert piece in files["tables/thing.sql"]
    assert "grant select on table livewell.things to livewell_service;" in files["views/things.sql"]


async def test_the_tables_of_a_snapshot_can_be_made_from_it(migrated: str, sql_folder: SqlFolder) -> None:
    """What is shown is SQL that PostgreSQL accepts and that makes the same tables again."""
    files = await snapshot(migrated, files=sql_folder.files)
    async with connected(migrated) as connection, connection.transaction():
        await connection.execute("drop schema livewell, livewell_private cascade")
        await connection.execute(files["schemas.sql"])
        for name in (*_KERNEL, "thing", "log", "log_rest"):
            await connection.execute(files[f"tables/{name}.sql"])
        await connection.execute((sql_folder.path / "functions/touch.sql").read_text(encoding="utf-8"))
        for path in ("views/things", "triggers/thing_is_touched"):
            await connection.execute(files[f"{path}.sql"])
        columns = await connection.fetchval(
            "select count(*) from information_schema.columns where table_schema = 'livewell_private' and"
            " table_name = 'thing'"
        )
    assert columns == 2


async def test_what_differs_is_named(migrated: str, sql_folder: SqlFolder, tmp_path: Path) -> None:
    """A file that is missing, left over or out of date is told; writing puts all three right."""
    files = await snapshot(migrated, files=sql_folder.files)
    folder = tmp_path / "schema"
    write(folder, files)
    assert differences(folder, files) == []
    (folder / "views" / "things.sql").unlink()
    (folder / "tables" / "gone.sql").write_text("", encoding="utf-8")
    (folder / "tables" / "log.sql").write_text("", encoding="utf-8")
    assert differences(folder, files) == [
        "views/things.sql is missing",
        "tables/gone.sql should not be there",
        "tables/log.sql is out of date",
    ]
    write(folder, files)
    assert differences(folder, files) == []


async def test_a_database_that_drifted_is_no_model(migrated: str, sql_folder: SqlFolder) -> None:
    """A snapshot is taken only of what the files make."""
    async with connected(migrated) as connection:
        await connection.execute("alter table livewell_private.thing add column more text")
    with pytest.raises(NotAsMigrated, match=r"column thing\.more was added"):
        await snapshot(migrated, files=sql_folder.files)


async def test_the_command_writes_and_checks(owner_url: str, tmp_path: Path) -> None:
    """`--check` fails on an empty folder and passes after writing."""
    folder = str(tmp_path / "schema")
    assert await _command(owner_url, "--check", "--folder", folder) == 1
    assert await _command(owner_url, "--folder", folder) == 0
    assert await _command(owner_url, "--check", "--folder", folder) == 0


async def _command(url: str, *arguments: str) -> int:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "livewell.kernel.schema_snapshot", *arguments),
        env={**os.environ, "DATABASE_URL": url},
        stderr=asyncio.subprocess.DEVNULL,
    )
    return await process.wait()
