"""What the queue tells Prometheus: gauges read from the database by `QueueGauges`, counters of this process."""

from bisect import bisect_left
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache

from prometheus_client import REGISTRY, Counter, Gauge, Histogram
from prometheus_client.metrics_core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from livewell.jobs.store import JobStore

_MOMENTS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)

JOBS = Gauge("livewell_jobs", "Live jobs and dead letters by group, kind and state.", ["queue_group", "kind", "state"])
OLDEST_DUE = Gauge("livewell_jobs_oldest_due_seconds", "For how long the oldest ready job is due.", ["kind"])
STRAY_JOBS = Gauge("livewell_jobs_stray", "Rows in default partitions: there should be none.")
WORKERS = Gauge("livewell_workers", "Workers that are there.")
JOBS_ENQUEUED = Counter("livewell_jobs_enqueued", "Requests this process queued.", ["kind", "outcome"])
JOBS_CLAIMED = Counter("livewell_jobs_claimed", "Jobs this process claimed.", ["kind"])
JOBS_FINISHED = Counter("livewell_jobs_finished", "Attempts this process ended, by the state after.", ["kind", "state"])
JOBS_RESCUED = Counter("livewell_jobs_rescued", "Jobs taken back from silent workers by this process.", ["kind"])
JOBS_SET_ASIDE = Counter(
    "livewell_jobs_set_aside", "Times an end was put off because somebody held what it writes.", ["kind"]
)
LEASES_LOST = Counter("livewell_leases_lost", "Attempts that no longer counted when they ended.", ["kind"])
CLAIM_SECONDS = Histogram("livewell_claim_seconds", "Time of a claim call.", buckets=_MOMENTS)
FINISH_SECONDS = Histogram("livewell_finish_seconds", "Time of a finish call.", buckets=_MOMENTS)
HEARTBEAT_SECONDS = Histogram("livewell_heartbeat_seconds", "Time of a heartbeat call.", buckets=_MOMENTS)


@cache
def _enqueued(kind: str, outcome: str) -> Counter:
    return JOBS_ENQUEUED.labels(kind=kind, outcome=outcome)


def count_enqueued(kind: str, outcome: str, jobs: int = 1) -> None:
    """Finding a counter by its labels costs more than counting, so it is found once."""
    _enqueued(kind, outcome).inc(jobs)


class RunTimes(Collector):
    """A histogram per kind that costs a tenth of a microsecond an observation, for handlers that are as quick."""

    name = "livewell_job_run_seconds"

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}

    def observe(self, kind: str, seconds: float) -> None:
        counts = self._counts.get(kind)
        if counts is None:
            counts = self._counts[kind] = [0] * (len(_MOMENTS) + 1)
            self._sums[kind] = 0.0
        counts[bisect_left(_MOMENTS, seconds)] += 1
        self._sums[kind] += seconds

    def describe(self) -> Iterable[Metric]:
        return [HistogramMetricFamily(self.name, "Time a handler took.", labels=["kind"])]

    def collect(self) -> Iterable[Metric]:
        family = HistogramMetricFamily(self.name, "Time a handler took.", labels=["kind"])
        for kind, counts in self._counts.items():
            total, buckets = 0, []
            for bound, count in zip([*map(str, _MOMENTS), "+Inf"], counts, strict=True):
                total += count
                buckets.append((bound, total))
            family.add_metric([kind], buckets, self._sums[kind])
        yield family


RUN_TIMES = RunTimes()
REGISTRY.register(RUN_TIMES)


class QueueGauges:
    """An agent that reads the counts now and then."""

    name = "queue_gauges"
    interval = timedelta(seconds=15)

    def __init__(self, store: JobStore) -> None:
        self._store = store

    async def run_once(self) -> None:
        counts = await self._store.job_counts()
        workers = await self._store.list_workers()
        now = datetime.now(UTC)
        JOBS.clear()
        OLDEST_DUE.clear()
        WORKERS.set(len(workers))
        for count in counts:
            JOBS.labels(count.queue_group or "", count.kind, count.state).set(count.jobs)
            if count.oldest_due_at is not None:
                OLDEST_DUE.labels(count.kind).set(max(0.0, (now - count.oldest_due_at).total_seconds()))
