"""The maintainer makes dated partitions ahead of time and drops those past their retention, politely.

A partition that is in use is left for the next round; dead letters that nobody has acknowledged are never dropped. Rows
that had to go into a default partition because their day had none are reported: it should not happen.

Events: `job_partition_made`, `job_partition_dropped`, `job_partition_busy`, `dead_letters_unacknowledged`,
`stray_jobs_found`.
"""

from dataclasses import dataclass
from datetime import timedelta

import structlog

from livewell.jobs.metrics import STRAY_JOBS
from livewell.jobs.store import JobStore

log = structlog.get_logger("livewell.jobs")


@dataclass(frozen=True, kw_only=True)
class Care:
    """What one round did."""

    made: list[str]
    dropped: list[str]
    busy: list[str]
    unacknowledged: list[str]
    stray: int


class Maintainer:
    """An agent; two at once do no harm, each partition is made or dropped by one of them."""

    name = "job_maintainer"
    interval = timedelta(hours=1)

    def __init__(self, store: JobStore) -> None:
        self._store = store

    async def make_partitions(self) -> list[str]:
        """What must be there before the first job ends: rows of a default partition keep its day from being made."""
        made = await self._store.make_job_partitions()
        for partition in made:
            log.info("job_partition_made", partition=partition)
        return made

    async def run_once(self) -> Care:
        made = await self.make_partitions()
        dropped, busy, unacknowledged = [], [], []
        for expired in await self._store.expired_job_partitions():
            partition = expired["partition_name"]
            if not expired["droppable"]:
                unacknowledged.append(partition)
                log.warning("dead_letters_unacknowledged", partition=partition, fix="livewell jobs ack")
                continue
            answer = await self._store.drop_job_partition(partition)
            if answer == "dropped":
                dropped.append(partition)
                log.info("job_partition_dropped", partition=partition)
            elif answer == "busy":
                busy.append(partition)
                log.info("job_partition_busy", partition=partition)
        stray = await self._store.stray_jobs()
        STRAY_JOBS.set(stray)
        if stray:
            log.error("stray_jobs_found", rows=stray, fix="run the maintainer more often than once in its days ahead")
        return Care(made=made, dropped=dropped, busy=busy, unacknowledged=unacknowledged, stray=stray)
