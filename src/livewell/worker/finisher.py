"""The finisher ends attempts in batches on a connection of its own: while one batch is on its way the next gathers.

When the database cannot be reached the outcomes are kept and sent again; the token decides whether they still count. An
answer `lost` after such a repeat may mean that the first sending had arrived.

Events: `finish_failed`, `lease_lost` (with the job id).
"""

import asyncio
import random
from collections import Counter

import structlog

from livewell.jobs import FINISH_SECONDS, JOBS_FINISHED, LEASES_LOST, Finish, JobId, JobStore, Outcome
from livewell.kernel import LivewellError
from livewell.worker.hold import HeldJob

log = structlog.get_logger("livewell.worker")

BATCH = 1000
_LONGEST_PAUSE = 5.0


class Finisher:
    """Takes how jobs ended and tells the database."""

    def __init__(self, store: JobStore) -> None:
        self._store = store
        self._pending: list[Finish] = []
        self._kinds: dict[JobId, str] = {}
        self._more = asyncio.Event()
        self.finished = asyncio.Event()

    def add(self, held: HeldJob, outcome: Outcome) -> None:
        job = held.job
        self._pending.append(Finish(job.job_id, job.lease_token, outcome))
        self._kinds[job.job_id] = job.kind
        self._more.set()

    def rouse(self) -> None:
        """Make it look whether it is to stop."""
        self._more.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Send until told to stop, and then what is left."""
        while not stop.is_set() or self._pending:
            if not self._pending:
                self._more.clear()
                await self._more.wait()
                continue
            batch = self._pending[:BATCH]
            del self._pending[:BATCH]
            await self._send(batch)

    async def _send(self, batch: list[Finish]) -> None:
        failures = 0
        while (states := await self._try_to_send(batch, failures)) is None:
            failures += 1
            await asyncio.sleep(min(0.05 * 2 ** min(failures, 10), _LONGEST_PAUSE) * random.uniform(0.5, 1))
        self._count(states, repeated=failures > 0)
        self.finished.set()

    async def _try_to_send(self, batch: list[Finish], failures: int) -> dict[JobId, str] | None:
        try:
            with FINISH_SECONDS.time():
                return await self._store.finish_jobs(batch)
        except LivewellError as error:
            log.warning("finish_failed", error=str(error), jobs=len(batch), in_a_row=failures + 1)
            return None

    def _count(self, states: dict[JobId, str], *, repeated: bool) -> None:
        counts = Counter((self._kinds.pop(job_id), state) for job_id, state in states.items())
        for (kind, state), count in counts.items():
            if state == "lost":
                LEASES_LOST.labels(kind=kind).inc(count)
            else:
                JOBS_FINISHED.labels(kind=kind, state=state).inc(count)
        if any(state == "lost" for _, state in counts):
            for job_id, state in states.items():
                if state == "lost":
                    log.warning("lease_lost", job_id=job_id, repeated=repeated)
