"""Connections kept open for the next call: at most so many, the last used first, those long unused closed.

Lending one costs no task, no wrapper and no round trip, because nothing of a session is left behind on purpose; what
comes back inside a transaction, or broken, is not lent again. Callers that find none free wait in line.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from livewell.kernel.connection import Connection

UNUSED_SECONDS = 300.0


class Pool:
    """Lends connections that `connect` makes; `size` counts those lent, kept and being made."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], most: int) -> None:
        self._connect = connect
        self._most = most
        self._kept: deque[tuple[Connection, float]] = deque()
        self._lent: set[Connection] = set()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.size = 0

    def take(self) -> "Connection | None":
        """A connection that is there and free, at once."""
        while self._kept:
            connection, _ = self._kept.pop()
            if not connection.is_closed():
                self._lent.add(connection)
                return connection
            self.size -= 1
        return None

    async def acquire(self) -> Connection:
        """A connection, made or waited for if need be."""
        while True:
            connection = self.take()
            if connection is not None:
                return connection
            if self.size < self._most:
                return await self._made()
            await self._turn()

    def release(self, connection: Connection) -> None:
        self._lent.discard(connection)
        if not connection.is_closed() and connection.is_in_transaction():
            connection.terminate()
        now = asyncio.get_running_loop().time()
        if connection.is_closed():
            self.size -= 1
        else:
            self._kept.append((connection, now))
            while self._kept[0][1] < now - UNUSED_SECONDS:
                self._kept.popleft()[0].terminate()
                self.size -= 1
        self._next_turn()

    async def close(self) -> None:
        """Close what is kept, politely, and what is still lent, at once."""
        for connection in self._lent:
            connection.terminate()
        while self._kept:
            await self._kept.popleft()[0].close()

    def terminate(self) -> None:
        for connection, _ in self._kept:
            connection.terminate()

    async def _made(self) -> Connection:
        self.size += 1
        try:
            connection = await self._connect()
        except BaseException:
            self.size -= 1
            self._next_turn()
            raise
        self._lent.add(connection)
        return connection

    async def _turn(self) -> None:
        """Wait until one may be free; who gives up hands its turn on."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self._next_turn()
            raise

    def _next_turn(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
