"""The callers that wait for permits of one endpoint, in the order of asking.

One task asks for all of them: it takes the shape of call that the longest-waiting caller needs, and asks for as many
permits as callers wait for that shape, at most a block. It is there only while somebody waits. When nothing is granted
it waits until the time the database said, or until something of this process has come back;
nothing polls a closed endpoint.

When a caller stops waiting (a timeout, a cancellation), a permit that was granted for it is settled as unsent.

Events: `permits_not_asked` (the database is out of reach; tried again), `permits_expired` (granted too late to be
sent), `key_unreadable`.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from livewell.budgets.errors import PermitNotGranted
from livewell.budgets.keys import KeyRing, Secret
from livewell.budgets.permit_metrics import PERMITS_GRANTED
from livewell.budgets.permits import Learn, Permit, PermitBlock, SettleBlock
from livewell.budgets.store import BudgetStore
from livewell.budgets.types import Granted, NotGranted
from livewell.kernel import PASSING, Backoff, LivewellError, Logger, a_little_later

_GIVES_BACK = {"concurrent", "tokens", "bytes", "breaker"}
# Until something is asked again, when nobody said when it opens.
_UNTOLD_PAUSE = 1.0
_MOST_SECONDS_LATER = 0.1
_NOT_ASKED = Backoff(first=timedelta(milliseconds=100), longest=timedelta(seconds=1.6), least=1.0)
# What did not open at the time that was told is asked again after a growing pause.
_NOT_OPENED = Backoff(first=timedelta(milliseconds=20), longest=timedelta(seconds=_UNTOLD_PAUSE), least=1.0)

log = Logger("livewell.budgets")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a permit is to cover: permits of one shape can be granted together."""

    tokens: int | None
    bytes: int | None
    key: str | None = None


class Waiter:
    """A caller that waits for one permit."""

    __slots__ = ("at_once", "future", "own_key", "shape")

    def __init__(self, shape: Shape, own_key: Secret | None, *, at_once: bool) -> None:
        self.shape = shape
        self.own_key = own_key
        self.at_once = at_once
        self.future: asyncio.Future[Permit | None] = asyncio.get_running_loop().create_future()


@dataclass(frozen=True, kw_only=True)
class Door:
    """What a queue needs of its pool."""

    store: BudgetStore
    keys: KeyRing
    holder: str
    block: int
    clock: Callable[[], float]
    settle: SettleBlock
    learn: Learn
    hurry: Callable[[], None]
    on_granted: Callable[[PermitBlock], None]


