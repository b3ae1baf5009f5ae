"""The way to PostgreSQL: a pool for everyday calls, and lines (reserved connections) for what must not wait for it.

Every call is bounded twice: by the server (`statement_timeout`, idle-in-transaction timeout) and by the client, a
little later, for a server that says nothing at all. Deadlocks and serialization failures of a single call are repeated,
bounded. What the driver raises leaves here as a fact (`errors.py`).

Behind a transaction pooler (`pooled=True`) nothing of a session may be relied on: each call is its own transaction
whose limits are SET LOCAL, statements are not cached, and LISTEN needs `direct_url` (without it, pollers poll).
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import asyncpg
import structlog
from asyncpg.pool import PoolConnectionProxy

from livewell.kernel.errors import Contended, DatabaseUnavailable, fact_from, reason_of

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"
T = TypeVar("T")

log = structlog.get_logger("livewell.kernel")


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
            **caching,
        }

    @property
    def begin(self) -> str:
        """Open a transaction, with its limits where no session can carry them."""
        if not self.pooled:
            return "begin"
        return (
            f"begin; set local statement_timeout = {_milliseconds(self.statement_timeout)};"
            f" set local idle_in_transaction_session_timeout = {_milliseconds(self.idle_in_transaction_timeout)}"
        )

    @property
    def client_timeout(self) -> float:
        return (self.statement_timeout + self.answer_grace).total_seconds()


class Caller(Protocol):
    """Anything that can carry one statement: the pool, or a line of one's own."""

    async def fetch(self, statement: str, *args: object) -> list[asyncpg.Record]: ...

    async def fetchrow(self, statement: str, *args: object) -> asyncpg.Record | None: ...

    async def fetchval(self, statement: str, *args: object) -> Any: ...


class _Calls:
    """The calls that pool and line share; each knows only how to lend a connection."""

    def __init__(self, options: DatabaseOptions) -> None:
        self.options = options

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        """Lend a connection; what fails inside leaves as a fact, and a broken connection is not lent again."""
        raise NotImplementedError

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """Lend a connection inside a transaction that commits when the block ends well."""
        async with self.connection() as connection:
            await connection.execute(self.options.begin)
            try:
                yield connection
            except BaseException:
                if not connection.is_closed():
                    await connection.execute("rollback")
                raise
            await connection.execute("commit")

    async def fetch(self, statement: str, *args: object) -> list[asyncpg.Record]:
        return await self._run(lambda connection: connection.fetch(statement, *args))

    async def fetchrow(self, statement: str, *args: object) -> asyncpg.Record | None:
        return await self._run(lambda connection: connection.fetchrow(statement, *args))

    async def fetchval(self, statement: str, *args: object) -> Any:
        return await self._run(lambda connection: connection.fetchval(statement, *args))

    async def execute(self, statement: str, *args: object) -> str:
        return await self._run(lambda connection: connection.execute(statement, *args))

    async def _run(self, call: Callable[[Connection], Awaitable[T]]) -> T:
        lend = self.transaction if self.options.pooled else self.connection
        attempt = 0
        while True:
            try:
                async with lend() as connection, asyncio.timeout(self.options.client_timeout):
                    return await call(connection)
            except Contended:
                attempt += 1
                if attempt > self.options.contention_retries:
                    raise
                log.info("call_contended", attempt=attempt)
                await asyncio.sleep(random.uniform(0, 0.001 * 2**attempt))


@asynccontextmanager
async def _facts(connection: Connection) -> AsyncIterator[None]:
    """Turn what the driver raises into facts; cut a connection whose state is no longer known."""
    try:
        yield
    except asyncpg.PostgresError as error:
        fact = fact_from(error)
        if isinstance(fact, DatabaseUnavailable):
            connection.terminate()
        if fact is None:
            raise
        raise fact from error
    except (asyncpg.InterfaceError, OSError, TimeoutError) as error:
        fact = fact_from(error)
        if fact is None:
            raise
        connection.terminate()
        raise fact from error
    except asyncio.CancelledError:
        connection.terminate()
        raise


async def connect(options: DatabaseOptions, *, url: str | None = None) -> Connection:
    """Open one connection, or say in one line why it cannot be opened."""
    try:
        async with asyncio.timeout(options.connect_timeout.total_seconds()):
            connection: Connection = await asyncpg.connect(url or options.url, **options.connect_arguments)
            return connection
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
        raise DatabaseUnavailable(
            f"cannot connect to the database: {reason_of(error)}", fix="check DATABASE_URL and that the server runs"
        ) from error


class Line(_Calls):
    """One connection of one's own, opened again when it breaks; its calls never wait for the pool."""

    def __init__(self, options: DatabaseOptions) -> None:
        super().__init__(options)
        self._connection: Connection | None = None
        self._in_use = asyncio.Lock()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        async with self._in_use:
            if self._connection is None or self._connection.is_closed():
                self._connection = await connect(self.options)
            async with _facts(self._connection):
                yield self._connection

    async def close(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await close_politely(connection)


class Database(_Calls):
    """A pool, and the lines and listeners opened beside it."""

    def __init__(self, options: DatabaseOptions, pool: "asyncpg.Pool[asyncpg.Record]") -> None:
        super().__init__(options)
        self._pool = pool
        self._lines: list[Line] = []

    @classmethod
    async def open(cls, options: DatabaseOptions) -> Self:
        """Connect once, so that a wrong address is told at the start, and open a pool that grows on demand."""
        first = await connect(options)
        await close_politely(first)
        pool = await asyncpg.create_pool(
            options.url, min_size=0, max_size=options.pool_size, reset=_keep_as_is, **options.connect_arguments
        )
        return cls(options, pool)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        try:
            async with asyncio.timeout(self.options.connect_timeout.total_seconds()):
                connection = await self._pool.acquire()
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
            raise DatabaseUnavailable(f"no connection to the database: {reason_of(error)}") from error
        try:
            async with _facts(connection):
                yield connection
        finally:
            await self._pool.release(connection)

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
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
        connection.terminate()


async def _keep_as_is(_: object) -> None:
    """Pooled connections carry no session state of ours, so giving one back costs no round trip."""


def _milliseconds(duration: timedelta) -> str:
    return str(int(duration.total_seconds() * 1000))
