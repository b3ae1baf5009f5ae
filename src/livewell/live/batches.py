"""Many small wishes, few calls: what comes while a call is under way goes together in the next one."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from livewell.kernel import PASSING, LivewellError

W = TypeVar("W")
A = TypeVar("A")


class Batcher(Generic[W, A]):
    """Asks for wishes in batches, so many calls at once; each wish gets its answer, or the fact that refuses it.

    A batch that is refused because of what one wish says is halved until that one is alone; others get their answers.
    What may pass (a database that is away) is everybody's.
    """

    def __init__(
        self, call: Callable[[Sequence[W]], Awaitable[Sequence[A]]], *, largest: int = 1000, at_once: int = 2
    ) -> None:
        self._call = call
        self._largest = largest
        self._turns = at_once
        self._wishes: list[tuple[W, asyncio.Future[A]]] = []
        self._calls: set[asyncio.Task[None]] = set()

    async def ask(self, wishes: Sequence[W]) -> list[A | LivewellError]:
        """The answers, by position."""
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[A]] = [loop.create_future() for _ in wishes]
        self._wishes += zip(wishes, futures, strict=True)
        self._begin()
        await asyncio.wait(futures) if futures else None
        answers: list[A | LivewellError] = []
        for future in futures:
            error = future.exception()
            if error is not None and not isinstance(error, LivewellError):
                raise error
            answers.append(future.result() if error is None else error)
        return answers

    def _begin(self) -> None:
        while self._wishes and len(self._calls) < self._turns:
            batch, self._wishes = self._wishes[: self._largest], self._wishes[self._largest :]
            call = asyncio.create_task(self._carry_out(batch))
            self._calls.add(call)
            call.add_done_callback(self._ended)

    def _ended(self, call: asyncio.Task[None]) -> None:
        self._calls.discard(call)
        self._begin()

    async def _carry_out(self, batch: list[tuple[W, asyncio.Future[A]]]) -> None:
        try:
            answers = await self._call([wish for wish, _ in batch])
        except PASSING as error:
            _refuse(batch, error)
        except LivewellError as error:
            if half := len(batch) // 2:
                await self._carry_out(batch[:half])
                await self._carry_out(batch[half:])
            else:
                _refuse(batch, error)
        except asyncio.CancelledError as error:
            _refuse(batch, error)
            raise
        except Exception as error:  # noqa: BLE001 - whoever waits is told, whatever it is
            _refuse(batch, error)
        else:
            for (_, future), answer in zip(batch, answers, strict=True):
                if not future.done():
                    future.set_result(answer)


def _refuse(batch: Sequence[tuple[object, "asyncio.Future[A]"]], error: BaseException) -> None:
    for _, future in batch:
        if not future.done():
            future.set_exception(error)
