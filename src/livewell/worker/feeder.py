"""The feeder claims as much as there are slots for: one job per free slot, and a little ahead when jobs are short.

A claim that gives less than was asked for has taken what there was (but for jobs that wait behind others of their
serial key: then it looks again). The worker is marked idle, and waits for a notification, for the time the next
scheduled job is due, or for the poll interval, whichever comes first. When the mark is new it looks once more before it
waits, and its first pauses are short: an enqueue that was under way did not see the worker idle, and tells nobody. The
mark stays until a claim gives all that was asked for, so that a worker with little to do need not look twice for every
job.

Events: `claim_failed`.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta

from livewell.jobs import CLAIM_SECONDS, JOBS_CLAIMED, JobStore
from livewell.kernel import LONGEST_PAUSE, Backoff, Logger, wait_for_any
from livewell.worker.failures import text_of
from livewell.worker.leased_jobs import LeasedJobs

log = Logger("livewell.worker")

# So many jobs are claimed ahead as the slots will begin within this time.
_AHEAD_SECONDS = 0.1
_NOT_CLAIMED = Backoff(first=timedelta(milliseconds=100), longest=LONGEST_PAUSE)
_FIRST_RESTS = (0.02, 0.1, 0.5)


class Feeder:
    """Keeps the slots fed, and claims no more than they can use."""

    def __init__(
        self,
        store: JobStore,
        jobs: LeasedJobs,
        *,
        worker: str,
        shares: Mapping[str, float],
        kinds: list[str],
        claim_batch: Callable[[], int],
        poll_interval: Callable[[], timedelta],
        mean_seconds: Callable[[], float | None],
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._worker = worker
        self._claim_batch = claim_batch
        self._poll_interval = poll_interval
        self._mean_seconds = mean_seconds
        self.wake = asyncio.Event()
        self.idle = asyncio.Event()
        self._marked = False
        self._rests = 0
        self.serve(shares, kinds)

    def serve(self, shares: Mapping[str, float], kinds: list[str]) -> None:
        """Claim from these groups, of these kinds, from the next claim on."""
        self._groups = list(shares)
        self._shares = list(shares.values())
        self._kinds = kinds
        self.rouse()

    def rouse(self) -> None:
        """Make it look again, whatever it waits for: a notification came, or it is to stop."""
        self.wake.set()
        self._jobs.changed.set()

    async def run(self, stop: asyncio.Event) -> None:
        failures = 0
        while not stop.is_set():
            wanted = self._wanted()
            if wanted == 0:
                self._jobs.changed.clear()
                await self._jobs.changed.wait()
                continue
            self.wake.clear()
            try:
                if await self._took_all(wanted):
                    await self._rest()
                failures = 0
            except Exception as error:  # noqa: BLE001 - whatever it is, what was claimed before goes on
                failures += 1
                self._marked = False
                log.warning("claim_failed", error=text_of(error), in_a_row=failures)
                await wait_for_any(stop, timeout=_NOT_CLAIMED.seconds(failures))

    def _wanted(self) -> int:
        """How many jobs to ask for; none while a good part of a batch still waits."""
        waiting = self._jobs.waiting
        free = self._jobs.slots - self._jobs.running - waiting
        batch = self._claim_batch()
        wanted = min(batch, free + self._ahead(batch))
        if waiting and wanted < batch // 2:
            return 0
        return max(0, wanted)

    def _ahead(self, batch: int) -> int:
        mean = self._mean_seconds()
        if mean is None:
            return 0
        return min(2 * batch, int(self._jobs.slots * _AHEAD_SECONDS / max(mean, 1e-6)))

    async def _took_all(self, wanted: int) -> bool:
        """Claim; whether nothing is left that could be claimed now."""
        asked_at = asyncio.get_running_loop().time()
        with CLAIM_SECONDS.time():
            jobs = await self._store.claim_jobs(self._worker, self._groups, wanted, self._kinds, self._shares)
        self._jobs.add(jobs, asked_at)
        if len(jobs) < wanted:
            # Let the slots start what came before it is counted; behind a full batch the next is asked for first.
            await asyncio.sleep(0)
        for kind, count in Counter(job.kind for job in jobs).items():
            JOBS_CLAIMED.labels(kind=kind).inc(count)
        if len(jobs) >= wanted:
            self._marked = False
            return False
        return all(job.serial_key is None for job in jobs)

    async def _rest(self) -> None:
        next_due = await self._store.mark_worker_idle(self._worker)
        if not self._marked:
            self._marked, self._rests = True, 0
            return
        pause = self._poll_interval().total_seconds()
        if self._rests < len(_FIRST_RESTS):
            pause = min(pause, _FIRST_RESTS[self._rests])
        if next_due is not None:
            pause = min(pause, max(0.0, next_due.total_seconds()))
        self._rests += 1
        self.idle.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self.wake.wait()
        self.idle.clear()