class PermitQueue:
    """The waiters of one endpoint, served first come, first served."""

    def __init__(self, endpoint: str, door: Door) -> None:
        self._endpoint = endpoint
        self._door = door
        self._waiters: deque[Waiter] = deque()
        self._nudged = asyncio.Event()
        self._refusal: NotGranted | None = None
        self._refused_in_a_row = 0
        self._came_back = 0
        self._closing = False
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        return sum(not waiter.future.done() for waiter in self._waiters)

    @property
    def waiting_for(self) -> str | None:
        return self._refusal.reason if self._refusal else None

    async def take(
        self, shape: Shape, own_key: Secret | None, *, timeout: timedelta | None, at_once: bool
    ) -> Permit | None:
        """A permit; None only when the caller did not want to wait."""
        if at_once and self._head() is not None:
            return None
        waiter = Waiter(shape, own_key, at_once=at_once)
        self._waiters.append(waiter)
        self._begin()
        try:
            if timeout is None:
                return await waiter.future
            async with asyncio.timeout(timeout.total_seconds()):
                return await waiter.future
        except TimeoutError as error:
            self._abandon(waiter)
            raise self._not_granted(f"within {timeout}") from error
        except asyncio.CancelledError:
            self._abandon(waiter)
            raise

    def waits_for_release(self) -> bool:
        """Whether what comes back in this process could serve somebody now."""
        return self._refusal is not None and self._refusal.reason in _GIVES_BACK and self._head() is not None

    def released(self) -> None:
        """Something of this process has come back."""
        self._came_back += 1
        if self.waits_for_release():
            self._refusal = None
            self._nudged.set()

    async def close(self) -> None:
        """Refuse the callers that wait, and let a call under way end."""
        self._closing = True
        for waiter in self._waiters:
            if not waiter.future.done():
                waiter.future.set_exception(self._not_granted("any more: the pool is closing"))
        self._nudged.set()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._serve(), name=f"permits of {self._endpoint}")

    def _abandon(self, waiter: Waiter) -> None:
        """The caller has stopped waiting; a permit that had arrived meanwhile goes back."""
        future = waiter.future
        if not future.done():
            future.cancel()
        elif not future.cancelled() and future.exception() is None and (permit := future.result()) is not None:
            permit.end("unsent")
        self._nudged.set()

    def _not_granted(self, when: str) -> PermitNotGranted:
        reason = f": {self._refusal.reason}" if self._refusal else ""
        return PermitNotGranted(
            f"no permit for {self._endpoint} could be had {when}{reason}", fix="wait longer, or ask for less"
        )

    def _head(self) -> Waiter | None:
        while self._waiters and self._waiters[0].future.done():
            self._waiters.popleft()
        return self._waiters[0] if self._waiters else None

    async def _serve(self) -> None:
        failures = 0
        while (head := self._head()) is not None:
            asked_at, came_back = self._door.clock(), self._came_back
            try:
                answer = await self._door.store.acquire_permits(
                    self._endpoint,
                    self._door.holder,
                    permits=self._alike(head.shape),
                    tokens=head.shape.tokens,
                    bytes=head.shape.bytes,
                    key=head.shape.key,
                )
            except PASSING as error:
                failures += 1
                log.warning("permits_not_asked", endpoint=self._endpoint, reason=error.message, in_a_row=failures)
                self._fail(head.shape, error, only_at_once=True)
                await self._pause(head.shape, _NOT_ASKED.seconds(failures))
                continue
            except Exception as error:  # noqa: BLE001 - whoever asked for this is told, and the queue goes on
                self._fail(head.shape, error)
                continue
            failures = 0
            if isinstance(answer, Granted):
                self._refusal, self._refused_in_a_row = None, 0
                self._hand_out(head.shape, answer, asked_at)
            else:
                self._turn_away(answer)
                if not (answer.reason in _GIVES_BACK and self._came_back != came_back):
                    await self._wait_for_headroom(head.shape, answer)

    def _alike(self, shape: Shape) -> int:
        alike = 0
        for waiter in self._waiters:
            alike += waiter.shape == shape and not waiter.future.done()
            if alike == self._door.block:
                break
        return alike

    def _hand_out(self, shape: Shape, granted: Granted, asked_at: float) -> None:
        PERMITS_GRANTED.labels(endpoint=self._endpoint).inc(granted.permits)
        block = PermitBlock(self._endpoint, granted, None, asked_at=asked_at, clock=self._door.clock)
        self._door.on_granted(block)
        takers: list[Waiter] = []
        try:
            if granted.key_source is not None:
                block.key = self._door.keys.read(granted.key_source)
        except LivewellError as error:
            log.warning("key_unreadable", endpoint=self._endpoint, name=granted.api_key, reason=error.message)
            self._fail(shape, error, at_most=granted.permits)
        else:
            if block.may_be_sent():
                takers = self._next(shape, granted.permits)
            else:
                log.warning("permits_expired", endpoint=self._endpoint, permits=granted.permits)
        for number in range(1, granted.permits + 1):
            taker = takers[number - 1] if number <= len(takers) else None
            permit = Permit(
                block,
                number,
                own_key=taker.own_key if taker else None,
                settle=self._door.settle,
                learn=self._door.learn,
            )
            if taker is None:
                permit.end("unsent")
            else:
                taker.future.set_result(permit)

    def _next(self, shape: Shape, count: int) -> list[Waiter]:
        """The longest-waiting ones of a shape, taken out of the queue; the others keep their places."""
        taken: list[Waiter] = []
        passed: list[Waiter] = []
        while self._waiters and len(taken) < count:
            waiter = self._waiters.popleft()
            if not waiter.future.done():
                (taken if waiter.shape == shape else passed).append(waiter)
        self._waiters.extendleft(reversed(passed))
        return taken

    def _fail(self, shape: Shape, error: Exception, *, only_at_once: bool = False, at_most: int | None = None) -> None:
        alike = [
            waiter
            for waiter in self._waiters
            if waiter.shape == shape and not waiter.future.done() and (waiter.at_once or not only_at_once)
        ]
        for waiter in alike[:at_most]:
            waiter.future.set_exception(_again(error))

    def _turn_away(self, answer: NotGranted) -> None:
        self._refusal = answer
        self._refused_in_a_row += 1
        for waiter in self._waiters:
            if waiter.at_once and not waiter.future.done():
                waiter.future.set_result(None)

    async def _wait_for_headroom(self, shape: Shape, answer: NotGranted) -> None:
        if answer.reason in _GIVES_BACK:
            self._door.hurry()
        if answer.retry_after is None:
            await self._pause(shape, _UNTOLD_PAUSE)
        else:
            told = answer.retry_after.total_seconds()
            await self._pause(shape, max(told, _NOT_OPENED.seconds(self._refused_in_a_row)))

    async def _pause(self, shape: Shape, seconds: float) -> None:
        """Wait until the time is up, something has come back, or the caller at the head has stopped waiting."""
        until = self._door.clock() + a_little_later(seconds, at_most=_MOST_SECONDS_LATER)
        refusal = self._refusal
        while (left := until - self._door.clock()) > 0 and not self._closing and self._refusal is refusal:
            self._nudged.clear()
            try:
                async with asyncio.timeout(left):
                    await self._nudged.wait()
            except TimeoutError:
                return
            head = self._head()
            if head is None or head.shape != shape:
                return


def _again(error: Exception) -> Exception:
    """A new exception for each caller: raising one object in many tasks mixes their tracebacks."""
    if isinstance(error, LivewellError):
        return type(error)(error.message, fix=error.fix, detail=error.detail)
    return error
