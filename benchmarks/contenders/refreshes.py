"""A Livewell worker that refreshes: claim, fetch, judge, store and finish, from a queue that is filled beforehand.

What is measured begins with the commit that queues all of them, for a worker that is up and has served before, and ends
when the database shows none unfinished. Every answer is stored in a table of its own type, every row is news.
"""

import asyncio
import json
import os
import time
from typing import TYPE_CHECKING

import asyncpg
import uvloop

from benchmarks.protocol import leave, report, report_version
from benchmarks.stage.machine import peak_mb, resident_mb
from livewell import Livewell, WorkerOptions, __version__
from livewell.kernel import configure_logs

POLL = 0.01
CHUNK = 1_000
# As the checker queues them: with dedupe and serial keys, and the bytes that are expected.
ENQUEUE = """
select livewell_private.queue_refreshes(array(
    select row (i.id, 1, 'stale', null, false)::livewell_private.wanted_refresh
    from livewell_private.item as i order by i.id limit $2 offset $1
), clock_timestamp())
"""
UNFINISHED = "select exists (select from livewell_private.job_live)"

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]


async def main() -> None:
    configure_logs(level="error")
    plan = json.loads(os.environ["BENCH_PLAN"])
    report_version(f"livewell {__version__}, asyncpg {asyncpg.__version__}")
    watcher = await asyncpg.connect(os.environ["BENCH_DSN"])
    app = Livewell(os.environ["BENCH_DSN"])
    async with app:
        worker = asyncio.create_task(
            app.run_worker(WorkerOptions(concurrency=plan["concurrency"], claim_batch=plan["claim_batch"]))
        )
        await _refreshed(worker, watcher, plan["warm_up"])
        report("resident_first", resident_mb(), "MB")
        rates = []
        for _ in range(plan["turns"]):
            rates.append(plan["items"] / await _refreshed(worker, watcher, plan["items"]))
            await watcher.execute("vacuum analyze livewell_private.job, livewell_private.item")
        report("items", sum(rates) / len(rates), "1/s")
        report("resident_last", resident_mb(), "MB")
        report("peak", peak_mb(), "MB")
        leave()


async def _refreshed(worker: "asyncio.Task[int]", watcher: "Connection", items: int) -> float:
    """Queue so many and wait for them; answers how long they took."""
    async with watcher.transaction():
        for at in range(0, items, CHUNK):
            await watcher.execute(ENQUEUE, at, min(CHUNK, items - at))
    started = time.perf_counter()
    while await watcher.fetchval(UNFINISHED):
        if worker.done():
            raise RuntimeError(f"the worker ended with {worker.result()}")
        await asyncio.sleep(POLL)
    return time.perf_counter() - started


if __name__ == "__main__":
    uvloop.run(main())
