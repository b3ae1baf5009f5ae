"""The way to PostgreSQL: a pool for everyday calls, and lines (reserved connections) for what must not wait for it.

Every call is bounded twice: by the server (`statement_timeout`, idle-in-transaction timeout) and by the client, a
little later, for a server that says nothing at all. Deadlocks and serialization failures of a single call are repeated,
bounded. What the driver raises leaves here as a fact (`errors.py`).

A URL may name several servers of a cluster: every connection, whoever opens it, finds the one that takes writes
(`hosts.py`), so a failover is a lost connection like any other.

Behind a transaction pooler (`pooled=True`) nothing of a session may be relied on: each call is its own transaction
whose limits are SET LOCAL, statements are not cached, and LISTEN needs `direct_url` (without it, pollers poll).
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Protocol, Self, TypeVar

import asyncpg

from livewell.kernel.backoff import Backoff
from livewell.kernel.connection import DRIVER_ERRORS, Connection, FactConnection, is_usable
from livewell.kernel.errors import Contended, DatabaseUnavailable, LivewellError, reason_of
from livewell.kernel.hosts import connect_to_one_of, hosts_of, kind_of_server
from livewell.kernel.logger import Logger
from livewell.kernel.pool import Pool

T = TypeVar("T")

log = Logger("livewell.kernel")

# Whether a standby can be had is known only when every server was asked: the driver does that itself.
_LEFT_TO_THE_DRIVER = "prefer-standby"
_CONTENDED = Backoff(first=timedelta(milliseconds=2), longest=timedelta(seconds=1), least=0.0)


@dataclass(frozen=True, kw_only=True)
class DatabaseOptions:
    """Where the database is and how long anything may take."""

    url: str
    direct_url: str | None = None
    pooled: bool = False
    pool_size: int = 10
    connect_timeout: timedelta = timedelta(seconds=10)
    statement_timeout: timedelta = timedelta(seconds=30)
    idle_in_transaction_timeout: timedelta = timedelta(seconds=60)
    # Between the statements of one call there is nothing to wait for: a client that is silent so long was cut off.
    idle_in_call_timeout: timedelta = timedelta(seconds=5)
    answer_grace: timedelta = timedelta(seconds=2)
    contention_retries: int = 10
    application_name: str = "livewell"

    @property
    def server_settings(self) -> dict[str, str]:
        if self.pooled:
            return {}
        return {
            "application_name": self.application_name,
            "statement_timeout": _milliseconds(self.statement_timeout),
            "idle_in_transaction_session_timeout": _milliseconds(self.idle_in_transaction_timeout),
            "tcp_keepalives_idle": "15",
            "tcp_keepalives_interval": "5",
            "tcp_keepalives_count": "3",
            "tcp_user_timeout": "30000",
        }

    @property
    def connect_arguments(self) -> dict[str, Any]:
        """What every connection is opened with; a pooler allows neither startup options nor cached statements."""
        caching = {"statement_cache_size": 0} if self.pooled else {"max_cached_statement_lifetime": 0}
        return {
            "server_settings": self.server_settings,
            "timeout": self.connect_timeout.total_seconds(),
            "command_timeout": (self.statement_timeout + self.answer_grace).total_seconds(),
            "connection_class": FactConnection,
            **caching,
        }

    @property
    def transaction_limits(self) -> str:
        """The limits of a transaction of the caller's own, where no session can carry them."""
        return self._limits(self.idle_in_transaction_timeout)

    @property
    def call_limits(self) -> str:
        """The limits of a transaction that is a single call."""
        return self._limits(self.idle_in_call_timeout)

    def _limits(self, idle: timedelta) -> str:
        return (
            f"set local statement_timeout = {_milliseconds(self.statement_timeout)};"
            f" set local idle_in_transaction_session_timeout = {_milliseconds(idle)}"
        )


class Caller(Protocol):
    """Anything that can carry one statement: the pool, or a line of one's own."""

    async def fetch(self, statement: str, *args: object) -> list[asyncpg.Record]: ...

    async def fetchrow(self, statement: str, *args: object) -> asyncpg.Record | None: ...

    async def fetchval(self, statement: str, *args: object) -> Any: ...


