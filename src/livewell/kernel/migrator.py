"""The migrator: brings a database to the shape this program needs, one at a time across machines, and notices drift.

Each migration is one transaction, and all changed functions, views and triggers together are one, so that callers never
see half of a new surface. A transaction first takes the migrator's lock and reads the history again: so the next run
finds what a killed or a parallel one has done. The lock is a row of the history, which no stranger can hold; of several
on an empty database one makes the schema, and the others find it there. Nothing of a session is used, so a pooler may
stand between.

What the catalog shows before and after a step is compared, and only what the step itself changed is recorded; a change
made by hand therefore stays visible as drift. What has a file (functions, views, triggers, and the grants on them) is
repaired from it; drift of tables is reported and left to a person.
"""

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta

import asyncpg

from livewell.kernel.backoff import Backoff
from livewell.kernel.connection import Connection
from livewell.kernel.database import DatabaseOptions, close_politely, connect
from livewell.kernel.errors import (
    Contended,
    DatabaseUnavailable,
    DiskFull,
    LivewellError,
    LockNotAvailable,
    MigrationFailed,
    NotPrimary,
    RolesMissing,
    ServerTooOld,
    fact_from,
    reason_of,
)
from livewell.kernel.logger import Logger
from livewell.kernel.migration_files import Migration, SqlFiles
from livewell.kernel.migration_state import (
    Action,
    Drift,
    State,
    Step,
    keys_mentioned,
    keys_of,
    read_state,
    record_changes,
    record_files,
)
from livewell.kernel.queries import QUERIES
from livewell.kernel.schema_objects import ObjectReplacer
from livewell.kernel.sql_statements import split_statements

OLDEST_SERVER = 15

_NOT_THE_FILES_FAULT = (Contended, DatabaseUnavailable, DiskFull, NotPrimary, RolesMissing)
_BUILT_CONCURRENTLY = re.compile(
    r"\bcreate\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(?P<name>\w+)", re.IGNORECASE
)

_LOCKED = Backoff(first=timedelta(milliseconds=400), longest=timedelta(seconds=5))
_TURN_TAKEN = Backoff(first=timedelta(milliseconds=20), longest=timedelta(milliseconds=500))

log = Logger("livewell.kernel")


@dataclass(frozen=True, kw_only=True)
class MigratorOptions:
    """How long a step may wait for locks, for its turn, and altogether."""

    lock_timeout: timedelta = timedelta(seconds=2)
    attempts: int = 10
    backoff: Backoff = _LOCKED
    turn_timeout: timedelta = timedelta(minutes=10)
    step_timeout: timedelta = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class MigrationReport:
    """What was done, and the drift that no file could repair."""

    steps: tuple[Step, ...]
    drift: tuple[Drift, ...]


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """What is still to do, and what differs from what was recorded."""

    pending: tuple[Step, ...]
    drift: tuple[Drift, ...]

    @property
    def is_clean(self) -> bool:
        return not self.pending and not self.drift


