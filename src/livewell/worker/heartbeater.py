"""The heartbeater renews all leases in one call, on a connection of its own, and watches the clock for every held job.

A job whose lease could not be renewed in time is stopped by the worker's own monotonic clock, before another worker can
have it: the clock is watched while a heartbeat is under way, too, and one that is not answered is given up in time for
another. A job past its time limit is stopped too, and one that was cancelled is told.

Events: `heartbeat_failed`, `lease_lost`, `job_cancel_told`.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta

from livewell.jobs import HEARTBEAT_SECONDS, LEASES_LOST, Beat, JobStore
from livewell.kernel import Logger, trusted_seconds, wait_for_any
from livewell.worker.failures import text_of
from livewell.worker.hold import Hold, Stop

log = Logger("livewell.worker")

_WATCH_SECONDS = 0.25
# A heartbeat is given up after one interval or a third of the shortest lease, but not before a slow network can answer.
_SHORTEST_PATIENCE = 1.0


class Heartbeater:
    """Keeps leases alive and ends what must end."""

    def __init__(self, store: JobStore, hold: Hold, *, worker: str, interval: Callable[[], timedelta]) -> None:
        self._store = store
        self._hold = hold
        self._worker = worker
        self._interval = interval
        self.wake = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Beat by the clock: often enough for the shortest lease held, and at once when woken."""
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(self._keep_watch())
            try:
                await self._keep_beating(stop)
            finally:
                watching.cancel()

    async def _keep_watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self.watch(loop.time())
            ends = (held.trusted_until for held in self._hold if held.stop is None and not held.ended)
            await asyncio.sleep(min(_WATCH_SECONDS, max(0.0, min(ends, default=float("inf")) - loop.time())))

    async def _keep_beating(self, stop: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        last_beat = loop.time()
        while not stop.is_set():
            await wait_for_any(self.wake, stop, timeout=_WATCH_SECONDS)
            if self.wake.is_set() or loop.time() - last_beat >= self._pause():
                self.wake.clear()
                last_beat = loop.time()
                await self._beat_or_warn()

    def watch(self, now: float) -> None:
        """Stop what may be another's by now, and what has had its time."""
        for held in self._hold:
            if held.stop is not None or held.ended:
                continue
            if now >= held.trusted_until:
                LEASES_LOST.labels(kind=held.job.kind).inc()
                log.warning("lease_lost", job_id=held.job.job_id, kind=held.job.kind, why="not renewed in time")
                held.tell(Stop.LOST)
            elif held.must_end_by is not None and held.task is not None and now >= held.must_end_by:
                held.tell(Stop.OVERDUE)

    async def beat(self) -> list[Beat]:
        """Renew every lease held and obey the answers; what is over is renewed until its outcome has arrived."""
        held = [one for one in self._hold if one.stop is not Stop.LOST]
        asked_at = asyncio.get_running_loop().time()
        with HEARTBEAT_SECONDS.time():
            beats = await self._store.heartbeat_jobs(
                self._worker, [one.job.job_id for one in held], [one.job.lease_token for one in held]
            )
        answers = {beat.job_id: beat for beat in beats}
        for one in held:
            if one.ended or self._hold.get(one.job.job_id) is not one:
                # Its outcome is on its way or has arrived: "lost" then only means that it is finished.
                continue
            beat = answers[one.job.job_id]
            if beat.status == "lost":
                LEASES_LOST.labels(kind=one.job.kind).inc()
                log.warning("lease_lost", job_id=beat.job_id, kind=one.job.kind, why="told by the database")
                one.tell(Stop.LOST)
            elif beat.lease_seconds is not None:
                one.trusted_until = asked_at + trusted_seconds(beat.lease_seconds)
            if beat.cancel_reason is not None:
                log.info("job_cancel_told", job_id=beat.job_id, reason=beat.cancel_reason)
                one.tell(Stop.CANCELLED, beat.cancel_reason)
        return beats

    async def _beat_or_warn(self) -> None:
        try:
            async with asyncio.timeout(max(self._pause(), _SHORTEST_PATIENCE)):
                await self.beat()
        except Exception as error:  # noqa: BLE001 - whatever it is, what is held goes on, and is watched
            log.warning("heartbeat_failed", error=text_of(error), held=len(self._hold))

    def _pause(self) -> float:
        shortest = min((held.job.lease_seconds for held in self._hold), default=float("inf"))
        return min(self._interval().total_seconds(), shortest / 3)
