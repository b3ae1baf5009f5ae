"""What it costs to ask whether the quota is open: against the shortest round trip there is, and against history."""

import statistics
import time

import asyncpg

from benchmarks.harness import Bar, Context
from benchmarks.solo.budgeted import make_endpoints
from benchmarks.solo.queue import fresh_queue

FULL_SAMPLES = 2_000
QUICK_SAMPLES = 500
YEARS = """
insert into livewell_private.quota_hour (provider, hour, bytes, requests)
select 'bench', date_trunc('hour', now()) - g * interval '1 hour', 1000000, 10000 from generate_series(720, 17520) as g
"""
MORE_CALLS = "update livewell_private.quota_hour set requests = requests * 1000, bytes = bytes * 1000"
SETTLED = "select livewell_private.draw_on_quotas(livewell_private.quotas_now('{bench}', null, now()), null, now())"
ASK = "select livewell.quota_open('bench')"
NOTHING = "select 1"


async def bars(context: Context) -> list[Bar]:
    async with fresh_queue(context, "questions") as queue:
        await make_endpoints(queue, ["bench/e"])
        await queue.other.execute(YEARS)
        await queue.other.execute(SETTLED)
        await queue.other.execute("vacuum analyze livewell_private.quota_hour")
        few, nothing = await _asked(context, queue.claimer)
        await queue.other.execute(MORE_CALLS)
        await queue.other.execute(SETTLED)
        many, _ = await _asked(context, queue.claimer)
    for name, value in (("quota question", few), ("a thousand times the calls", many), ("select 1", nothing)):
        context.rows.append(
            {
                "contender": "livewell",
                "measure": name,
                "median": round(value * 1e6, 1),
                "unit": "µs",
                "sizes": {"hours": 17520},
            }
        )
    return [
        Bar(name="quota question / select 1", value=few / nothing, at_most=3.0, note="two years of hourly history"),
        Bar(name="quota question, a thousand times the calls made / before", value=many / few, at_most=1.2),
    ]


async def _asked(context: Context, connection: "asyncpg.Connection[asyncpg.Record]") -> tuple[float, float]:
    """Medians of the question and of nothing, asked in turn."""
    waits: dict[str, list[float]] = {ASK: [], NOTHING: []}
    for _ in range(QUICK_SAMPLES if context.quick else FULL_SAMPLES):
        for statement, found in waits.items():
            started = time.perf_counter()
            await connection.fetchval(statement)
            found.append(time.perf_counter() - started)
    return statistics.median(waits[ASK]), statistics.median(waits[NOTHING])
