"""The rescuer takes back jobs of workers that went silent, repairs lost promotions, and forgets workers long unseen.

Any number may run at once: it skips what others have locked and looks at state and token on the locked row.

Events: `job_rescued` (with the job id), `serial_keys_healed`, `worker_forgotten`.
"""

from datetime import timedelta

import structlog

from livewell.jobs.metrics import JOBS_RESCUED
from livewell.jobs.store import JobStore
from livewell.jobs.types import Rescued

log = structlog.get_logger("livewell.jobs")

BATCH = 500


class Rescuer:
    """An agent; a lease that ran out is noticed within one interval."""

    name = "rescuer"
    interval = timedelta(seconds=1)

    def __init__(self, store: JobStore) -> None:
        self._store = store

    async def run_once(self) -> list[Rescued]:
        rescued: list[Rescued] = []
        while True:
            batch = await self._store.rescue_jobs(BATCH)
            rescued += batch
            for job in batch:
                JOBS_RESCUED.labels(kind=job.kind).inc()
                log.warning("job_rescued", job_id=job.job_id, kind=job.kind, worker=job.worker, state=job.state)
            if len(batch) < BATCH:
                break
        healed = await self._store.heal_serial_jobs()
        if healed:
            log.info("serial_keys_healed", keys=healed)
        for worker in await self._store.retire_workers():
            log.warning("worker_forgotten", worker=worker)
        return rescued
