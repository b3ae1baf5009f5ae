"""A connection whose every statement is bounded and fails as a fact.

The driver gives a statement up after `command_timeout`. Then nobody knows what is still on the wire, so the connection
is cut and never used again. A statement whose caller is cancelled is cancelled in the server, too.

A server that turned out to be no primary is not asked again on the same connection: the next one may find another.
Where commits wait for a synchronous standby, one that is cancelled in that wait (by an operator, say) is answered as if
all was well, with a warning: it is committed here and may be lost in a failover. That is told as what it is, an unknown
outcome.
"""

import asyncio
from collections.abc import Awaitable
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


class FactConnection(_DriverConnection):
    """The driver's connection, with facts in place of its errors."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._is_unconfirmed = False
        self.add_log_listener(self._hear)

    def _hear(self, _connection: object, message: asyncpg.PostgresLogMessage) -> None:
        if getattr(message, "server_source_function", None) == _WAITS_FOR_STANDBY:
            self._is_unconfirmed = True

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
