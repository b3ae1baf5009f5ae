"""Two layouts of a queue beside each other, bare: one wide row for all its life, or narrow rows for order and leases.

What decision 0022 rests on. Nothing of the product is in it but the shape of its tables: no budgets, serial keys, kinds
or checks. A worker of one connection drains the queue by claims of 500 and of 50; then claims are timed while somebody
elsewhere keeps an old snapshot. Enqueueing is measured too, because a narrow order is one more row to write.
"""

import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from benchmarks.harness import Bar, Context
from livewell.kernel import Queries

SQL = Queries.parse((Path(__file__).parent / "sql" / "layouts.sql").read_text(encoding="utf-8"))
WIDE, NARROW = "wide", "narrow"
LAST = "select greatest((select max(id) from job), (select max(id) from done))"
JOBS = {"full": 60_000, "quick": 20_000, "smoke": 2_000}
CHUNK = 1_000
BATCHES = (500, 50)
CHURN = {"full": 60_000, "quick": 10_000, "smoke": 1_000}
PENDING = 1_000
SAMPLES = {"full": 100, "quick": 40, "smoke": 2}


@dataclass(kw_only=True)
class Found:
    """Samples by measure."""

    samples: dict[str, list[float]] = field(default_factory=dict)

    def add(self, measure: str, value: float) -> None:
        self.samples.setdefault(measure, []).append(value)

    def median(self, measure: str) -> float:
        return statistics.median(self.samples[measure])


async def run(context: Context) -> None:
    context.versions["postgresql"] = await context.server.version()
    found = {WIDE: Found(), NARROW: Found()}
    for _ in range(3):
        for layout, figures in found.items():
            async with context.server.database(f"layout_{layout}") as url:
                await _measure(context, url, layout, figures)
    for layout, figures in found.items():
        context.rows += [
            {
                "contender": layout,
                "measure": measure,
                "median": round(figures.median(measure), 2),
                "samples": [round(value, 2) for value in values],
            }
            for measure, values in figures.samples.items()
        ]
    context.bars += [_ratio(found, measure) for measure in found[WIDE].samples]


def _ratio(found: dict[str, Found], measure: str) -> Bar:
    narrow, wide = found[NARROW].median(measure), found[WIDE].median(measure)
    is_time = measure.endswith("ms")
    return Bar(
        name=f"narrow / wide: {measure}",
        value=narrow / wide,
        at_least=None if is_time else 1.0,
        at_most=1.0 if is_time else None,
        note=f"{narrow:,.1f} and {wide:,.1f}",
    )


async def _measure(context: Context, url: str, layout: str, found: Found) -> None:
    line, elsewhere = await asyncpg.connect(url), await asyncpg.connect(url)
    try:
        for name in (f"tables_of_{layout}", "tables_of_both", f"functions_of_{layout}", "one_trip"):
            await line.execute(SQL[name])
        jobs = JOBS[context.size]
        for batch in BATCHES:
            found.add("enqueue, jobs/s", jobs / await _enqueue(line, jobs))
            found.add(f"drain by {batch}, jobs/s", jobs / await _drain(line, batch))
        await _enqueue(line, jobs)
        found.add("drain by 500, finish and claim in one call, jobs/s", jobs / await _drain_in_one(line, BATCHES[0]))
        await _enqueue(line, PENDING)
        found.add("claim of 50, ms", await _claim_times(line, SAMPLES[context.size]))
        async with elsewhere.transaction(isolation="repeatable_read"):
            await elsewhere.fetchval("select count(*) from job")
            await _enqueue(line, CHURN[context.size])
            await _drain(line, BATCHES[0])
            await _enqueue(line, PENDING)
            found.add("claim of 50 under an old snapshot, ms", await _claim_times(line, SAMPLES[context.size]))
    finally:
        await line.close()
        await elsewhere.close()


async def _enqueue(line: "asyncpg.Connection[asyncpg.Record]", jobs: int) -> float:
    """So many jobs, with keys never used before."""
    first = 1 + int(await line.fetchval(LAST) or 0)
    started = time.perf_counter()
    for start in range(first, first + jobs, CHUNK):
        await line.execute("select enqueue($1, $2)", start, min(start + CHUNK, first + jobs) - 1)
    seconds = time.perf_counter() - started
    await line.execute("vacuum analyze")
    return seconds


async def _drain(line: "asyncpg.Connection[asyncpg.Record]", batch: int) -> float:
    started = time.perf_counter()
    while rows := await line.fetch("select id, token, payload from claim($1)", batch):
        await _finish(line, rows)
    return time.perf_counter() - started


async def _drain_in_one(line: "asyncpg.Connection[asyncpg.Record]", batch: int) -> float:
    started = time.perf_counter()
    rows = await line.fetch("select id, token, payload from claim($1)", batch)
    while rows:
        ids, tokens = [row["id"] for row in rows], [row["token"] for row in rows]
        rows = await line.fetch("select id, token, payload from finish_and_claim($1, $2, $3)", ids, tokens, batch)
    return time.perf_counter() - started


async def _finish(line: "asyncpg.Connection[asyncpg.Record]", rows: list[asyncpg.Record]) -> None:
    await line.execute("select finish($1, $2)", [row["id"] for row in rows], [row["token"] for row in rows])


async def _claim_times(line: "asyncpg.Connection[asyncpg.Record]", samples: int) -> float:
    """The median of a claim of 50 from a thousand that wait."""
    waits = []
    for _ in range(samples):
        started = time.perf_counter()
        rows = await line.fetch("select id, token, payload from claim(50)")
        waits.append((time.perf_counter() - started) * 1000)
        await _finish(line, rows)
        await _enqueue_quietly(line, 50)
    return statistics.median(waits)


async def _enqueue_quietly(line: "asyncpg.Connection[asyncpg.Record]", jobs: int) -> None:
    """A few more, without a vacuum."""
    first = 1 + int(await line.fetchval(LAST))
    await line.execute("select enqueue($1, $2)", first, first + jobs - 1)
