"""The heartbeater renews the leases of this worker's jobs in one call, and with it says that the worker lives.

A job whose lease could not be renewed in time is stopped by the worker's own monotonic clock, before another worker can
have it. A job that was cancelled is told by the answer.

Events: `heartbeat_failed`, `lease_lost`, `job_cancel_told`.
"""

from collections.abc import Sequence

from livewell.jobs import HEARTBEAT_SECONDS, LEASES_LOST, JobStore
from livewell.kernel import Logger, NotRenewed, Renewal
from livewell.worker.failures import text_of
from livewell.worker.leased_jobs import LeasedJob, LeasedJobs, Stop

log = Logger("livewell.worker")


class Heartbeater:
    """The holder of the leases of a worker's jobs, for a `LeaseKeeper`."""

    def __init__(self, store: JobStore, jobs: LeasedJobs, *, worker: str) -> None:
        self._store = store
        self._jobs = jobs
        self._worker = worker

    def leases(self) -> list[LeasedJob]:
        """All that are not lost; what is over is renewed until its outcome has arrived."""
        return [leased for leased in self._jobs if leased.stop is not Stop.LOST]

    async def renew(self, leases: Sequence[LeasedJob]) -> list[Renewal]:
        with HEARTBEAT_SECONDS.time():
            beats = await self._store.heartbeat_jobs(
                self._worker,
                [leased.job.job_id for leased in leases],
                [leased.job.lease_token for leased in leases],
            )
        answers = {beat.job_id: beat for beat in beats}
        renewals: list[Renewal] = []
        for leased in leases:
            beat = answers[leased.job.job_id]
            renewals.append(NotRenewed(beat.status) if beat.lease_seconds is None else beat.lease_seconds)
            if beat.cancel_reason is not None and leased.is_in_use:
                log.info("job_cancel_told", job_id=beat.job_id, reason=beat.cancel_reason)
                leased.stop_because(Stop.CANCELLED, beat.cancel_reason)
        return renewals

    def lose(self, lease: LeasedJob, why: str) -> None:
        LEASES_LOST.labels(kind=lease.job.kind).inc()
        log.warning("lease_lost", job_id=lease.job.job_id, kind=lease.job.kind, why=why)
        lease.stop_because(Stop.LOST)

    def not_renewed(self, error: Exception) -> None:
        log.warning("heartbeat_failed", error=text_of(error), held=len(self._jobs))
