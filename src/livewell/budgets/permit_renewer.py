"""Keeps the leases of permits that are out, in one call for all, on a connection of its own.

A lease is trusted until a deadline by this machine's monotonic clock, counted from *before* it was asked for. Past it,
the database may have given its place to others, so what is still under way under it is stopped.

Events: `permits_not_renewed` (tried again), `permits_lost`.
"""

import asyncio
from collections.abc import Callable

from livewell.budgets.permit_metrics import PERMITS_LOST
from livewell.budgets.permits import PermitBlock
from livewell.budgets.store import BudgetStore
from livewell.budgets.types import BlockId
from livewell.kernel import Logger

_RENEWALS_PER_LEASE = 3
_RETRY = 0.1

log = Logger("livewell.budgets")


class PermitRenewer:
    """Renews from one task that is there only while blocks are out."""

    def __init__(
        self, store: BudgetStore, *, holder: str, clock: Callable[[], float], on_none_left: Callable[[], None]
    ) -> None:
        self._store = store
        self._holder = holder
        self._clock = clock
        self._on_none_left = on_none_left
        self._blocks: dict[BlockId, PermitBlock] = {}
        self._shorter = asyncio.Event()
        self._rhythm = 0.0
        self._task: asyncio.Task[None] | None = None

    @property
    def blocks(self) -> list[PermitBlock]:
        return list(self._blocks.values())

    def add(self, block: PermitBlock) -> None:
        self._blocks[block.id] = block
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="permit_renewer")
        elif block.lease < self._rhythm:
            self._shorter.set()

    def forget(self, block: PermitBlock) -> None:
        self._blocks.pop(block.id, None)
        if not self._blocks:
            self._shorter.set()
            self._on_none_left()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def run_once(self) -> None:
        """Renew everything that is out; what is no longer ours, by the database or by the clock, is lost."""
        blocks = self.blocks
        if not blocks:
            return
        asked_at = self._clock()
        left = min(block.held_until for block in blocks) - asked_at
        patience = min(left, min(block.lease for block in blocks) / _RENEWALS_PER_LEASE)
        try:
            async with asyncio.timeout(max(patience, 0)):
                held = await self._store.renew_permits(self._holder, [block.id for block in blocks])
        except Exception as error:  # noqa: BLE001 - whatever it is, leases are watched on
            log.warning("permits_not_renewed", reason=str(error) or type(error).__name__, blocks=len(blocks))
        else:
            for block in blocks:
                block.held_until = asked_at + block.lease if block.id in held else self._clock()
        self.watch()

    def watch(self) -> None:
        """Give up the blocks whose time is over."""
        now = self._clock()
        for block in self.blocks:
            if block.held_until <= now:
                self.forget(block)
                # A block whose last settlement has arrived meanwhile is no longer there to be renewed.
                if block.unsettled:
                    log.warning("permits_lost", endpoint=block.endpoint, block=str(block.id), permits=block.unsettled)
                    PERMITS_LOST.labels(endpoint=block.endpoint).inc(block.unsettled)
                block.lose()

    async def _run(self) -> None:
        failed = False
        while self._blocks:
            lease = self._rhythm = min(block.lease for block in self._blocks.values())
            ends_in = min(block.held_until for block in self._blocks.values()) - self._clock()
            pause = _RETRY * lease if failed else lease / _RENEWALS_PER_LEASE
            self._shorter.clear()
            await self._sleep(max(0.0, min(pause, ends_in)))
            if self._blocks:
                before = {block.id: block.held_until for block in self.blocks}
                await self.run_once()
                failed = any(block.held_until == before[block.id] for block in self.blocks if block.id in before)

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._shorter.wait()
        except TimeoutError:
            pass
