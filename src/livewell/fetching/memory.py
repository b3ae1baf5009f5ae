"""Memory for answers, held as bytes: so many in a process at once, however many calls are under way.

A call reserves what its answer is expected to need and waits until that is free. An answer that turns out larger takes
the one place for large ones: at any time there is at most one of those, so memory stays below the limit and one largest
answer, and no two calls can wait for each other. What an answer brought is kept until it is stored, and so is the
memory reserved for it: it is free again when nobody has the answer any more.
"""

import asyncio
from collections import deque
from types import TracebackType
from typing import Self

DEFAULT_LIMIT = 24 * 1024 * 1024
READ_AHEAD = 256 * 1024  # what a connection may have read before anybody asks for it


class Kept:
    """Memory that is free again when nobody has this object any more."""

    __slots__ = ("_is_large", "_memory", "_size")

    def __init__(self, memory: "Memory", size: int, *, is_large: bool) -> None:
        self._memory = memory
        self._size = size
        self._is_large = is_large

    def __del__(self) -> None:
        if self._is_large:
            self._memory.large.release()
        self._memory.give(self._size)


class Reservation:
    """The memory of one call, reserved while this is entered."""

    __slots__ = ("_is_large", "_memory", "_reserved", "_size")

    def __init__(self, memory: "Memory", size: int, reserved: int) -> None:
        self._memory = memory
        self._size = size
        self._reserved = reserved
        self._is_large = False

    async def __aenter__(self) -> Self:
        await self._memory.take(self._reserved)
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._is_large:
            self._memory.large.release()
        self._memory.give(self._reserved)

    def keep(self, size: int) -> Kept:
        """So much of it for longer than the call; the rest is given back now."""
        kept = Kept(self._memory, min(size, self._reserved), is_large=self._is_large)
        self._memory.give(self._reserved - min(size, self._reserved))
        self._reserved, self._is_large = 0, False
        return kept

    def fits(self, size: int) -> bool:
        return self._is_large or size <= self._size

    async def grow(self) -> None:
        """Wait for the one place for large answers."""
        await self._memory.large.acquire()
        self._is_large = True


class Memory:
    """Hands out reservations in the order they were asked for."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._free = limit
        self.large = asyncio.Lock()
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def held(self) -> int:
        return self._limit - self._free

    def reserve(self, wanted: int, *, beside: int = 0) -> Reservation:
        """A reservation of that size, at most the whole limit; entering it waits for that and what is `beside`."""
        return Reservation(self, min(wanted, self._limit), min(wanted + beside, self._limit))

    async def take(self, size: int) -> None:
        if not self._waiting and size <= self._free:
            self._free -= size
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give(size)
            else:
                self._waiting.remove((size, turn))
                self.give(0)
            raise

    def give(self, size: int) -> None:
        self._free += size
        while self._waiting and self._waiting[0][0] <= self._free:
            wanted, turn = self._waiting.popleft()
            if not turn.done():
                self._free -= wanted
                turn.set_result(None)
