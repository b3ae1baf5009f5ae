"""Keeps the leases of permits that are out.

Past the end of a lease the database may have lent its share of the limits to others: a call that is still under way
under it is stopped.

Events: `permits_not_renewed` (tried again), `permits_lost`.
"""

from collections.abc import Callable, Sequence

from livewell.budgets.permit_metrics import PERMITS_LOST
from livewell.budgets.permits import PermitBlock
from livewell.budgets.store import BudgetStore
from livewell.budgets.types import BlockId
from livewell.kernel import LeaseKeeper, Logger, NotRenewed, Renewal

log = Logger("livewell.budgets")


class PermitRenewer:
    """The blocks of permits that are out, renewed by `keeper`."""

    def __init__(
        self, store: BudgetStore, *, holder: str, clock: Callable[[], float], on_none_left: Callable[[], None]
    ) -> None:
        self._store = store
        self._holder = holder
        self._on_none_left = on_none_left
        self._blocks: dict[BlockId, PermitBlock] = {}
        self.keeper = LeaseKeeper(self, clock=clock)

    def add(self, block: PermitBlock) -> None:
        self._blocks[block.id] = block
        self.keeper.begin()

    def forget(self, block: PermitBlock) -> None:
        self._blocks.pop(block.id, None)
        if not self._blocks:
            self._on_none_left()

    def leases(self) -> list[PermitBlock]:
        return list(self._blocks.values())

    async def renew(self, leases: Sequence[PermitBlock]) -> list[Renewal]:
        held = await self._store.renew_permits(self._holder, [block.id for block in leases])
        return [block.lease_seconds if block.id in held else NotRenewed.LOST for block in leases]

    def lose(self, lease: PermitBlock, why: str) -> None:
        self.forget(lease)
        # A block whose last settlement has arrived meanwhile is no longer there to be renewed.
        if lease.unsettled:
            log.warning("permits_lost", endpoint=lease.endpoint, block=str(lease.id), permits=lease.unsettled, why=why)
            PERMITS_LOST.labels(endpoint=lease.endpoint).inc(lease.unsettled)
        lease.lose()

    def not_renewed(self, error: Exception) -> None:
        log.warning("permits_not_renewed", reason=str(error) or type(error).__name__, blocks=len(self._blocks))
