"""A million jobs through the live partition under a steady load: its size must stop growing.

The partition is bound to grow between two visits of autovacuum, so the run is paced to span several of them; a quick
run passes a tenth of the jobs and shortens autovacuum's nap in proportion, which the row states.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from benchmarks.harness import Bar, Context
from benchmarks.solo.queue import LIVE_PARTITION, Queue, scaled

THROUGH = 1_000_000
JOBS_PER_SECOND = 5_000
QUICK_JOBS_PER_SECOND = 10_000
QUICK_NAP = "3s"
BACKLOG = 5_000
STEP = 1_000
CLAIM_SIZE = 500
SAMPLE_EVERY = 0.5
# A partition that keeps all it ever held doubles from one half to the other.
BOUNDED = 1.5


async def bars(context: Context, queue: Queue) -> list[Bar]:
    context.say("[dim]live partition: jobs going through[/]")
    async with _nap(context):
        sizes = await _pass_through(context, queue)
    return [_judge(context, sizes, await _packed_bytes(queue))]


@asynccontextmanager
async def _nap(context: Context) -> AsyncIterator[None]:
    if not context.quick:
        yield
        return
    admin = await asyncpg.connect(context.server.url())
    try:
        await admin.execute(f"alter system set autovacuum_naptime = '{QUICK_NAP}'")
        await admin.execute("select pg_reload_conf()")
        yield
        await admin.execute("alter system reset autovacuum_naptime")
        await admin.execute("select pg_reload_conf()")
    finally:
        await admin.close()


async def _pass_through(context: Context, queue: Queue) -> list[int]:
    """Keep a backlog, take from its top, put behind it; look at the size on a connection of its own."""
    watcher = await asyncpg.connect(queue.url)
    sizes: list[int] = []
    sampler = asyncio.create_task(_sample(watcher, sizes))
    rate = QUICK_JOBS_PER_SECOND if context.quick else JOBS_PER_SECOND
    try:
        await queue.enqueue(BACKLOG)
        started = time.monotonic()
        for passed in range(0, scaled(context, THROUGH), STEP):
            await queue.enqueue(STEP)
            for _ in range(STEP // CLAIM_SIZE):
                await queue.finish(await queue.claim(CLAIM_SIZE))
            await asyncio.sleep(max(0.0, started + passed / rate - time.monotonic()))
        sizes.append(await queue.live_bytes())
    finally:
        sampler.cancel()
        await asyncio.wait([sampler])
        await watcher.close()
    return sizes


async def _sample(watcher: "asyncpg.Connection[asyncpg.Record]", sizes: list[int]) -> None:
    while True:
        sizes.append(int(await watcher.fetchval("select pg_total_relation_size($1::regclass)", LIVE_PARTITION)))
        await asyncio.sleep(SAMPLE_EVERY)


async def _packed_bytes(queue: Queue) -> int:
    """What the jobs that are left would take if nothing were wasted."""
    await queue.other.execute(f"create table packed (like {LIVE_PARTITION} including all)")
    await queue.other.execute(f"insert into packed select * from {LIVE_PARTITION}")
    packed = int(await queue.other.fetchval("select pg_total_relation_size('packed')"))
    await queue.other.execute("drop table packed")
    return packed


def _judge(context: Context, sizes: list[int], packed: int) -> Bar:
    half = len(sizes) // 2
    first, second = max(sizes[:half]), max(sizes[half:])
    megabytes = [round(size / 2**20, 1) for size in sizes[:: max(1, len(sizes) // 40)]]
    context.rows.append(
        {
            "contender": "livewell",
            "measure": "live partition size",
            "median": round(second / 2**20, 1),
            "unit": "MiB at most in the second half",
            "bloat": round(second / packed, 2),
            "series_mib": megabytes,
            "sizes": {"through": scaled(context, THROUGH), "backlog": BACKLOG},
            "settings": {"autovacuum_naptime": QUICK_NAP if context.quick else "default"},
        }
    )
    return Bar(
        name="live partition, largest in the second half / in the first half",
        value=second / first,
        at_most=BOUNDED,
        note=f"{second / 2**20:.0f} MiB at most, {second / packed:.1f} × the packed size of the backlog",
    )
