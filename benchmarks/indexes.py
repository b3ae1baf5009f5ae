"""The live partition as it is, beside itself with fewer indexes, without its check, with other fill factors.

What the second half of decision 0022 rests on. The product is whole but for the one thing that differs; an index that
is missing would be missed elsewhere, so that a variant without it shows only the most that could be won.
"""

import statistics
import time

from benchmarks.harness import Bar, Context
from benchmarks.solo.queue import Queue, fresh_queue, template

AS_IT_IS = "as it is"
VARIANTS = {
    AS_IT_IS: "",
    "without job_live_running": "drop index livewell_private.job_live_running",
    "without the indexes of endpoints": (
        "drop index livewell_private.job_live_waiting; drop index livewell_private.job_live_asked_by"
    ),
    "without its check": "alter table livewell_private.job_live drop constraint job_live_leased_has_token",
    "fillfactor 50": "alter table livewell_private.job_live set (fillfactor = 50)",
    "fillfactor 100": "alter table livewell_private.job_live set (fillfactor = 100)",
}
JOBS = {"full": 40_000, "quick": 10_000, "smoke": 1_000}
SINGLES = {"full": 3_000, "quick": 500, "smoke": 20}
BATCH = 500
SINGLE = "select job_id from livewell.enqueue_job('noop', '{\"i\": 1}', p_dedupe_key => $1)"


async def run(context: Context) -> None:
    context.versions["postgresql"] = await context.server.version()
    samples: dict[str, dict[str, list[float]]] = {}
    async with template(context):
        for _ in range(3):
            for number, (variant, change) in enumerate(VARIANTS.items()):
                async with fresh_queue(context, f"indexes_{number}") as queue:
                    if change:
                        await queue.other.execute(change)
                    for measure, value in (await _measured(context, queue)).items():
                        samples.setdefault(measure, {}).setdefault(variant, []).append(value)
    for measure, by_variant in samples.items():
        medians = {variant: statistics.median(values) for variant, values in by_variant.items()}
        context.rows += [
            {
                "contender": variant,
                "measure": measure,
                "median": round(medians[variant]),
                "unit": "jobs/s",
                "samples": [round(value) for value in by_variant[variant]],
            }
            for variant in VARIANTS
        ]
        context.bars += [
            Bar(
                name=f"{variant} / {AS_IT_IS}: {measure}",
                value=medians[variant] / medians[AS_IT_IS],
                at_least=1.0,
                note=f"{medians[variant]:,.0f} and {medians[AS_IT_IS]:,.0f} jobs/s; a gain if it holds",
            )
            for variant in VARIANTS
            if variant != AS_IT_IS
        ]


async def _measured(context: Context, queue: Queue) -> dict[str, float]:
    """One after another by one caller, so that nothing but the server's work is in it; jobs a second."""
    jobs, singles = JOBS[context.size], SINGLES[context.size]
    await queue.churn(BATCH)
    single = await queue.other.prepare(SINGLE)
    transaction = queue.other.transaction()
    await transaction.start()
    started = time.perf_counter()
    for number in range(singles):
        await single.fetch(f"single/{number}")
    single_seconds = time.perf_counter() - started
    await transaction.rollback()
    started = time.perf_counter()
    await queue.enqueue(jobs)
    bulk_seconds = time.perf_counter() - started
    await queue.tidy()
    claiming = finishing = 0.0
    while True:
        seconds, rows = await queue.timed_claim(BATCH)
        claiming += seconds
        if not rows:
            break
        started = time.perf_counter()
        await queue.finish(rows)
        finishing += time.perf_counter() - started
    return {
        "enqueue one by one": singles / single_seconds,
        "enqueue by thousands": jobs / bulk_seconds,
        "claim": jobs / claiming,
        "finish": jobs / finishing,
    }
