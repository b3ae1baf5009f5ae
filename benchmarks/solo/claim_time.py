"""What a claim costs when the queue is full of things in the way, against one with a thousand jobs and nothing else.

All queues are claimed from in turn, one claim each, so that whatever else the machine does falls on all alike.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

import asyncpg

from benchmarks.harness import Bar, Context
from benchmarks.solo.live_partition import THROUGH
from benchmarks.solo.queue import Queue, fresh_queue, scaled

PENDING = 1_000
CLAIM_SIZE = 50
FULL_SAMPLES = 200
QUICK_SAMPLES = 40
MANY_PENDING = 500_000
IN_FRONT = 300_000
TOP = 1_000
SNAPSHOT_AGE = 60.0
QUICK_SNAPSHOT_AGE = 1.0
CHURN_UNDER_SNAPSHOT = 60_000

PLAIN = "1,000 pending"
DEEP = "finished and pending"
OTHER_GROUP = "another group in front"
PAUSED = "a paused kind in front"
SNAPSHOT = "old snapshot"


async def bars(context: Context, deep: Queue) -> list[Bar]:
    """`deep` is a queue through which the finished jobs have gone already."""
    async with AsyncExitStack() as stack:
        queues = {DEEP: deep}
        for number, name in enumerate((PLAIN, OTHER_GROUP, PAUSED, SNAPSHOT)):
            queues[name] = await stack.enter_async_context(fresh_queue(context, f"claims_{number}"))
        for name, prepare in _CASES.items():
            context.say(f"[dim]claim time: {name}[/]")
            await prepare(context, queues[name])
            await queues[name].tidy()
        await stack.enter_async_context(_old_snapshot(context, queues[SNAPSHOT]))
        medians = await _claims_in_turn(context, queues)
    return _judge(context, medians)


async def _plain(_: Context, queue: Queue) -> None:
    await queue.enqueue(PENDING)


async def _deep(context: Context, queue: Queue) -> None:
    await queue.enqueue(scaled(context, MANY_PENDING))


async def _other_group(context: Context, queue: Queue) -> None:
    await queue.declare("elsewhere", "another-group")
    await queue.enqueue(scaled(context, IN_FRONT), kind="elsewhere", priority=TOP)
    await queue.enqueue(PENDING)


async def _paused(context: Context, queue: Queue) -> None:
    await queue.declare("halted", queue.group)
    await queue.enqueue(scaled(context, IN_FRONT), kind="halted", priority=TOP)
    await queue.pause("halted")
    await queue.enqueue(PENDING)


_CASES = {PLAIN: _plain, DEEP: _deep, OTHER_GROUP: _other_group, PAUSED: _paused, SNAPSHOT: _plain}


@asynccontextmanager
async def _old_snapshot(context: Context, queue: Queue) -> AsyncIterator[None]:
    """Somebody elsewhere keeps a snapshot while jobs come and go, so that nothing they leave can be cleaned up."""
    elsewhere = await asyncpg.connect(queue.url)
    try:
        async with elsewhere.transaction(isolation="repeatable_read"):
            await elsewhere.fetchval("select count(*) from livewell_private.job")
            opened = time.monotonic()
            context.say("[dim]claim time: waiting for the snapshot to grow old[/]")
            await queue.churn(scaled(context, CHURN_UNDER_SNAPSHOT))
            await queue.enqueue(PENDING)
            age = QUICK_SNAPSHOT_AGE if context.quick else SNAPSHOT_AGE
            await asyncio.sleep(max(0.0, age - (time.monotonic() - opened)))
            yield
    finally:
        await elsewhere.close()


async def _claims_in_turn(context: Context, queues: Mapping[str, Queue]) -> dict[str, float]:
    waits: dict[str, list[float]] = {name: [] for name in queues}
    for _ in range(QUICK_SAMPLES if context.quick else FULL_SAMPLES):
        for name, queue in queues.items():
            wait, rows = await queue.timed_claim(CLAIM_SIZE)
            if len(rows) != CLAIM_SIZE:
                raise RuntimeError(f"{name}: claimed {len(rows)} of {CLAIM_SIZE}")
            waits[name].append(wait * 1000)
            await queue.finish(rows)
            await queue.enqueue(CLAIM_SIZE)
    return {name: statistics.median(values) for name, values in waits.items()}


def _judge(context: Context, medians: Mapping[str, float]) -> list[Bar]:
    sizes: dict[str, dict[str, float]] = {
        PLAIN: {"pending": PENDING},
        DEEP: {"finished": scaled(context, THROUGH), "pending": scaled(context, MANY_PENDING)},
        OTHER_GROUP: {"in_front": scaled(context, IN_FRONT), "pending": PENDING},
        PAUSED: {"in_front": scaled(context, IN_FRONT), "pending": PENDING},
        SNAPSHOT: {
            "pending": PENDING,
            "churned": scaled(context, CHURN_UNDER_SNAPSHOT),
            "age_s": QUICK_SNAPSHOT_AGE if context.quick else SNAPSHOT_AGE,
        },
    }
    for name, median in medians.items():
        context.rows.append(
            {
                "contender": "livewell",
                "measure": f"claim of {CLAIM_SIZE}: {name}",
                "median": round(median, 3),
                "unit": "ms",
                "sizes": sizes[name],
            }
        )
    limits = {DEEP: 1.5, OTHER_GROUP: 1.5, PAUSED: 1.5, SNAPSHOT: 3.0}
    return [
        Bar(
            name=f"claim time, {name} / {PLAIN}",
            value=medians[name] / medians[PLAIN],
            at_most=limit,
            note=", ".join(f"{key} {value:,.0f}" for key, value in sizes[name].items()),
        )
        for name, limit in limits.items()
    ]
