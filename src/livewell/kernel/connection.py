"""A connection whose every statement is bounded and fails as a fact.

The driver gives a statement up after `command_timeout`. Then nobody knows what is still on the wire, so the connection
is cut and never used again. A statement whose caller is cancelled is cancelled in the server, too.

A server that turned out to be no primary is not asked again on the same connection: the next one may find another.
Where commits wait for a synchronous standby, one that is cancelled in that wait (by an operator, say) is answered as if
all was well, with a warning: it is committed here and may be lost in a failover. That is told as what it is, an unknown
outcome.

The driver asks each new connection what an array of numbers is, by a query of 10 to 30 ms. The answer is the same on
every server as long as the type is PostgreSQL's own, so it is asked once in a process.
"""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from livewell.kernel.errors import DatabaseUnavailable, NotPrimary, TransactionRolledBack, fact_from

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"
T = TypeVar("T")

DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)
_CANCEL_GRACE = timedelta(seconds=2)
# Where the server says that it gave up waiting for its standby; the text itself may be in any language.
_WAITS_FOR_STANDBY = "SyncRepWaitForLSN"
# Types with smaller numbers are PostgreSQL's own, the same in every database of every version.
_FIRST_OF_USERS = 16384

if TYPE_CHECKING:
    _DriverConnection = asyncpg.Connection[asyncpg.Record]
else:
    _DriverConnection = asyncpg.Connection


def is_usable(connection: Connection) -> bool:
    """Whether it is still open; the pool's wrapper of a connection that broke cannot even be asked."""
    try:
        return not connection.is_closed()
    except asyncpg.InterfaceError:
        return False


class _KnownTypes:
    """What the driver learned of PostgreSQL's own types, by their number, for all connections of this process."""

    name = "known"  # the driver asks whether it used up its unnamed statement to learn this: no

    def __init__(self) -> None:
        self._rows: dict[int, asyncpg.Record] = {}

    def learn(self, rows: Sequence[asyncpg.Record]) -> None:
        """Keep arrays of simple types; what they hold the driver knows by itself."""
        simple = {row["oid"] for row in rows if row["kind"] == b"b" and not row["elemtype"]}
        self._rows |= {row["oid"]: row for row in rows if row["oid"] < _FIRST_OF_USERS and row["elemtype"] in simple}

    def rows_of(self, types: Iterable[int]) -> list[asyncpg.Record] | None:
        """What the driver wants to know; None where any of it is not known yet."""
        rows = [self._rows.get(number) for number in types]
        return None if None in rows else [row for row in rows if row is not None]


_KNOWN_TYPES = _KnownTypes()


class FactConnection(_DriverConnection):
    """The driver's connection, with facts in place of its errors."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._is_unconfirmed = False
        self.add_log_listener(self._hear)

    def _hear(self, _connection: object, message: asyncpg.PostgresLogMessage) -> None:
        if getattr(message, "server_source_function", None) == _WAITS_FOR_STANDBY:
            self._is_unconfirmed = True

    async def _introspect_types(self, typeoids: Iterable[int], timeout: float | None) -> Any:
        if (known := _KNOWN_TYPES.rows_of(typeoids)) is not None:
            return known, _KNOWN_TYPES
        rows, statement = await super()._introspect_types(typeoids, timeout)  # type: ignore[misc]
        _KNOWN_TYPES.learn(rows)
        return rows, statement

    async def execute(self, query: str, *args: Any, timeout: float | None = None) -> str:
        status = await self._told(super().execute(query, *args, timeout=timeout))
        if status == "ROLLBACK" and query.rstrip(";").lower() == "commit":
            raise TransactionRolledBack(
                "the transaction was rolled back, not committed: a statement in it had failed",
                fix="let the failure end the block, or use a savepoint",
            )
        return status

    async def executemany(self, command: str, args: Any, *, timeout: float | None = None) -> None:
        await self._told(super().executemany(command, args, timeout=timeout))

    async def fetch(self, query: str, *args: Any, timeout: float | None = None, **options: Any) -> Any:
        return await self._told(super().fetch(query, *args, timeout=timeout, **options))

    async def fetchrow(self, query: str, *args: Any, timeout: float | None = None, **options: Any) -> Any:
        return await self._told(super().fetchrow(query, *args, timeout=timeout, **options))

    async def fetchval(self, query: str, *args: Any, column: int = 0, timeout: float | None = None) -> Any:
        return await self._told(super().fetchval(query, *args, column=column, timeout=timeout))

    async def copy_records_to_table(self, table_name: str, **options: Any) -> str:
        return await self._told(super().copy_records_to_table(table_name, **options))

    async def _told(self, call: Awaitable[T]) -> T:
        try:
            answer = await call
        except DRIVER_ERRORS as error:
            fact = fact_from(error)
            if isinstance(fact, DatabaseUnavailable | NotPrimary):
                self.terminate()
            if fact is None:
                raise
            raise fact from error
        except asyncio.CancelledError:
            await self._answer_cancelled()
            if self._is_unconfirmed:
                self.terminate()
            raise
        if self._is_unconfirmed:
            self.terminate()
            raise DatabaseUnavailable(
                "a commit was not confirmed by the synchronous standby: it may be lost in a failover",
                fix="repeat it with the same key",
            )
        return answer

    async def _answer_cancelled(self) -> None:
        """Wait until the server has given the cancelled statement up; a connection that does not answer is cut."""
        try:
            async with asyncio.timeout(_CANCEL_GRACE.total_seconds()):
                await super().execute("select 1")
        except asyncpg.InFailedSQLTransactionError:
            return
        except (*DRIVER_ERRORS, asyncio.CancelledError):
            self.terminate()
