"""The whole load through PgBouncer in transaction mode."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from livewell.testing import OwnServer, PgBouncer, pgbouncer_before
from tests.faults.load import BeginRun, Run
from tests.faults.size import Size

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

STATEMENT = timedelta(seconds=2)
# PgBouncer asks a server that refused it once a second, and the statements it held back have their own limit.
BACK = timedelta(seconds=15)


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


@pytest.mark.full
async def test_a_crash_of_the_server_behind_pgbouncer(
    own_server: OwnServer, own_folder: Path, begin_run: BeginRun, size: Size
) -> None:
    """When the server behind the pooler crashes, what the pooler says of it is an outage like any other."""
    folder = own_folder.with_name(f"{own_folder.name}-pooler")
    async with (
        pgbouncer_before(own_server.database_url, folder) as pooler,
        begin_run(owner_url=own_server.owner_url, url=pooler.url) as run,
    ):
        run.terms = replace(run.terms, cut_off_may_lose=True)
        plan: dict[str, Any] = {"pooled": True, "direct_url": pooler.direct_url, "statement_timeout": STATEMENT}
        await run.start_workers(size.workers, **plan)
        await run.start_producer(**plan)
        for _ in size.lasting():
            await run.seen("acknowledged", len(run.events("acknowledged")) + 20)
            await own_server.stop_at_once()
            await own_server.start()
        await run.seen("acknowledged", len(run.events("acknowledged")) + 20, within=BACK)
        await run.passes()
