"""Work beside the loop: plain functions that would hold everything up, each in a thread or in a process of its own.

A thread cannot be stopped. When its job is stopped, the job ends at once, and what the thread returns later is dropped.
The thread keeps its place until it ends, so that the number of such threads is bounded too. A process is killed with
its job. Both kinds have a bounded number of places; waiting for one is part of the attempt, and counts against its time
limit.

Events: `thread_left_behind`.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from livewell.kernel import Logger
from livewell.worker.children import Child
from livewell.worker.context import JobContext
from livewell.worker.handlers import Handler

T = TypeVar("T")

log = Logger("livewell.worker")


@dataclass(frozen=True, kw_only=True)
class OffLoopContext:
    """What a handler beside the loop may take as its second argument."""

    job_id: int
    kind: str
    attempt: int
    worker: str
    idempotency_key: str
    _stop: threading.Event | None = field(default=None, repr=False, compare=False)

    def is_stopped(self) -> bool:
        """Whether the job has ended, so that this thread may end too. A process is killed and need not ask."""
        return self._stop is not None and self._stop.is_set()


class OffLoop:
    """Runs handlers beside the loop, in `threads` and `processes` places; those who come later wait for one."""

    def __init__(self, *, threads: int, processes: int) -> None:
        self._threads = asyncio.Semaphore(threads)
        self._processes = asyncio.Semaphore(processes)
        self._idle: list[Child] = []
        self._busy: set[Child] = set()

    def taken(self, handler: Handler) -> Handler:
        """The handler as the runner calls it, wherever it runs."""
        match handler.runs_in:
            case "loop":
                return handler
            case "thread":
                return replace(handler, function=partial(self._in_thread, handler), wants_context=True)
            case "process":
                return replace(handler, function=partial(self._in_process, handler), wants_context=True)

    def close(self) -> None:
        """End the processes; threads that were left behind end with the program, if not before."""
        for child in self._busy:
            child.kill()
        while self._idle:
            self._idle.pop().end()

    async def _in_thread(self, handler: Handler, payload: Any, ctx: JobContext) -> Any:
        stop = threading.Event()
        work = partial(copy_context().run, handler.function, *_arguments(handler, payload, ctx, stop))
        await self._threads.acquire()
        try:
            ended = _begin(work, self._threads.release)
        except BaseException:
            self._threads.release()
            raise
        try:
            return await ended
        except asyncio.CancelledError:
            stop.set()
            log.warning("thread_left_behind", kind=handler.kind, job_id=ctx.job_id)
            raise

    async def _in_process(self, handler: Handler, payload: Any, ctx: JobContext) -> Any:
        arguments = _arguments(handler, payload, ctx, None)
        async with self._processes:
            child = self._idle.pop() if self._idle else Child()
            self._busy.add(child)
            try:
                answer = await _begin(partial(child.call, handler.function, arguments))
            except asyncio.CancelledError:
                child.kill()
                raise
            finally:
                self._busy.discard(child)
                if child.is_alive():
                    self._idle.append(child)
        return answer.value()


def _arguments(handler: Handler, payload: Any, ctx: JobContext, stop: threading.Event | None) -> tuple[Any, ...]:
    if not handler.wants_context:
        return (payload,)
    context = OffLoopContext(
        job_id=ctx.job_id,
        kind=handler.kind,
        attempt=ctx.attempt,
        worker=ctx.worker,
        idempotency_key=ctx.idempotency_key,
        _stop=stop,
    )
    return payload, context


def _begin(work: Callable[[], T], on_end: Callable[[], None] = lambda: None) -> "asyncio.Future[T]":
    """Work that runs in a thread of its own, and what it comes to; a program need not wait for it to end."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[T] = loop.create_future()

    def tell(answer: T | None, error: BaseException | None) -> None:
        on_end()
        if ended.done():
            return
        if error is not None:
            ended.set_exception(error)
        else:
            ended.set_result(answer)  # type: ignore[arg-type]  # None only where the work returns it

    def run() -> None:
        answer: T | None = None
        error: BaseException | None = None
        try:
            answer = work()
        except StopIteration as raised:
            # A future does not take a StopIteration, and the job would never end.
            error = RuntimeError(f"the handler raised StopIteration: {raised.value}")
        except BaseException as raised:  # noqa: BLE001 - whatever it is, it is its job's end
            error = raised
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell, answer, error)

    threading.Thread(target=run, name="livewell-off-loop", daemon=True).start()
    return ended
