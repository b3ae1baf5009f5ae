"""kill -9 of a worker: its jobs are taken back within lease + one tick, and no job of a living worker runs twice.

The workers write each start into a file, so what ran is read outside the database; when a job was taken back is the
database's word. How long until it runs again is reported as well.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import Bar, Context
from benchmarks.solo.queue import Queue, fresh_queue
from benchmarks.stage.cache import ROOT

LEASE = 2.0
TICK = 1.0  # of the task `rescue`, as it ships
JOBS_EACH = 20
WORK = 4.0
LIMIT = 30.0
SETTINGS = {
    "worker.heartbeat_interval": f"{LEASE / 4} seconds",
    "worker.timeout": f"{LEASE} seconds",
    "worker.reclaim_jitter_max": "0 seconds",
}


RESCUES = """
select job_id, extract(epoch from ended_at - $1::timestamptz)::float8 as wait
from livewell_private.job_attempt where outcome = 'rescued'
"""


@dataclass(frozen=True, kw_only=True)
class Start:
    """A handler began: which job, in which process, when (the machine's monotonic clock)."""

    job: int
    process: int
    at: float


@dataclass(frozen=True, kw_only=True)
class Killing:
    """What was seen of it: seconds from the kill, and every start of a handler."""

    doomed: int
    killed_at: float
    rescues: list[float]
    starts: list[Start]

    @property
    def lost(self) -> set[int]:
        return {start.job for start in self.starts if start.process == self.doomed}

    @property
    def run_again(self) -> list[Start]:
        return [start for start in self.starts if start.job in self.lost and start.process != self.doomed]

    @property
    def live_jobs_run_again(self) -> int:
        return len(self.starts) - len({start.job for start in self.starts}) - len(self.run_again)


async def bars(context: Context) -> list[Bar]:
    context.say("[dim]rescue: killing a worker[/]")
    with tempfile.TemporaryDirectory(prefix="livewell-rescue-") as folder:
        history = Path(folder) / "history.jsonl"
        history.touch()
        async with fresh_queue(context, "rescue") as queue:
            await queue.configure(SETTINGS)
            killing = await _kill_one(queue, history)
    return _judge(context, killing)


async def _kill_one(queue: Queue, history: Path) -> Killing:
    """The doomed worker takes its jobs, the other one its own; then the first is killed and the second takes over."""
    workers: list[asyncio.subprocess.Process] = []
    try:
        for slots in (JOBS_EACH, 2 * JOBS_EACH):
            workers.append(await _worker(queue.url, history, slots=slots))
            await queue.enqueue(JOBS_EACH)
            await _until_started(history, len(workers) * JOBS_EACH, workers)
        doomed, living = workers
        moment = await queue.other.fetchval("select clock_timestamp()")
        killed_at = time.monotonic()
        doomed.kill()
        await _until_started(history, 3 * JOBS_EACH, [living])
        # The living worker's jobs outlast the lease; only when they are done is it known that none ran twice.
        await asyncio.sleep(max(0.0, killed_at + WORK - time.monotonic()))
        rescues = [row["wait"] for row in await queue.other.fetch(RESCUES, moment)]
        return Killing(doomed=doomed.pid, killed_at=killed_at, rescues=rescues, starts=_read(history))
    finally:
        for worker in workers:
            if worker.returncode is None:
                worker.kill()
            await worker.wait()


async def _worker(url: str, history: Path, *, slots: int) -> asyncio.subprocess.Process:
    settings = {"history": str(history), "work": WORK, "slots": slots}
    environment = {
        **os.environ,
        "BENCH_DSN": url,
        "BENCH_PLAN": json.dumps(settings),
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src"))),
    }
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.contenders.livewell_worker", env=environment
    )


def _read(history: Path) -> list[Start]:
    return [Start(**json.loads(line)) for line in history.read_text(encoding="utf-8").splitlines()]


async def _until_started(history: Path, jobs: int, workers: Sequence[asyncio.subprocess.Process]) -> None:
    async with asyncio.timeout(LIMIT):
        while len(_read(history)) < jobs:
            if any(worker.returncode is not None for worker in workers):
                raise RuntimeError("a worker ended by itself")
            await asyncio.sleep(0.02)


def _judge(context: Context, killing: Killing) -> list[Bar]:
    if len(killing.rescues) < len(killing.lost):
        raise RuntimeError(f"{len(killing.rescues)} of {len(killing.lost)} lost jobs were rescued")
    slowest = max(killing.rescues)
    context.rows.append(
        {
            "contender": "livewell",
            "measure": "rescue after kill -9",
            "median": round(slowest, 3),
            "unit": "s until the last lost job was taken back",
            "ran_again_within_s": round(max(start.at for start in killing.run_again) - killing.killed_at, 3),
            "live_jobs_run_again": killing.live_jobs_run_again,
            "sizes": {"jobs_lost": len(killing.lost), "lease_s": LEASE, "tick_s": TICK},
            "settings": SETTINGS,
        }
    )
    return [
        Bar(name="rescue after kill -9 / (lease + one tick)", value=slowest / (LEASE + TICK), at_most=1.0),
        Bar(name="live jobs run again during a rescue", value=float(killing.live_jobs_run_again), at_most=0.0),
    ]
