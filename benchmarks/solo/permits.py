"""Permits by hand in blocks of fifty, against one bare row updated once per permit; and the window they keep."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from benchmarks.harness import Bar, Context
from benchmarks.solo.budgeted import make_endpoints
from benchmarks.solo.queue import Queue, fresh_queue

BLOCK = 50
ROUNDS = 3
FULL_SECONDS = 3.0
QUICK_SECONDS = 0.7
LIMIT = 600
MINUTE = timedelta(minutes=1)
COUNTER = "create table counter (id int primary key, used bigint not null) with (fillfactor = 50)"
BARE = "update counter set used = used + 1 where id = 1"
ACQUIRE = "select block_id, permits from livewell.acquire_permits($1, 'bench', $2, 10, 1000, p_now => $3)"
SETTLE = "select livewell.settle_permits($1, $2, $3, $4, $5)"


async def bars(context: Context) -> list[Bar]:
    async with fresh_queue(context, "permits") as queue:
        await make_endpoints(queue, ["bench/e", "bench/limited"])
        await queue.other.execute(
            f"update livewell_private.endpoint set requests_per_minute = {LIMIT} where name = 'bench/limited'"
        )
        await queue.other.execute(COUNTER)
        await queue.other.execute("insert into counter values (1, 0)")
        rates = await _rates(context, queue)
        worst = await _worst_minute(queue)
    bare, blocks = (statistics.median(rates[name]) for name in ("bare row", "blocks"))
    for name, values in rates.items():
        context.rows.append(
            {
                "contender": "livewell" if name == "blocks" else "bare row",
                "measure": "permits",
                "median": round(statistics.median(values)),
                "unit": "permits/s",
                "samples": [round(value) for value in values],
                "sizes": {"block": BLOCK if name == "blocks" else 1},
            }
        )
    return [
        Bar(
            name="permits in blocks of 50 / one row updated per permit",
            value=blocks / bare,
            at_least=30,
            note=f"{blocks:,.0f} against {bare:,.0f} a second; granted and reserved, settled beside",
        ),
        Bar(
            name="permits in blocks: worst minute / limit",
            value=worst / LIMIT,
            at_most=1.0,
            note="five minutes, clock passed in",
        ),
        Bar(name="permits in blocks: worst minute / limit, not idle", value=worst / LIMIT, at_least=0.95),
    ]


async def _rates(context: Context, queue: Queue) -> dict[str, list[float]]:
    numbers = list(range(1, BLOCK + 1))
    nothing: list[None] = [None] * BLOCK
    done = ["completed"] * BLOCK

    async def bare() -> int:
        await queue.claimer.execute(BARE)
        return 1

    settling: asyncio.Task[object] | None = None

    async def block() -> int:
        """The block before is settled beside, over a connection of its own, as a pool of permits does it."""
        nonlocal settling
        row = await queue.claimer.fetchrow(ACQUIRE, "bench/e", BLOCK, None)
        if row is None or row["permits"] != BLOCK:
            raise RuntimeError(f"asked for {BLOCK} permits, got {row}")
        if settling is not None:
            await settling
        settle = queue.other.fetchval(SETTLE, row["block_id"], numbers, nothing, nothing, done)
        settling = asyncio.create_task(settle)
        return BLOCK

    cases: dict[str, Callable[[], Awaitable[int]]] = {"bare row": bare, "blocks": block}
    rates: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, case in cases.items():
            rates[name].append(await _rate(case, QUICK_SECONDS if context.quick else FULL_SECONDS))
            if settling is not None:
                await settling
    return rates


async def _rate(case: Callable[[], Awaitable[int]], seconds: float) -> float:
    granted, started = 0, time.perf_counter()
    while (now := time.perf_counter()) < started + seconds:
        granted += await case()
    return granted / (now - started)


async def _worst_minute(queue: Queue) -> int:
    """Five minutes of asking for blocks four times a second, by a clock that is passed in."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    granted: list[tuple[datetime, int]] = []
    for step in range(5 * 60 * 4):
        now = start + timedelta(seconds=step / 4)
        row = await queue.claimer.fetchrow(ACQUIRE, "bench/limited", BLOCK, now)
        if row is not None and row["permits"]:
            granted.append((now, row["permits"]))
    return max(sum(count for moment, count in granted if now - MINUTE < moment <= now) for now, _ in granted)
