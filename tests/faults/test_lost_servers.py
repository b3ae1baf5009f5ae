"""F4, F5, F6: a database whose backends are cut, that is stopped at once, or whose postmaster is killed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest
import pytest_asyncio

from livewell.testing import OwnServer
from tests.faults.load import BeginRun, Run
from tests.faults.rescues import spread
from tests.faults.returns import seconds_until_back, started_again, whole_pools
from tests.faults.size import Size

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

RECONNECT = 5.0


@pytest_asyncio.fixture
async def own_run(own_server: OwnServer, begin_run: BeginRun) -> AsyncIterator[Run]:
    """A run on a server of its own, whose workers may lose what they cannot renew."""
    async with begin_run(owner_url=own_server.owner_url, url=own_server.database_url) as run:
        run.terms = replace(run.terms, cut_off_may_lose=True)
        yield run


async def test_f4_terminated_backends_leave_no_trace(run: Run, size: Size) -> None:
    """F4: with backends terminated all the time nothing is lost, and no slot of a pool stays taken."""
    run.terms = replace(run.terms, cut_off_may_lose=True)
    await run.start_workers(size.workers)
    await run.start_producer()
    cut = 0
    for _ in size.lasting():
        cut += await run.owner.fetchval(
            "select count(pg_terminate_backend(pid)) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid() and random() < 0.3"
            " and (application_name like 'worker%' or application_name like 'producer%')"
        )
        await asyncio.sleep(run.chance.uniform(0.1, 0.5))
    await whole_pools(run)
    run.figures["backends terminated"] = cut
    await run.passes()


async def test_f5_a_server_stopped_at_once_loses_nothing(own_run: Run, own_server: OwnServer, size: Size) -> None:
    """F5: a server stopped as by a crash and started again: what was acknowledged is there, all are back in 5 s."""
    await _suffer(own_run, size, own_server.stop_at_once, own_server)


async def test_f6_a_killed_postmaster_loses_nothing(own_run: Run, own_server: OwnServer, size: Size) -> None:
    """F6: as F5, with the postmaster killed by -9 and its backends left to find out."""
    await _suffer(own_run, size, own_server.kill, own_server)


async def _suffer(run: Run, size: Size, take_down: Callable[[], Awaitable[None]], server: OwnServer) -> None:
    await run.start_workers(size.workers)
    await run.start_producer()
    waits: list[float] = []
    for _ in size.lasting():
        await run.seen("acknowledged", len(run.events("acknowledged")) + 20)
        run.book.note("server_down")
        await take_down()
        await asyncio.sleep(run.chance.uniform(0, size.longest_outage))
        await started_again(server)
        run.book.note("server_up")
        waits += await seconds_until_back(run)
    run.figures["reconnected after, seconds"] = spread(waits)
    await run.passes()
    assert max(waits) < RECONNECT