class _Calls(ABC):
    """The calls that pool and line share; each knows only how to lend a connection."""

    def __init__(self, options: DatabaseOptions) -> None:
        self.options = options

    @abstractmethod
    async def acquire(self) -> Connection:
        """Borrow a connection, to be given back; one that broke is not lent again."""

    @abstractmethod
    def release(self, connection: Connection) -> None:
        """Give it back."""

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Lend a connection for a block."""
        connection = await self.acquire()
        try:
            yield connection
        finally:
            self.release(connection)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """Lend a connection inside a transaction that commits when the block ends well."""
        async with self.connection() as connection:
            transaction = connection.transaction()
            await transaction.start()
            try:
                if self.options.pooled:
                    await connection.execute(self.options.transaction_limits)
                yield connection
            except BaseException:
                if is_usable(connection):
                    with suppress(LivewellError):
                        await transaction.rollback()
                raise
            if not is_usable(connection):
                raise DatabaseUnavailable("the server ended the transaction before its commit: nothing of it happened")
            await transaction.commit()

    async def fetch(self, statement: str, *args: object) -> list[asyncpg.Record]:
        return await self._run(lambda connection: connection.fetch(statement, *args))

    async def fetchrow(self, statement: str, *args: object) -> asyncpg.Record | None:
        return await self._run(lambda connection: connection.fetchrow(statement, *args))

    async def fetchval(self, statement: str, *args: object) -> Any:
        return await self._run(lambda connection: connection.fetchval(statement, *args))

    async def execute(self, statement: str, *args: object) -> str:
        return await self._run(lambda connection: connection.execute(statement, *args))

    async def _run(self, call: Callable[[Connection], Awaitable[T]]) -> T:
        attempt = 0
        while True:
            connection = await self.acquire()
            try:
                return await (self._within_limits(connection, call) if self.options.pooled else call(connection))
            except Contended:
                attempt += 1
                if attempt > self.options.contention_retries:
                    raise
                log.info("call_contended", attempt=attempt)
            finally:
                self.release(connection)
            await asyncio.sleep(_CONTENDED.seconds(attempt))

    async def _within_limits(self, connection: Connection, call: Callable[[Connection], Awaitable[T]]) -> T:
        """A call as a transaction of its own, begun and limited in one round trip."""
        await connection.execute(f"begin; {self.options.call_limits}")
        try:
            result = await call(connection)
        except BaseException:
            if is_usable(connection):
                with suppress(LivewellError):
                    await connection.execute("rollback")
            raise
        await connection.execute("commit")
        return result


async def connect(options: DatabaseOptions, *, url: str | None = None) -> Connection:
    """Open one connection, or say in one line why it cannot be opened; of several servers, to the one for writes."""
    where, within = url or options.url, options.connect_timeout.total_seconds()
    opened = partial(asyncpg.connect, where, **options.connect_arguments)
    hosts, kind = hosts_of(where), kind_of_server(where)
    if len(hosts) > 1 and kind != _LEFT_TO_THE_DRIVER:
        return await connect_to_one_of(hosts, kind, opened, within=within)
    try:
        async with asyncio.timeout(within):
            connection: Connection = await opened()
            return connection
    except DRIVER_ERRORS as error:
        raise DatabaseUnavailable(
            f"cannot connect to the database: {reason_of(error)}", fix="check DATABASE_URL and that the server runs"
        ) from error


class Line(_Calls):
    """One connection of one's own, opened again when it breaks; its calls never wait for the pool."""

    def __init__(self, options: DatabaseOptions) -> None:
        super().__init__(options)
        self._connection: Connection | None = None
        self._in_use = asyncio.Lock()

    async def acquire(self) -> Connection:
        await self._in_use.acquire()
        if self._connection is not None and self._connection.is_closed():
            self._connection = None
        try:
            self._connection = self._connection or await connect(self.options)
        finally:
            if self._connection is None:
                self._in_use.release()
        return self._connection

    def release(self, connection: Connection) -> None:
        del connection
        self._in_use.release()

    async def open(self) -> None:
        """Connect now, so that the first call need not wait for it."""
        async with self.connection():
            pass

    async def close(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await close_politely(connection)


class Database(_Calls):
    """A pool, and the lines and listeners opened beside it."""

    def __init__(self, options: DatabaseOptions) -> None:
        super().__init__(options)
        self._pool = Pool(lambda: connect(options), options.pool_size)
        self._lines: list[Line] = []

    @classmethod
    async def open(cls, options: DatabaseOptions) -> Self:
        """Connect once, so that a wrong address is told at the start; more are made when they are needed."""
        database = cls(options)
        database.release(await database.acquire())
        return database

    async def acquire(self) -> Connection:
        connection = self._pool.take()
        if connection is not None:
            return connection
        try:
            async with asyncio.timeout(self.options.connect_timeout.total_seconds()):
                return await self._pool.acquire()
        except TimeoutError as error:
            wait = self.options.connect_timeout
            raise DatabaseUnavailable(
                f"no connection to the database was free or could be made within {wait}"
            ) from error

    def release(self, connection: Connection) -> None:
        self._pool.release(connection)

    def line(self) -> Line:
        """A reserved connection; it is opened by its first call and closed with the database."""
        line = Line(self.options)
        self._lines.append(line)
        return line

    async def close(self) -> None:
        for line in self._lines:
            await line.close()
        try:
            async with asyncio.timeout(self.options.answer_grace.total_seconds()):
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def close_politely(connection: Connection) -> None:
    """Say goodbye, but do not wait long for a server that does not answer."""
    try:
        await connection.close(timeout=2)
    except DRIVER_ERRORS:
        connection.terminate()


def _milliseconds(duration: timedelta) -> str:
    return str(int(duration.total_seconds() * 1000))
