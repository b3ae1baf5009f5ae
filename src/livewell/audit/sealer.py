"""The sealer chains what was written since its last round; many may run, one works, and no writer waits for it.

In a running system the task `audit_seal` (`livewell.task_audit_seal`) does it, every `audit.seal_interval`.

Events: `audit_sealed` with the seal's number and hash: a log kept on another machine is a witness of the chain's head.
`audit_seal_skipped` when another sealer was at work.
"""

from collections.abc import Mapping
from typing import Any

from livewell.audit.store import AuditStore
from livewell.audit.types import Sealed, SealerBusy, SealOutcome
from livewell.kernel import Logger

log = Logger("livewell.audit")


def tell_sealed(result: Mapping[str, Any]) -> None:
    """Log what a run of the task answered."""
    if result["seal"] is not None:
        log.info("audit_sealed", seal=result["seal"], hash=result["hash"], entries=result["sealed"])


class Sealer:
    """Seals by hand what the task `audit_seal` seals by itself."""

    def __init__(self, store: AuditStore, *, batch: int = 10_000, batches: int = 100) -> None:
        self._store = store
        self._batch = batch
        self._batches = batches

    async def run_once(self) -> SealOutcome:
        """Seal all there is, a batch at a time and a bounded number of them; answer the last outcome."""
        for _ in range(self._batches - 1):
            outcome = await self._seal()
            if not (isinstance(outcome, Sealed) and outcome.entries == self._batch):
                return outcome
        return await self._seal()

    async def _seal(self) -> SealOutcome:
        outcome = await self._store.seal_entries(self._batch)
        if isinstance(outcome, Sealed):
            log.info("audit_sealed", seal=outcome.head.number, hash=outcome.head.hash, entries=outcome.entries)
        elif isinstance(outcome, SealerBusy):
            log.debug("audit_seal_skipped", reason="another sealer is at work")
        return outcome
