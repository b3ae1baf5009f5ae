"""Permits by hand, for code that makes several calls: a pool per process, on any number of processes and machines.

    async with PermitPool(database) as pool:
        async with pool.permit("openai/gpt-4o-mini", tokens=800) as permit:
            permit.send()
            answer = await client.post(…)
            permit.settle(tokens=answer.tokens, status=answer.status, headers=answer.headers)

`permit()` waits until a call fits every limit of the endpoint, `wait=False` answers None at once instead. `call()` does
the whole round and takes another permit when one was not sent in time.

What a block of code does not settle itself is settled when it ends: never sent costs no bytes; sent and left by an
exception is a failure; otherwise what it cost is unknown, and what was reserved stays spent. A process that dies loses
its leases, and with them its permits.

Events: `permits_not_back` (closed with permits still lent, or not told of).
"""

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, overload

from livewell.budgets.errors import InvalidPermit, PermitExpired
from livewell.budgets.keys import KeyRing, Secret
from livewell.budgets.permit_queue import Door, PermitQueue, Shape
from livewell.budgets.permit_renewer import PermitRenewer
from livewell.budgets.permit_settler import PermitSettler
from livewell.budgets.permits import Permit, PermitBlock, require_possible
from livewell.budgets.store import BudgetStore
from livewell.kernel import Database, Logger

T = TypeVar("T")

log = Logger("livewell.budgets")


@dataclass(frozen=True, kw_only=True)
class PermitOptions:
    """How many permits are asked for at once, how long a settlement may wait for others to go along, and how long
    closing may wait for permits that are still lent, or for a database that does not answer.
    """

    block: int = 50
    settle_every: timedelta = timedelta(milliseconds=50)
    close_within: timedelta = timedelta(seconds=5)
    clock: Callable[[], float] = field(default=time.monotonic)


