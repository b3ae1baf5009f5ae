"""Memory for answers, held as bytes: so many in a process at once, however many calls are under way.

A call reserves what its answer is expected to need and waits until that is free. An answer that turns out larger takes
the one place for large ones: at any time there is at most one of those, so memory stays below the limit and one largest
answer, and no two calls can wait for each other.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

DEFAULT_LIMIT = 64 * 1024 * 1024


class Room:
    """What one call may hold."""

    def __init__(self, reserved: int, large: asyncio.Lock) -> None:
        self._reserved = reserved
        self._lock = large
        self._is_large = False

    def fits(self, size: int) -> bool:
        return self._is_large or size <= self._reserved

    async def grow(self) -> None:
        """Wait for the one place for large answers."""
        await self._lock.acquire()
        self._is_large = True

    def leave(self) -> None:
        if self._is_large:
            self._lock.release()


class Memory:
    """Hands out rooms in the order they were asked for."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._free = limit
        self._large = asyncio.Lock()
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def held(self) -> int:
        return self._limit - self._free

    @asynccontextmanager
    async def room(self, wanted: int) -> AsyncIterator[Room]:
        """A room of that size, or of the whole limit when that is less."""
        size = min(wanted, self._limit)
        await self._take(size)
        room = Room(size, self._large)
        try:
            yield room
        finally:
            room.leave()
            self._give(size)

    async def _take(self, size: int) -> None:
        if not self._waiting and size <= self._free:
            self._free -= size
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give(size)
            else:
                self._waiting.remove((size, turn))
                self._give(0)
            raise

    def _give(self, size: int) -> None:
        self._free += size
        while self._waiting and self._waiting[0][0] <= self._free:
            wanted, turn = self._waiting.popleft()
            if not turn.done():
                self._free -= wanted
                turn.set_result(None)
