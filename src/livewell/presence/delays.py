"""What is done after a while unless it is called off: in the time of the loop, and together what was begun together."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Delays(Generic[K]):
    """Things that wait, each until its time or until it is called off; `do` has begun at the moment it cannot be."""

    def __init__(self, do: Callable[[list[K]], Coroutine[Any, Any, None]]) -> None:
        self._do = do
        self._waiting: dict[K, asyncio.TimerHandle] = {}
        self._doing: set[asyncio.Task[None]] = set()

    def __contains__(self, key: K) -> bool:
        return key in self._waiting

    def begin(self, keys: Sequence[K], after: timedelta) -> None:
        """Begin to wait; what waits already waits anew."""
        handle: asyncio.TimerHandle

        async def do() -> None:
            due = [key for key in keys if self._waiting.get(key) is handle]
            self.call_off(due)
            if due:
                await self._do(due)

        def start() -> None:
            task = asyncio.create_task(do())
            self._doing.add(task)
            task.add_done_callback(self._doing.discard)

        handle = asyncio.get_running_loop().call_later(after.total_seconds(), start)
        self._waiting.update(dict.fromkeys(keys, handle))

    def call_off(self, keys: Iterable[K]) -> None:
        for key in keys:
            self._waiting.pop(key, None)

    async def stop(self) -> None:
        """Call everything off, and wait for what is being done."""
        for handle in self._waiting.values():
            handle.cancel()
        self._waiting.clear()
        await asyncio.gather(*self._doing)