async def migrate(
    url: str,
    *,
    files: SqlFiles | None = None,
    options: MigratorOptions | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> MigrationReport:
    """Apply everything pending; safe to repeat, to kill, and to run on several machines at once."""
    migrator = _Migrator(url, files or SqlFiles.shipped(), options or MigratorOptions())
    done: list[Step] = []
    async with migrator.connected() as connection:
        while steps := await migrator.advance(connection):
            for step in steps:
                log.debug("schema_step_applied", action=step.action, kind=step.kind, name=step.name)
                if on_step is not None:
                    on_step(step)
            done.extend(steps)
        drift = (await migrator.look(connection)).drift()
    if done:
        log.info("schema_migrated", **Counter(step.kind for step in done))
    for item in drift:
        log.warning("schema_drifted", kind=item.kind, name=item.name, change=item.change)
    return MigrationReport(steps=tuple(done), drift=drift)


async def plan(url: str, *, files: SqlFiles | None = None) -> list[Step]:
    """What `migrate` would do now; changes nothing."""
    return list((await check(url, files=files)).pending)


async def check(url: str, *, files: SqlFiles | None = None) -> CheckReport:
    """What is pending and what drifted; changes nothing."""
    files = files or SqlFiles.shipped()
    migrator = _Migrator(url, files, MigratorOptions())
    async with migrator.connected() as connection:
        state = await migrator.look(connection)
    return CheckReport(pending=state.pending_steps(files), drift=state.drift())


class _Migrator:
    """One run: where to, with which files, within which limits."""

    def __init__(self, url: str, files: SqlFiles, options: MigratorOptions) -> None:
        self._files = files
        self._options = options
        self._database = DatabaseOptions(url=url, pooled=True, statement_timeout=options.step_timeout)

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Connection]:
        connection = await connect(self._database)
        try:
            major = connection.get_server_version().major
            if major < OLDEST_SERVER:
                raise ServerTooOld(f"the server is PostgreSQL {major}; Livewell needs {OLDEST_SERVER} or newer")
            yield connection
        except asyncpg.PostgresError as error:
            raise fact_from(error) or MigrationFailed(reason_of(error)) from error
        except (asyncpg.InterfaceError, OSError, TimeoutError) as error:
            raise fact_from(error) or error from error
        finally:
            await close_politely(connection)

    async def look(self, connection: Connection) -> State:
        """Read the state without waiting for anybody's turn."""
        await connection.execute("begin read only")
        try:
            await self._limit(connection)
            state = await read_state(connection)
        finally:
            await connection.execute("rollback")
        state.refuse_foreign_history(self._files)
        return state

    async def advance(self, connection: Connection) -> tuple[Step, ...]:
        """Do the next thing that is pending, again when somebody's locks are in the way; nothing left: no steps."""
        attempt = 0
        first = not await connection.fetchval(QUERIES["has_history"])
        while True:
            try:
                async with asyncio.timeout((self._options.turn_timeout + self._options.step_timeout).total_seconds()):
                    return await self._advance_once(connection)
            except (LockNotAvailable, Contended) as error:
                attempt += 1
                if attempt >= self._options.attempts:
                    raise
                log.warning("schema_step_delayed", attempt=attempt, reason=error.message)
                await asyncio.sleep(self._options.backoff.seconds(attempt))
            except MigrationFailed:
                # Somebody else who began on an empty database too may have made the schema.
                if not first or not await connection.fetchval(QUERIES["has_history"]):
                    raise
                first = False

    async def _advance_once(self, connection: Connection) -> tuple[Step, ...]:
        async with self._turn(connection):
            before = await read_state(connection)
            before.refuse_foreign_history(self._files)
            migrations = before.pending_migrations(self._files)
            if migrations:
                return await self._apply_migration(connection, migrations[0], before)
            return await self._apply_objects(connection, before)

    @asynccontextmanager
    async def _turn(self, connection: Connection) -> AsyncIterator[None]:
        """A transaction that no other migrator overlaps."""
        try:
            await self._await_turn(connection)
            yield
            await connection.execute("commit")
        except (asyncpg.PostgresError, LivewellError):
            if not connection.is_closed():
                await connection.execute("rollback")
            raise
        except BaseException:
            connection.terminate()
            raise

    async def _await_turn(self, connection: Connection) -> None:
        """Begin a transaction that has the turn, asking again and again; an empty database or a replica has none.

        Waiting inside the server would hold a snapshot, for which another migrator's concurrent index build waits.
        """
        deadline = time.monotonic() + self._options.turn_timeout.total_seconds()
        attempt = 0
        while True:
            await connection.execute("begin")
            await self._limit(connection)
            if not await connection.fetchval(QUERIES["has_history"]) or await connection.fetchval(
                QUERIES["is_replica"]
            ):
                return
            await connection.execute(QUERIES["act_as_owner"])
            if await connection.fetchval(QUERIES["take_turn"]):
                return
            await connection.execute("rollback")
            if time.monotonic() > deadline:
                raise MigrationFailed("another migrator holds its lock on this database for too long")
            attempt += 1
            log.debug("schema_turn_awaited", attempt=attempt)
            await asyncio.sleep(_TURN_TAKEN.seconds(attempt))

    async def _apply_migration(self, connection: Connection, migration: Migration, before: State) -> tuple[Step, ...]:
        with _told_as(f"migration {migration.file_name}"):
            if migration.in_transaction:
                await connection.execute(migration.text)
            else:
                # The portal of the last query keeps its snapshot, and a concurrent build would wait for it for ever.
                await connection.execute("select 1")
                await self._run_beside(migration)
        await connection.execute(QUERIES["record_migration"], migration.number, migration.name, migration.checksum)
        # What ran outside a transaction may have been begun, and not recorded, by a run that was killed.
        vouched = set() if migration.in_transaction else keys_mentioned(migration.text, before)
        await record_changes(connection, before, vouched=vouched)
        return (Step(action=Action.APPLY, kind="migration", name=migration.file_name),)

    async def _run_beside(self, migration: Migration) -> None:
        """Run what no transaction may hold on a second connection, while the first one keeps the turn.

        Such statements take no lock that stops readers or writers, so they wait for theirs without a timeout.
        """
        beside = await connect(self._database)
        try:
            built = [match["name"] for match in _BUILT_CONCURRENTLY.finditer(migration.text)]
            broken = await beside.fetch(QUERIES["list_invalid_indexes"], built)
            for statement in [*(row["drop_it"] for row in broken), *split_statements(migration.text)]:
                await beside.execute(statement)
        except BaseException:
            beside.terminate()
            raise
        await close_politely(beside)

    async def _apply_objects(self, connection: Connection, before: State) -> tuple[Step, ...]:
        steps = before.pending_object_steps(self._files)
        replacer = ObjectReplacer(connection, self._files.objects)
        for item, _ in before.pending_objects(self._files):
            with _told_as(f"{item.kind} file {item.name}.sql"):
                await replacer.apply(item)
        with _told_as("dropping what has no file any more"):
            await replacer.drop(before.orphans(self._files))
        if steps:
            vouched = {key for touched in replacer.touched for key in keys_of(*touched)}
            await record_changes(connection, before, vouched=vouched)
            await record_files(connection, [item for item in self._files.objects if item.key in replacer.touched])
        return steps

    async def _limit(self, connection: Connection) -> None:
        limits = [_milliseconds(self._options.lock_timeout), _milliseconds(self._options.step_timeout)]
        await connection.execute(QUERIES["limit_step"], *limits)


@contextmanager
def _told_as(what: str) -> Iterator[None]:
    """Say which file failed; what a repeat can cure, and what is not the file's fault, keeps its own name."""
    try:
        yield
    except LockNotAvailable as error:
        raise LockNotAvailable(
            f"{what} was not given a lock it needs within its time limit",
            fix="end the transaction that holds it (pg_stat_activity shows it), then migrate again",
        ) from error
    except _NOT_THE_FILES_FAULT:
        raise
    except (asyncpg.PostgresError, LivewellError) as error:
        if _is_passing(error):
            raise Contended(reason_of(error)) from error
        raise MigrationFailed(f"{what}: {reason_of(error)}", detail=getattr(error, "detail", None)) from error


def _is_passing(error: Exception) -> bool:
    """Roles and catalogs shared with other databases collide without a lock to wait for."""
    return isinstance(error, asyncpg.InternalServerError) and "tuple concurrently" in str(error)


def _milliseconds(duration: timedelta) -> str:
    return str(int(duration.total_seconds() * 1000))
