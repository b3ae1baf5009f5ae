"""pyrate-limiter on its PostgreSQL bucket: a row per call, counted in its window."""

import asyncio
from importlib.metadata import version

from psycopg_pool import ConnectionPool
from pyrate_limiter import Duration, Limiter, PostgresBucket, Rate

from benchmarks.limiting import LimiterPlan, grants_per_second, worst_window
from benchmarks.protocol import report, report_version


async def main() -> None:
    plan = LimiterPlan.from_environment()
    report_version(f"pyrate-limiter {version('pyrate-limiter')}, psycopg {version('psycopg')}")
    with ConnectionPool(plan.dsn, min_size=2, max_size=4, open=True) as pool:
        limiters = {
            name: Limiter(PostgresBucket(pool, name, [Rate(limit, Duration.MINUTE)]))
            for name, limit in (("open", 1_000_000_000), ("limited", plan.limit))
        }

        async def granted(name: str) -> bool:
            return bool(limiters[name].try_acquire("bench", blocking=False))

        if plan.rate_seconds:
            report("grants", await grants_per_second(lambda: granted("open"), plan.rate_seconds), "grants/s")
        if plan.window_seconds:
            report("worst_window", await worst_window(lambda: granted("limited"), plan.window_seconds), "grants")


if __name__ == "__main__":
    asyncio.run(main())
