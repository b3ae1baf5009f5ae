"""Livewell's limiter as another language would call it: one permit, settled, per call."""

import asyncpg
import uvloop

from benchmarks.limiting import LimiterPlan, grants_per_second, worst_window
from benchmarks.protocol import report, report_version
from benchmarks.solo.queue import migrated
from livewell import __version__

PROVIDER = "insert into livewell_private.provider (name) values ('bench')"
ENDPOINT = """
insert into livewell_private.endpoint (name, provider, requests_per_minute, concurrent)
values ('bench/open', 'bench', 1000000000, null), ('bench/limited', 'bench', $1, null)
"""
USE = "insert into livewell_private.limit_use (name) values ('bench/open'), ('bench/limited')"
ACQUIRE = "select block_id from livewell.acquire_permits($1, 'bench')"
SETTLE = "select livewell.settle_permits($1, '{1}', '{null}', '{null}', '{completed}')"


async def main() -> None:
    plan = LimiterPlan.from_environment()
    await migrated(plan.dsn)
    connection = await asyncpg.connect(plan.dsn)
    report_version(f"livewell {__version__}, asyncpg {asyncpg.__version__}")
    await connection.execute(PROVIDER)
    await connection.execute(ENDPOINT, plan.limit)
    await connection.execute(USE)

    async def granted(endpoint: str) -> bool:
        block = await connection.fetchval(ACQUIRE, endpoint)
        if block is None:
            return False
        await connection.fetchval(SETTLE, block)
        return True

    if plan.rate_seconds:
        report("grants", await grants_per_second(lambda: granted("bench/open"), plan.rate_seconds), "grants/s")
    if plan.window_seconds:
        report("worst_window", await worst_window(lambda: granted("bench/limited"), plan.window_seconds), "grants")
    await connection.close()


if __name__ == "__main__":
    uvloop.run(main())
