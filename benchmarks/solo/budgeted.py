"""What it costs to claim under ten endpoints' budgets, and what a blocked endpoint costs the others.

The plain queue and the budgeted one are drained in turn, each by one claimer and one finisher side by side, with the
same jobs but for their endpoint. Endpoints are as they are by default, and so are their jobs: limits of requests and
concurrency, so wide that none binds, a quota with even pacing, a breaker, and a serial key for each job, as refreshes
have. A second row has every limit there is, and no serial keys.
"""

import asyncio
import statistics
import time
from collections.abc import Sequence

from benchmarks.harness import Bar, Context
from benchmarks.solo.queue import CHUNK, Queue, fresh_queue, scaled

JOBS = 20_000
BATCH = 500
ENDPOINTS = 10
BLOCKED = 100_000
OTHERS = 1_000
CLAIM_SIZE = 50
FULL_SAMPLES = 100
PLAIN = "plain queue"
DEFAULT = "ten endpoints, serial keys"
TUNED = "ten endpoints, every limit, no serial keys"
QUICK_SAMPLES = 30

PROVIDER = "insert into livewell_private.provider (name, quota_bytes) values ('bench', 20e15)"
QUOTA_USE = "insert into livewell_private.quota_use (provider) values ('bench')"
LEDGER = """
insert into livewell_private.quota_hour (provider, hour, bytes)
select 'bench', date_trunc('hour', now()) - g * interval '1 hour', 1000 from generate_series(1, 719) as g
"""
ENDPOINT = """
insert into livewell_private.endpoint (name, provider, requests_per_minute, concurrent, depth_limit)
values ($1, 'bench', 1000000000, 1000000000, null)
"""
EVERY_LIMIT = (
    "update livewell_private.endpoint"
    " set requests_per_hour = 1000000000, tokens_per_minute = 2000000000, tokens_per_hour = 2000000000"
)
LIMIT_USE = "insert into livewell_private.limit_use (name) values ($1)"
# Priorities spread over the endpoints as viewers are: at random, the same in every run.
ENQUEUE = """
select count(*) from livewell.enqueue_jobs((
    select jsonb_agg(jsonb_build_object(
        'kind', 'noop', 'payload', jsonb_build_object('i', i), 'priority', abs(hashint8(i)) % 50,
        'dedupe_key', 'noop/' || i, 'endpoint', case when $1 then 'bench/e' || i % 10 end,
        'serial_key', case when $2 then 'bench/' || i end
    ))
    from generate_series($3::bigint, $4::bigint) as i
))
"""


async def bars(context: Context) -> list[Bar]:
    return [*await _drains(context), *await _blocked(context)]


async def make_endpoints(queue: Queue, names: Sequence[str]) -> None:
    for statement in (PROVIDER, QUOTA_USE, LEDGER):
        await queue.other.execute(statement)
    for name in names:
        await queue.other.execute(ENDPOINT, name)
        await queue.other.execute(LIMIT_USE, name)


async def _drains(context: Context) -> list[Bar]:
    rates: dict[str, list[float]] = {PLAIN: [], DEFAULT: [], TUNED: []}
    for _ in range(3):
        for number, (name, found) in enumerate(rates.items()):
            async with fresh_queue(context, f"budgeted_{number}") as queue:
                await make_endpoints(queue, [f"bench/e{n}" for n in range(ENDPOINTS)])
                if name == TUNED:
                    await queue.other.execute(EVERY_LIMIT)
                found.append(await _drain(queue, budgeted=name != PLAIN, serial=name == DEFAULT))
    medians = {name: statistics.median(found) for name, found in rates.items()}
    for name, values in rates.items():
        context.rows.append(
            {
                "contender": "livewell",
                "measure": f"claim and finish: {name}",
                "median": round(statistics.median(values)),
                "unit": "jobs/s",
                "samples": [round(value) for value in values],
                "sizes": {"jobs": JOBS, "batch": BATCH},
            }
        )
    note = (
        f"{medians[DEFAULT]:,.0f} of {medians[PLAIN]:,.0f} jobs/s; every limit, no serial keys: {medians[TUNED]:,.0f}"
    )
    ratio = medians[DEFAULT] / medians[PLAIN]
    return [Bar(name="budgeted claim and finish / plain", value=ratio, at_least=0.75, note=note)]


async def _drain(queue: Queue, *, budgeted: bool, serial: bool) -> float:
    for start in range(0, JOBS, CHUNK):
        await queue.other.execute(ENQUEUE, budgeted, serial, start, start + CHUNK - 1)
    await queue.tidy()
    await queue.other.execute("checkpoint")
    taken, finishing = 0, None
    started = time.perf_counter()
    while rows := await queue.claim(BATCH):
        taken += len(rows)
        if finishing is not None:
            await finishing
        finishing = asyncio.create_task(queue.finish(rows))
    if finishing is not None:
        await finishing
    took = time.perf_counter() - started
    if taken != JOBS:
        raise RuntimeError(f"claimed {taken} of {JOBS}")
    return JOBS / took


async def _blocked(context: Context) -> list[Bar]:
    """Claims of two queues in turn: one where an endpoint with the best jobs is closed, one without it."""
    async with fresh_queue(context, "open") as normal, fresh_queue(context, "blocked") as blocked:
        for queue in (normal, blocked):
            await make_endpoints(queue, ["bench/open", "bench/closed"])
        await _fill(blocked, "bench/closed", scaled(context, BLOCKED), priority=1_000)
        await blocked.other.execute(
            "update livewell_private.limit_use set next_allowed_at = 'infinity' where name = 'bench/closed'"
        )
        waits: dict[str, list[float]] = {"normal": [], "blocked": []}
        for queue in (normal, blocked):
            await _fill(queue, "bench/open", OTHERS, priority=0)
            await queue.tidy()
        for _ in range(QUICK_SAMPLES if context.quick else FULL_SAMPLES):
            for name, queue in (("normal", normal), ("blocked", blocked)):
                wait, rows = await queue.timed_claim(CLAIM_SIZE)
                if len(rows) != CLAIM_SIZE:
                    raise RuntimeError(f"{name}: claimed {len(rows)} of {CLAIM_SIZE}")
                waits[name].append(wait * 1000)
                await queue.finish(rows)
                await _fill(queue, "bench/open", CLAIM_SIZE, priority=0)
    ratio = statistics.median(waits["blocked"]) / statistics.median(waits["normal"])
    note = f"{scaled(context, BLOCKED):,} jobs of top priority at the closed endpoint"
    return [Bar(name="claim beside a blocked endpoint / without it", value=ratio, at_most=1.5, note=note)]


async def _fill(queue: Queue, endpoint: str, jobs: int, *, priority: int) -> None:
    first = queue.enqueued
    queue.enqueued += jobs
    for start in range(first, first + jobs, CHUNK):
        end = min(start + CHUNK, first + jobs) - 1
        await queue.other.execute(
            """
            select count(*) from livewell.enqueue_jobs((
                select jsonb_agg(jsonb_build_object(
                    'kind', 'noop', 'payload', jsonb_build_object('i', i), 'priority', $1::int, 'endpoint', $2::text
                ))
                from generate_series($3::bigint, $4::bigint) as i
            ))
            """,
            priority,
            endpoint,
            start,
            end,
        )
