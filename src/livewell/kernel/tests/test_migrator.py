"""The migrator: fresh, repeated, several at once, refusing, waiting."""

import asyncio
from datetime import timedelta

import pytest

from livewell.kernel import (
    Action,
    Backoff,
    CheckReport,
    DatabaseNewer,
    DatabaseTooOld,
    LockNotAvailable,
    MigrationEdited,
    MigrationFailed,
    MigrationMissing,
    MigratorOptions,
    RolesMissing,
    SqlFiles,
    check,
    migrate,
    plan,
)
from livewell.kernel.queries import QUERIES
from livewell.kernel.tests.conftest import BlankServer, SqlFolder
from livewell.testing import captured_logs, connected, until

_QUICK = MigratorOptions(
    lock_timeout=timedelta(milliseconds=100),
    attempts=2,
    backoff=Backoff(first=timedelta(milliseconds=1), longest=timedelta(milliseconds=2)),
    turn_timeout=timedelta(minutes=1),
)

_NONE = Backoff(first=timedelta(), longest=timedelta())

_WHO = "() returns text language sql security definer set search_path = pg_catalog as 'select current_user::text';"
_THING = "create table livewell_private.thing (id integer primary key);"
_LOCKED_THING = "lock table livewell_private.thing in access share mode"


async def _history(url: str) -> list[int]:
    async with connected(url) as connection:
        rows = await connection.fetch("select number from livewell_private.migration order by number")
    return [row["number"] for row in rows]


async def _tables(url: str) -> set[str]:
    async with connected(url) as connection:
        rows = await connection.fetch("select tablename from pg_tables where schemaname = 'livewell_private'")
    return {row["tablename"] for row in rows}


async def test_a_fresh_database_gets_every_file(empty_owner_url: str) -> None:
    """After migrating an empty database with the shipped files nothing is pending and nothing has drifted."""
    files = SqlFiles.shipped()
    report = await migrate(empty_owner_url)
    assert len(report.steps) == len(files.migrations) + len(files.objects)
    assert await check(empty_owner_url) == CheckReport(pending=(), drift=())


