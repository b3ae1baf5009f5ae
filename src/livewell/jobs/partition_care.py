"""What the tasks `job_partitions`, `job_retention` and `brief_retention` did, told, and all by hand.

Dated partitions are made ahead of time, and those past their retention dropped, politely, one per transaction.

A partition that is in use is left for the next round; dead letters that nobody has acknowledged are never dropped. Rows
that had to go into a default partition because their time had none are reported: it should not happen.

Events: `job_partitions_made`, `job_partition_dropped`, `job_partition_busy`, `dead_letters_unacknowledged`,
`stray_jobs_found`.
"""

from dataclasses import dataclass

from livewell.jobs.metrics import STRAY_JOBS
from livewell.jobs.store import JobStore
from livewell.jobs.types import JsonObject
from livewell.kernel import Logger

log = Logger("livewell.jobs")


@dataclass(frozen=True, kw_only=True)
class Care:
    """What one round did."""

    made: list[str]
    dropped: list[str]
    busy: list[str]
    unacknowledged: list[str]
    stray: int


def tell_partitions(result: JsonObject) -> None:
    """Log and count what a round of making answered."""
    if result["made"]:
        log.info("job_partitions_made", partitions=len(result["made"]), last=result["made"][-1])
    STRAY_JOBS.set(result["stray"])
    if result["stray"]:
        log.error("stray_jobs_found", rows=result["stray"], fix="let the task job_partitions run at least once a day")


def tell_retention(result: JsonObject) -> None:
    """Log what a round of dropping answered."""
    for partition in result["unacknowledged"]:
        log.warning("dead_letters_unacknowledged", partition=partition, fix="livewell jobs ack")
    for partition in result["dropped"]:
        log.info("job_partition_dropped", partition=partition)
    for partition in result["busy"]:
        log.info("job_partition_busy", partition=partition)


async def make_partitions(store: JobStore) -> list[str]:
    """What must be there before the first job ends: rows of a default partition keep its day from being made."""
    made = await store.task_job_partitions()
    tell_partitions(made)
    return list(made["made"])


async def care(store: JobStore) -> Care:
    """All tasks by hand, until nothing is left to drop."""
    made = await store.task_job_partitions()
    tell_partitions(made)
    care = Care(made=made["made"], dropped=[], busy=[], unacknowledged=[], stray=made["stray"])
    for task in (store.task_job_retention, store.task_brief_retention):
        while True:
            done = await task()
            tell_retention(done)
            care.dropped.extend(done["dropped"])
            if done["again_in"] != "0 seconds":
                break
        care.busy.extend(done["busy"])
        care.unacknowledged.extend(done["unacknowledged"])
    return care
