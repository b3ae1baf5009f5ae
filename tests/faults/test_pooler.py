"""The whole load through PgBouncer in transaction mode."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from livewell.testing import PgBouncer
from tests.faults.load import Run
from tests.faults.size import Size

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]


@pytest.mark.parametrize("listening", [True, False], ids=["LISTEN on a direct connection", "polling alone"])
async def test_the_load_behind_pgbouncer(run: Run, pgbouncer: PgBouncer, size: Size, *, listening: bool) -> None:
    """Behind a pooler in transaction mode, with workers killed and its connections cut, all invariants hold."""
    run.terms = replace(run.terms, cut_off_may_lose=True)
    plan: dict[str, Any] = {
        "url": pgbouncer.url,
        "pooled": True,
        "direct_url": pgbouncer.direct_url if listening else None,
    }
    await run.start_workers(size.workers, **plan)
    await run.start_producer(**plan)
    for _ in size.lasting():
        await asyncio.sleep(run.chance.uniform(1, 3))
        await run.kill(await run.someone_busy())
        await run.start_worker(**plan)
        await run.owner.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
            " and usename like '%service%' and random() < 0.3"
        )
        await run.at_work(run.living())
    await run.passes()