class PermitPool:
    """The permits of one process."""

    def __init__(
        self, database: Database, *, keys: KeyRing | None = None, options: PermitOptions | None = None
    ) -> None:
        options = options or PermitOptions()
        self.holder = f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"
        self._clock = options.clock
        self._queues: dict[str, PermitQueue] = {}
        self._by_provider: dict[str, list[PermitQueue]] = {}
        self._closed = False
        self._close_within = options.close_within
        self._all_back = asyncio.Event()
        store = BudgetStore(database)
        self._renewer = PermitRenewer(
            BudgetStore(database.line()), holder=self.holder, clock=options.clock, on_none_left=self._all_back.set
        )
        self._settler = PermitSettler(
            store,
            every=options.settle_every,
            clock=options.clock,
            on_settled=self._settled,
            in_a_hurry=self._somebody_waits,
        )
        self._door = Door(
            store=store,
            keys=keys or KeyRing(),
            holder=self.holder,
            block=options.block,
            clock=options.clock,
            settle=self._settler.settle,
            learn=self._settler.learn,
            hurry=self._settler.hurry,
            on_granted=self._renewer.add,
        )

    @overload
    def permit(
        self,
        endpoint: str,
        *,
        tokens: int | None = None,
        bytes: int | None = None,
        key: str | None = None,
        api_key: Secret | None = None,
        timeout: timedelta | None = None,
        wait: Literal[True] = True,
    ) -> AbstractAsyncContextManager[Permit]: ...

    @overload
    def permit(
        self,
        endpoint: str,
        *,
        tokens: int | None = None,
        bytes: int | None = None,
        key: str | None = None,
        api_key: Secret | None = None,
        timeout: timedelta | None = None,
        wait: Literal[False],
    ) -> AbstractAsyncContextManager[Permit | None]: ...

    def permit(
        self,
        endpoint: str,
        *,
        tokens: int | None = None,
        bytes: int | None = None,  # noqa: A002 - the word for it everywhere
        key: str | None = None,
        api_key: Secret | None = None,
        timeout: timedelta | None = None,
        wait: bool = True,
    ) -> AbstractAsyncContextManager[Any]:
        """A permit for one call, for a block of code; what is reserved is what the endpoint expects, if not said.

        `key` names the provider's key to keep to, as a job that makes several calls does with its own. `api_key` is a
        key of the caller's own, which the permit then bears instead of one of the provider's.
        """
        require_possible(tokens, bytes)
        shape = Shape(tokens=tokens, bytes=bytes, key=key)
        return _Lending(lambda: self._take(endpoint, shape, api_key, timeout=timeout, at_once=not wait))

    async def call(
        self,
        endpoint: str,
        make: Callable[[Permit], Awaitable[T]],
        *,
        tokens: int | None = None,
        bytes: int | None = None,  # noqa: A002 - the word for it everywhere
        key: str | None = None,
        api_key: Secret | None = None,
        timeout: timedelta | None = None,
    ) -> T:
        """Make a call under a permit, under another one whenever it could not be sent in time.

        `timeout` is for the waiting alone, over all permits together.
        """
        left = timeout
        while True:
            asked_at = self._clock()
            async with self.permit(
                endpoint, tokens=tokens, bytes=bytes, key=key, api_key=api_key, timeout=left
            ) as permit:
                if left is not None:
                    left -= min(left, timedelta(seconds=self._clock() - asked_at))
                try:
                    return await make(permit)
                except PermitExpired:
                    if not permit.has_expired:
                        raise

    def waiting(self, endpoint: str) -> int:
        """How many wait for a permit of that endpoint."""
        queue = self._queues.get(endpoint)
        return queue.waiting if queue is not None else 0

    def waiting_for(self, endpoint: str) -> str | None:
        """What those who wait are waiting for (`requests`, `concurrent`, `closed`, …), as far as it is known."""
        queue = self._queues.get(endpoint)
        return queue.waiting_for if queue is not None and queue.waiting else None

    async def flush(self) -> None:
        """Tell the database what is settled now."""
        await self._settler.flush()

    async def renew(self) -> None:
        """Renew the leases of all that is lent now; the pool does so by itself in time."""
        await self._renewer.keeper.run_once()

    async def close(self) -> None:
        """Refuse who waits, let lent permits come back, and tell what they cost; late ones end by their lease."""
        self._closed = True
        try:
            async with asyncio.timeout(self._close_within.total_seconds()):
                for queue in self._queues.values():
                    await queue.close()
                self._all_back.clear()
                while self._renewer.leases():
                    await self._settler.flush()
                    if self._renewer.leases():
                        await self._all_back.wait()
                await self._settler.flush()
        except TimeoutError:
            lent = sum(block.unsettled for block in self._renewer.leases())
            log.warning("permits_not_back", blocks=len(self._renewer.leases()), permits=lent)
        finally:
            await self._settler.stop()
            await self._renewer.keeper.stop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _take(
        self, endpoint: str, shape: Shape, own_key: Secret | None, *, timeout: timedelta | None, at_once: bool
    ) -> Permit | None:
        if self._closed:
            raise InvalidPermit("this pool of permits is closed", fix="ask before it closes")
        queue = self._queues.get(endpoint)
        if queue is None:
            queue = self._queues[endpoint] = PermitQueue(endpoint, self._door)
            self._by_provider.setdefault(_provider_of(endpoint), []).append(queue)
        return await queue.take(shape, own_key, timeout=timeout, at_once=at_once)

    def _settled(self, block: PermitBlock) -> None:
        if block.unsettled == 0:
            self._renewer.forget(block)
        for queue in self._by_provider.get(_provider_of(block.endpoint), ()):
            queue.released()

    def _somebody_waits(self, endpoint: str) -> bool:
        """Whether what comes back there could serve somebody now: endpoints of one provider share its account."""
        if self._closed:
            return True
        return any(queue.waits_for_release() for queue in self._by_provider.get(_provider_of(endpoint), ()))


def _provider_of(endpoint: str) -> str:
    return endpoint.partition("/")[0]


class _Lending:
    """Lends a permit to a block of code."""

    __slots__ = ("_permit", "_take")

    def __init__(self, take: Callable[[], Awaitable[Permit | None]]) -> None:
        self._take = take
        self._permit: Permit | None = None

    async def __aenter__(self) -> Permit | None:
        self._permit = await self._take()
        if self._permit is not None:
            self._permit.enter()
        return self._permit

    async def __aexit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._permit is not None:
            self._permit.leave(error)
