"""kill -9 of a worker: its jobs run again within lease + one tick, and no job of a living worker runs twice.

Both workers write each start into a file of their own, so what happened is read outside the database.
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
TICK = 1.0
JOBS_EACH = 20
WORK = 4.0
LIMIT = 30.0
SETTINGS = {
    "worker.heartbeat_interval": f"{LEASE / 4} seconds",
    "worker.timeout": f"{LEASE} seconds",
    "worker.reclaim_jitter_max": "0 seconds",
}


@dataclass(frozen=True, kw_only=True)
class Start:
    """A handler began: which job, in which process, when (the machine's monotonic clock)."""

    job: int
    process: int
    at: float


async def bars(context: Context) -> list[Bar]:
    context.say("[dim]rescue: killing a worker[/]")
    with tempfile.TemporaryDirectory(prefix="livewell-rescue-") as folder:
        history = Path(folder) / "history.jsonl"
        history.touch()
        async with fresh_queue(context, "rescue") as queue:
            await queue.configure(SETTINGS)
            killed_at, doomed, starts = await _kill_one(queue, history)
    return _judge(context, killed_at, doomed, starts)


async def _kill_one(queue: Queue, history: Path) -> tuple[float, int, list[Start]]:
    """The doomed worker takes its jobs, the other one its own; then the first is killed and the second takes over."""
    workers: list[asyncio.subprocess.Process] = []
    try:
        for slots in (JOBS_EACH, 2 * JOBS_EACH):
            workers.append(await _worker(queue.url, history, slots=slots))
            await queue.enqueue(JOBS_EACH)
            await _until_started(history, len(workers) * JOBS_EACH, workers)
        doomed, living = workers
        killed_at = time.monotonic()
        doomed.kill()
        await _until_started(history, 3 * JOBS_EACH, [living])
        # The living worker's jobs outlast the lease; only when they are done is it known that none ran twice.
        await asyncio.sleep(max(0.0, killed_at + WORK - time.monotonic()))
        return killed_at, doomed.pid, _read(history)
    finally:
        for worker in workers:
            if worker.returncode is None:
                worker.kill()
            await worker.wait()


async def _worker(url: str, history: Path, *, slots: int) -> asyncio.subprocess.Process:
    settings = {"history": str(history), "lease": LEASE, "tick": TICK, "work": WORK, "slots": slots}
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


def _judge(context: Context, killed_at: float, doomed: int, starts: list[Start]) -> list[Bar]:
    lost = {start.job for start in starts if start.process == doomed}
    again = [start for start in starts if start.job in lost and start.process != doomed]
    twice = len(starts) - len({start.job for start in starts}) - len(again)
    waits = [start.at - killed_at for start in again]
    context.rows.append(
        {
            "contender": "livewell",
            "measure": "rescue after kill -9",
            "median": round(max(waits), 3),
            "unit": "s until the last lost job ran again",
            "sizes": {"jobs_lost": len(lost), "lease_s": LEASE, "tick_s": TICK},
            "settings": SETTINGS,
            "live_jobs_run_again": twice,
        }
    )
    return [
        Bar(name="rescue after kill -9 / (lease + one tick)", value=max(waits) / (LEASE + TICK), at_most=1.0),
        Bar(name="live jobs run again during a rescue", value=float(twice), at_most=0.0),
    ]
