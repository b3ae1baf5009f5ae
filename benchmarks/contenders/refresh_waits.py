"""How long a refresh takes from the time it is due, one at a time, on a system that does nothing else.

The worker knows when the next one is due and sleeps until then; the other end is the notice of the change, which comes
with the commit that stores it. What a claim and a finish of one refresh take alone is measured in the same process.
"""

import asyncio
import json
import os
import random
import statistics
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import asyncpg
import uvloop
from pydantic_core import to_json

from benchmarks.protocol import leave, report, report_version
from livewell import Livewell, WorkerOptions, __version__
from livewell.fetching import CHANGES_CHANNEL
from livewell.kernel import configure_logs

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

ENQUEUE = """
select clock_timestamp() from livewell.enqueue_jobs(jsonb_build_array(jsonb_build_object(
    'kind', 'refresh.quote', 'endpoint', 'bench/quote', 'priority', 1, 'dedupe_key', 'refresh/quote/' || $1::text,
    'scheduled_at', $2::timestamptz, 'payload', (
        select jsonb_build_object('type', 'quote', 'key', i.key, 'item', i.id, 'cause', 'stale')
        from livewell_private.item as i
        where i.data_type = 'quote' and i.key = $1
    )
)))
"""
CLAIM = "select job_id, lease_token, payload from livewell.claim_jobs('alone', '{refresh}', 1)"
FINISH = "select count(*) from livewell.store_fetches($1::text::jsonb)"


async def main() -> None:
    configure_logs(level="error")
    plan = json.loads(os.environ["BENCH_PLAN"])
    report_version(f"livewell {__version__}, asyncpg {asyncpg.__version__}")
    watcher = await asyncpg.connect(os.environ["BENCH_DSN"])
    claim, finish = await _alone(watcher, plan["samples"])
    report("claim", claim, "s")
    report("finish", finish, "s")
    app = Livewell(os.environ["BENCH_DSN"])
    async with app:
        worker = asyncio.create_task(app.run_worker(WorkerOptions(concurrency=10)))
        waits = await _waits(worker, watcher, plan["samples"])
        report("p50", statistics.median(waits), "s")
        report("p99", statistics.quantiles(waits, n=100)[98], "s")
        leave()


async def _alone(connection: "Connection", samples: int) -> tuple[float, float]:
    """The medians of claiming one and finishing one, with nobody else there."""
    claims, finishes = [], []
    for number in range(samples + 1):
        await connection.execute(ENQUEUE, f"K{samples + number + 2}", None)
        started = time.perf_counter()
        job = await connection.fetchrow(CLAIM)
        claimed = time.perf_counter()
        assert job is not None  # noqa: S101 - it was queued above
        ended = to_json([_ended(job)]).decode()
        began = time.perf_counter()
        await connection.execute(FINISH, ended)
        claims.append(claimed - started)
        finishes.append(time.perf_counter() - began)
    return statistics.median(claims[1:]), statistics.median(finishes[1:])


def _ended(job: asyncpg.Record) -> dict[str, Any]:
    refresh = json.loads(job["payload"])
    row = {
        "symbol": refresh["key"],
        "price": random.uniform(1, 100),
        "volume": 1,
        "exchange": "XNAS",
        "description": "x" * 900,
        "source_at": datetime.now(UTC),
    }
    return {
        "job": job["job_id"],
        "token": job["lease_token"],
        "item": refresh["item"],
        "type": "quote",
        "key": refresh["key"],
        "outcome": "fetched",
        "rows": [row],
        "hash": os.urandom(32).hex(),
        "bytes": 1_100,
    }


async def _waits(worker: "asyncio.Task[int]", watcher: "Connection", samples: int) -> list[float]:
    """From due to told, one after the other; the first only warms up."""
    told: dict[str | None, asyncio.Future[float]] = {}
    # What nobody looks at is not told.
    await watcher.execute("update livewell_private.item set viewers = 1")
    names = {row["id"]: row["key"] for row in await watcher.fetch("select id, key from livewell_private.item")}
    listener = await asyncpg.connect(os.environ["BENCH_DSN"])

    def hear(_connection: object, _pid: int, _channel: str, payload: object) -> None:
        for item, _ in json.loads(str(payload)):
            key = names.get(item)
            if key in told and not told[key].done():
                told[key].set_result(time.time())

    await listener.add_listener(CHANGES_CHANNEL, hear)
    waits = []
    for number in range(samples + 1):
        key = f"K{number + 1}"
        told[key] = asyncio.get_running_loop().create_future()
        due = time.time() + random.uniform(0.1, 0.3)
        await watcher.execute(ENQUEUE, key, datetime.fromtimestamp(due, UTC))
        async with asyncio.timeout(20):
            waits.append(await told[key] - due)
        if worker.done():
            raise RuntimeError(f"the worker ended with {worker.result()}")
    return waits[1:]


if __name__ == "__main__":
    uvloop.run(main())
