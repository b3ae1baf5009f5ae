"""Connections kept open for the next call: at most so many, the last used first, those long unused closed.

Lending one costs no task, no wrapper and no round trip, because nothing of a session is left behind on purpose; what
comes back inside a transaction, or broken, is not lent again. Callers that find none free wait in line: what comes back
is handed to the first of them, and no later caller can be quicker.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from livewell.kernel.connection import Connection
from livewell.kernel.errors import DatabaseUnavailable

UNUSED_SECONDS = 300.0


class Pool:
    """Lends connections that `connect` makes; `size` counts those lent, kept and being made."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], most: int) -> None:
        self._connect = connect
        self._most = most
        self._kept: deque[tuple[Connection, float]] = deque()
        self._lent: set[Connection] = set()
        self._waiting: deque[asyncio.Future[Connection | None]] = deque()
        self._closed = False
        self.size = 0

    def take(self) -> "Connection | None":
        """A connection that is there and free, at once."""
        while self._kept and not self._closed:
            connection, _ = self._kept.pop()
            if not connection.is_closed():
                self._lent.add(connection)
                return connection
            self.size -= 1
        return None

    async def acquire(self) -> Connection:
        """A connection, made or waited for if need be."""
        connection = self.take()
        while connection is None:
            if self._closed:
                raise DatabaseUnavailable("the database is closed", fix="use it while it is open")
            connection = await (self._made() if self.size < self._most else self._turn())
        return connection

    def release(self, connection: Connection) -> None:
        if not connection.is_closed() and connection.is_in_transaction():
            connection.terminate()
        if connection.is_closed():
            self._lent.discard(connection)
            self.size -= 1
            self._hand_on(None)
        elif not self._hand_on(connection):
            self._lent.discard(connection)
            self._keep(connection)

    async def close(self) -> None:
        """Lend no more, close each connection as it comes back, and refuse the callers that wait."""
        self._closed = True
        while self.size:
            while self._kept:
                await self._kept.popleft()[0].close()
                self.size -= 1
            if self.size and (connection := await self._turn()) is not None:
                self._lent.discard(connection)
                self._kept.append((connection, 0.0))
        while self._hand_on(None):
            pass

    def terminate(self) -> None:
        """Cut off every connection, whoever has it."""
        for connection in [*self._lent, *(kept for kept, _ in self._kept)]:
            connection.terminate()

    def _keep(self, connection: Connection) -> None:
        now = asyncio.get_running_loop().time()
        self._kept.append((connection, now))
        while self._kept[0][1] < now - UNUSED_SECONDS:
            self._kept.popleft()[0].terminate()
            self.size -= 1

    async def _made(self) -> Connection:
        self.size += 1
        made = None
        try:
            made = await self._connect()
        finally:
            if made is None:
                self.size -= 1
                self._hand_on(None)
        self._lent.add(made)
        return made

    async def _turn(self) -> "Connection | None":
        """Wait for a connection, or for the right to make one; a caller that gives up hands on what it was given."""
        turn: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                given = turn.result()
                if given is None:
                    self._hand_on(None)
                else:
                    self.release(given)
            raise

    def _hand_on(self, connection: "Connection | None") -> bool:
        """Give a connection, or the right to make one, to the caller that waits longest; whether there is one."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(connection)
                return True
        return False