async def test_a_repeated_migrate_does_nothing(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """What is applied is not applied again."""
    sql_folder.migration(2, "kernel_thing", _THING)
    sql_folder.function("answer", "() returns integer language sql set search_path = '' as 'select 42';")
    await migrate(empty_owner_url, files=sql_folder.files)
    report = await migrate(empty_owner_url, files=sql_folder.files)
    assert (report.steps, report.drift) == ((), ())


async def test_everything_belongs_to_the_owner_role(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """Tables and functions are owned by livewell_owner, whoever migrated."""
    sql_folder.migration(2, "kernel_thing", _THING)
    sql_folder.function("answer", "() returns integer language sql set search_path = '' as 'select 42';")
    await migrate(empty_owner_url, files=sql_folder.files)
    async with connected(empty_owner_url) as connection:
        owners = await connection.fetch(
            "select relowner::regrole::text from pg_class where relnamespace = any"
            " ('{livewell,livewell_private}'::regnamespace[])"
            " union select proowner::regrole::text from pg_proc where pronamespace = any"
            " ('{livewell,livewell_private}'::regnamespace[])"
            " union select nspowner::regrole::text from pg_namespace where nspname in ('livewell', 'livewell_private')"
        )
    assert [row[0] for row in owners] == ["livewell_owner"]


async def test_migrations_run_in_number_order_whatever_room_they_are_in(
    empty_owner_url: str, sql_folder: SqlFolder
) -> None:
    """A higher number may stand on a lower one of another room."""
    kernel, room = SqlFolder(sql_folder.path / "a" / "sql"), SqlFolder(sql_folder.path / "b" / "sql")
    (sql_folder.path / "a" / "sql").mkdir(parents=True)
    (sql_folder.path / "migrations").rename(sql_folder.path / "a" / "sql" / "migrations")
    kernel.migration(3, "kernel_note", "alter table livewell_private.thing add column note text;")
    room.migration(2, "room_thing", _THING)
    await migrate(empty_owner_url, files=sql_folder.files)
    assert await _history(empty_owner_url) == [1, 2, 3]


@pytest.mark.parametrize("migrators", [2, 5])
async def test_several_at_once_apply_each_step_once(
    empty_owner_url: str, sql_folder: SqlFolder, migrators: int
) -> None:
    """Migrators that start together share the work: each step is done by exactly one of them."""
    for number in range(2, 7):
        sql_folder.migration(number, "kernel_table", f"create table livewell_private.t{number} (id integer);")
    sql_folder.function("answer", "() returns integer language sql set search_path = '' as 'select 42';")
    reports = await asyncio.gather(*(migrate(empty_owner_url, files=sql_folder.files) for _ in range(migrators)))
    done = [str(step) for report in reports for step in report.steps]
    assert sorted(done) == sorted({str(step) for step in done})
    assert await check(empty_owner_url, files=sql_folder.files) == CheckReport(pending=(), drift=())


async def test_databases_of_one_server_may_be_migrated_at_once(
    blank_server: BlankServer, sql_folder: SqlFolder
) -> None:
    """Roles belong to the server: databases that create them at the same moment do not stop each other."""
    names = [f"d{number}" for number in range(6)]
    for name in names:
        await blank_server.run(f"create database {name}")
    await asyncio.gather(*(migrate(blank_server.url(name), files=sql_folder.files) for name in names))
    for name in names:
        assert await _history(blank_server.url(name)) == [1]


async def test_a_plan_tells_the_steps_and_changes_nothing(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """`plan` lists what migrate would do, in its order, and leaves the database as it was."""
    sql_folder.migration(2, "kernel_thing", _THING)
    sql_folder.function("answer", "() returns integer language sql set search_path = '' as 'select 42';")
    steps = await plan(empty_owner_url, files=sql_folder.files)
    assert [str(step) for step in steps] == [
        "apply migration 0001_kernel_tables.sql",
        "apply migration 0002_kernel_thing.sql",
        "apply function answer",
    ]
    assert await _tables(empty_owner_url) == set()
    report = await migrate(empty_owner_url, files=sql_folder.files)
    assert list(report.steps) == steps


async def test_steps_are_told_as_they_are_done(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """`on_step` is called for a step once it is committed."""
    told: list[str] = []
    await migrate(empty_owner_url, files=sql_folder.files, on_step=lambda step: told.append(str(step)))
    assert told == ["apply migration 0001_kernel_tables.sql"]


async def test_an_edited_migration_is_refused(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A file that is not what was applied stops migrate, plan and check before anything is changed."""
    sql_folder.migration(2, "kernel_thing", _THING)
    await migrate(empty_owner_url, files=sql_folder.files)
    sql_folder.migration(2, "kernel_thing", _THING + " -- better")
    sql_folder.migration(3, "kernel_more", "create table livewell_private.more (id integer);")
    for call in (migrate, plan, check):
        with pytest.raises(MigrationEdited, match=r"0002_kernel_thing\.sql was edited"):
            await call(empty_owner_url, files=sql_folder.files)
    assert "more" not in await _tables(empty_owner_url)


async def test_a_missing_migration_is_refused(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """An applied migration whose file is gone from the middle stops everything."""
    sql_folder.migration(2, "kernel_thing", _THING)
    sql_folder.migration(3, "kernel_more", "create table livewell_private.more (id integer);")
    await migrate(empty_owner_url, files=sql_folder.files)
    sql_folder.remove("migrations/0002_kernel_thing")
    sql_folder.migration(4, "kernel_last", "create table livewell_private.last (id integer);")
    for call in (migrate, plan, check):
        with pytest.raises(MigrationMissing, match="0002_kernel_thing"):
            await call(empty_owner_url, files=sql_folder.files)
    assert "last" not in await _tables(empty_owner_url)


async def test_a_newer_database_is_refused(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A program older than the database changes nothing in it, not even its functions."""
    sql_folder.migration(2, "kernel_thing", _THING)
    await migrate(empty_owner_url, files=sql_folder.files)
    sql_folder.remove("migrations/0002_kernel_thing")
    sql_folder.function("answer", "() returns integer language sql set search_path = '' as 'select 42';")
    for call in (migrate, plan, check):
        with pytest.raises(DatabaseNewer, match="0002_kernel_thing"):
            await call(empty_owner_url, files=sql_folder.files)
    async with connected(empty_owner_url) as connection:
        assert await connection.fetchval("select to_regproc('livewell.answer')") is None


async def test_a_failing_migration_leaves_no_trace_and_says_which(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A migration is all or nothing; those before it stay, and the fact names the file in one line."""
    sql_folder.migration(2, "kernel_thing", _THING + " insert into livewell_private.nowhere values (1);")
    with pytest.raises(MigrationFailed) as caught:
        await migrate(empty_owner_url, files=sql_folder.files)
    assert "0002_kernel_thing.sql" in str(caught.value)
    assert "livewell_private.nowhere" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert await _history(empty_owner_url) == [1]
    assert "thing" not in await _tables(empty_owner_url)


async def test_a_step_gives_up_when_a_lock_is_held(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A step waits for a table no longer than lock_timeout, tries a bounded number of times, and has no effect."""
    sql_folder.migration(2, "kernel_thing", _THING)
    await migrate(empty_owner_url, files=sql_folder.files)
    sql_folder.migration(3, "kernel_note", "alter table livewell_private.thing add column note text;")
    async with connected(empty_owner_url) as holder, holder.transaction():
        await holder.execute(_LOCKED_THING)
        with pytest.raises(LockNotAvailable, match=r"0003_kernel_note\.sql .*pg_stat_activity"):
            await migrate(empty_owner_url, files=sql_folder.files, options=_QUICK)
    assert await _history(empty_owner_url) == [1, 2]
    await migrate(empty_owner_url, files=sql_folder.files, options=_QUICK)
    assert await _history(empty_owner_url) == [1, 2, 3]


async def test_a_step_is_tried_again_until_the_lock_is_free(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A lock held for longer than lock_timeout, but not for ever, delays a migration and does not fail it."""
    sql_folder.migration(2, "kernel_thing", _THING)
    await migrate(empty_owner_url, files=sql_folder.files)
    sql_folder.migration(3, "kernel_note", "alter table livewell_private.thing add column note text;")
    patient = MigratorOptions(lock_timeout=timedelta(milliseconds=20), attempts=1000, backoff=_NONE)
    async with connected(empty_owner_url) as holder, connected(empty_owner_url) as watcher:
        held = holder.transaction()
        await held.start()
        await holder.execute(_LOCKED_THING)
        migrating = asyncio.create_task(migrate(empty_owner_url, files=sql_folder.files, options=patient))
        tries: set[str] = set()

        async def tried_three_times() -> bool:
            row = await watcher.fetchval(
                "select virtualtransaction from pg_locks where relation = 'livewell_private.thing'::regclass and"
                " not granted"
            )
            tries.update([row] if row else [])
            return len(tries) >= 3

        await until(tried_three_times, "the step was tried three times")
        await held.rollback()
        await migrating
    assert await _history(empty_owner_url) == [1, 2, 3]


async def test_waiting_for_another_migrator_may_take_longer_than_a_lock(
    empty_owner_url: str, sql_folder: SqlFolder
) -> None:
    """The turn of another migrator is waited for beyond the lock_timeout and the attempts of a step."""
    await migrate(empty_owner_url, files=sql_folder.files)
    sql_folder.migration(2, "kernel_thing", _THING)
    async with connected(empty_owner_url) as holder:
        held = holder.transaction()
        await held.start()
        await holder.execute(QUERIES["take_turn"])
        with captured_logs() as logs:
            migrating = asyncio.create_task(migrate(empty_owner_url, files=sql_folder.files, options=_QUICK))

            async def asked_often() -> bool:
                asked = [line for line in logs if line["event"] == "schema_turn_awaited"]
                return len(asked) > _QUICK.attempts or migrating.done()

            await until(asked_often, "the migrator has asked for its turn more often than a step is tried")
            await held.rollback()
            report = await migrating
    assert [step.action for step in report.steps] == [Action.APPLY]


async def test_waiting_for_another_migrator_has_an_end(empty_owner_url: str, sql_folder: SqlFolder) -> None:
    """A turn that never comes is told as a fact."""
    await migrate(empty_owner_url, files=sql_folder.files)
    impatient = MigratorOptions(turn_timeout=timedelta(milliseconds=50))
    async with connected(empty_owner_url) as holder, holder.transaction():
        await holder.execute(QUERIES["take_turn"])
        with pytest.raises(MigrationFailed, match="another migrator"):
            await migrate(empty_owner_url, files=sql_folder.files, options=impatient)


async def test_a_role_that_may_not_create_roles_is_told_what_to_ask_for(
    blank_server: BlankServer, sql_folder: SqlFolder
) -> None:
    """Without the right to make roles the fact carries the exact SQL for a superuser, and after it migrating works."""
    await blank_server.run("create role plain login")
    await blank_server.run("create database app")
    with pytest.raises(RolesMissing) as caught:
        await migrate(blank_server.url("app", "plain"), files=sql_folder.files)
    assert "\n" not in str(caught.value)
    fix = caught.value.fix or ""
    assert "create role livewell_owner nologin; " in fix
    assert "create role livewell_writer nologin; grant " in fix
    await blank_server.run(fix.removeprefix("have a superuser run: "))
    await migrate(blank_server.url("app", "plain"), files=sql_folder.files)
    assert await check(blank_server.url("app", "plain"), files=sql_folder.files) == CheckReport(pending=(), drift=())


async def test_a_database_from_before_the_first_version_is_made_anew(
    empty_owner_url: str, sql_folder: SqlFolder
) -> None:
    """It is recognised, told what to do, and left alone; once it is dropped, migrating works."""
    async with connected(empty_owner_url) as connection:
        await connection.execute("create schema livewell; create table livewell.migration (number integer, name text)")
        for attempt in (migrate, check):
            with pytest.raises(DatabaseTooOld, match="made before the first version") as caught:
                await attempt(empty_owner_url, files=sql_folder.files)
            assert "drop schema livewell cascade" in (caught.value.fix or "")
        assert await connection.fetchval("select to_regnamespace('livewell_private')") is None
        await connection.execute("drop schema livewell cascade")
    await migrate(empty_owner_url, files=sql_folder.files)
    assert await check(empty_owner_url, files=sql_folder.files) == CheckReport(pending=(), drift=())


async def test_a_role_that_may_create_roles_needs_no_superuser(
    blank_server: BlankServer, sql_folder: SqlFolder
) -> None:
    """The usual administrator of a hosted database, CREATEROLE and no superuser, can migrate."""
    sql_folder.migration(2, "kernel_thing", _THING)
    sql_folder.function("who", _WHO, audience="internal\n-- runs as: livewell_reader")
    await blank_server.run("create role admin login createrole")
    await blank_server.run("create database app owner admin")
    await migrate(blank_server.url("app", "admin"), files=sql_folder.files)
    assert await _history(blank_server.url("app", "postgres")) == [1, 2]
