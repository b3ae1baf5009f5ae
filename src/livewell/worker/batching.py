"""A batcher makes one call of many questions: those asked at the same moment are answered together.

Each caller waits for its own answer. A caller that stops waiting changes nothing for the others; a call that nobody
waits for any more is cancelled.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

A = TypeVar("A")
B = TypeVar("B")

# Jobs of one claim start within a few turns of the loop: a question waits so long for others to go with it.
_MOMENT = 0.002


class Batcher(Generic[A, B]):
    """Collects questions up to `most` and asks them by `call`, which answers in their order: an answer, or an error."""

    def __init__(
        self,
        call: Callable[[Sequence[A]], Awaitable[Sequence[B | BaseException]]],
        *,
        most: int,
        moment: float = _MOMENT,
    ) -> None:
        self._call = call
        self._most = most
        self._moment = moment
        self._waiting: list[tuple[A, asyncio.Future[B]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._calls: set[asyncio.Task[None]] = set()

    async def ask(self, question: A) -> B:
        """The answer to one question, asked together with others."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[B] = loop.create_future()
        self._waiting.append((question, answer))
        if len(self._waiting) >= self._most:
            self._go()
        elif self._timer is None:
            self._timer = loop.call_later(self._moment, self._go)
        return await answer

    def _go(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        asked = [(question, answer) for question, answer in self._waiting if not answer.done()]
        self._waiting = []
        if not asked:
            return
        call = asyncio.create_task(self._ask(asked))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        waiting = len(asked)

        def has_left(_: object) -> None:
            nonlocal waiting
            waiting -= 1
            if waiting == 0:
                call.cancel()

        for _, answer in asked:
            answer.add_done_callback(has_left)

    async def _ask(self, asked: list[tuple[A, "asyncio.Future[B]"]]) -> None:
        try:
            answers = await self._call([question for question, _ in asked])
        except asyncio.CancelledError:
            for _, waiting in asked:
                waiting.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - each caller is told, in its own job
            answers = [error] * len(asked)
        for (_, waiting), answer in zip(asked, answers, strict=True):
            if waiting.done():
                continue
            if isinstance(answer, BaseException):
                waiting.set_exception(answer)
            else:
                waiting.set_result(answer)
