"""What the task `rescue` did, told, and rounds of it by hand.

It takes back jobs of workers that went silent, repairs lost promotions, and forgets workers long unseen. The work
itself is `livewell.task_rescue`, whoever runs it.

Events: `job_rescued` (with the job id), `serial_keys_healed`, `worker_forgotten`.
"""

from typing import Any

from livewell.jobs.metrics import JOBS_RESCUED
from livewell.jobs.store import JobStore
from livewell.jobs.types import JobId, JsonObject, Rescued
from livewell.kernel import Logger

log = Logger("livewell.jobs")


def tell_rescued(result: JsonObject) -> list[Rescued]:
    """Log and count what a round answered."""
    rescued = [_rescued(job) for job in result["rescued"]]
    for job in rescued:
        JOBS_RESCUED.labels(kind=job.kind).inc()
        log.warning("job_rescued", job_id=job.job_id, kind=job.kind, worker=job.worker, state=job.state)
    if result["healed"]:
        log.info("serial_keys_healed", keys=result["healed"])
    for worker in result["forgotten"]:
        log.warning("worker_forgotten", worker=worker)
    return rescued


async def rescue(store: JobStore) -> list[Rescued]:
    """Rounds by hand, until there is nothing left to rescue."""
    rescued: list[Rescued] = []
    while True:
        result = await store.task_rescue()
        rescued += tell_rescued(result)
        if result["again_in"] is None:
            return rescued


def _rescued(job: dict[str, Any]) -> Rescued:
    return Rescued(job_id=JobId(job["job_id"]), kind=job["kind"], worker=job["worker"], state=job["state"])
