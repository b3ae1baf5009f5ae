"""F14, F22: locks that cross, rows everybody wants, and a pool that is too small."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from tests.faults.beside import beside
from tests.faults.load import MIX, Run
from tests.faults.plan import LONGEST_JOB
from tests.faults.rescues import rescued_in_time
from tests.faults.size import Size

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

CONTENDED_RETRIES = 60


async def test_f14_contention_is_nobodys_failure(run: Run, size: Size) -> None:
    """F14: deadlocks and serialization failures are tried again, within bounds; none is told, none costs a retry."""
    await _make_hot_rows(run)
    await run.start_workers(size.workers)
    await run.start_producer(rate=10, mix={"crossing": 3, "serializable": 3, "quick": 1})
    for _ in range(2):
        await run.start_producer(rate=100, mix={"slow": 1, "serial": 1}, hot_keys=12)
    async with beside(_cancel_jobs(run)):
        for _ in size.lasting():
            await asyncio.sleep(0.5)
    await run.passes(within=2 * timedelta(seconds=10))
    snapshot = await run.snapshot()
    outcomes = Counter((row.outcome) for row in snapshot.attempts)
    attempts = max(job.attempt for job in snapshot.jobs)
    deadlocks = await run.owner.fetchval("select deadlocks from pg_stat_database where datname = current_database()")
    run.figures |= {"deadlocks": deadlocks, "attempts reset": outcomes["reset"], "most attempts of a job": attempts}
    assert outcomes["reset"] > 0
    assert outcomes["failed"] == 0
    assert {(job.state, job.failures) for job in snapshot.jobs} <= {("completed", 0), ("cancelled", 0)}
    assert attempts < CONTENDED_RETRIES
    assert run.events("unanswered") == []
    assert run.events("call_failed") == []


async def _make_hot_rows(run: Run) -> None:
    await run.owner.execute(
        "create table public.hot (id integer primary key, n integer not null);"
        " insert into public.hot select i, 0 from generate_series(1, 6) as i;"
        " grant select, update on public.hot to livewell_service"
    )
    name = await run.owner.fetchval("select quote_ident(current_database())")
    await run.owner.execute(f"alter database {name} set deadlock_timeout = '50ms'")


async def _cancel_jobs(run: Run) -> None:
    """Cancel jobs in batches, in an order of one's own, while they are being finished."""
    while True:
        ids = [event["job"] for event in run.events("acknowledged")[-40:]]
        chosen = run.chance.sample(ids, min(len(ids), 10))
        await run.owner.fetch("select * from livewell.cancel_jobs($1, 'harness', 'harness')", chosen)
        await asyncio.sleep(0.05)


async def test_f22_an_exhausted_pool_stops_no_heartbeat(run: Run, size: Size) -> None:
    """F22: with both connections of the pool taken by handlers leases are renewed, and jobs of the dead rescued."""
    await run.start_workers(size.workers, pool_size=2)
    await run.start_producer(rate=10, mix={**MIX, "greedy": 1})
    for _ in size.lasting():
        await run.enqueue("greedy", *[{"seconds": LONGEST_JOB.total_seconds()}] * 3 * size.workers, priority=10)
        victim = await run.someone_busy()
        await run.kill(victim)
        await run.start_workers(1, pool_size=2)
    await run.passes(within=timedelta(seconds=60))
    greedy = [job for job in (await run.snapshot()).jobs if job.kind == "greedy"]
    run.figures["greedy jobs"] = len(greedy)
    await rescued_in_time(run)
