"""F7: the primary's node dies under load, Patroni makes the synchronous standby the primary, and all find it."""

import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
import pytest_asyncio

from livewell.testing import PatroniCluster, until
from tests.faults.load import BeginRun, Run
from tests.faults.plan import LEASE, LONGEST_JOB
from tests.faults.rescues import spread
from tests.faults.returns import seconds_until_back, whole_pools
from tests.faults.size import Size

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

BACK = timedelta(seconds=60)


@pytest_asyncio.fixture
async def clustered_run(failover_cluster: PatroniCluster, begin_run: BeginRun) -> AsyncIterator[Run]:
    """A run whose every connection has to find the primary; workers may lose what they cannot renew."""
    async with begin_run(owner_url=failover_cluster.owner_url, url=failover_cluster.database_url) as run:
        run.terms = replace(run.terms, cut_off_may_lose=True)
        yield run


async def test_f7_a_failover_to_the_synchronous_standby_loses_nothing(
    clustered_run: Run, failover_cluster: PatroniCluster, size: Size
) -> None:
    """F7: nothing acknowledged is lost, old leases are fenced, and the same processes go on with the new primary."""
    run = clustered_run
    workers = await run.start_workers(size.workers)
    await run.start_producer()
    gone, waits = [], []
    for _ in size.lasting():
        gone.append(await _fail_over(run, failover_cluster))
        waits += await seconds_until_back(run, within=BACK)
        await _all_listen(run, times=len(gone) + 1)
    assert run.living() == workers
    await whole_pools(run)
    run.figures |= {"failovers": len(gone), "without a primary, seconds": spread(gone), "then back": spread(waits)}
    await run.passes()
    assert run.figures["rescues"] > 0, "no lease outlived its primary: nothing had to be fenced"
    await failover_cluster.whole()


async def _fail_over(run: Run, cluster: PatroniCluster) -> float:
    """Kill the primary's node, which has a standby, while long jobs run; start it again; the seconds without one."""
    await cluster.whole()
    await run.seen("acknowledged", len(run.events("acknowledged")) + 20)
    held = len(run.events("started"))
    await run.enqueue("slow", *[{"seconds": LONGEST_JOB.total_seconds()}] * len(run.living()))
    await run.seen("started", held + len(run.living()))
    old = await cluster.primary()
    run.book.note("server_down")
    old.kill()
    assert await cluster.primary() is not old
    run.book.note("server_up")
    old.start()
    (down, up) = run.events("server_down", "server_up")[-2:]
    return up.at - down.at


async def _all_listen(run: Run, *, times: int) -> None:
    """Every worker's listener has been connected so many times."""

    async def heard() -> bool:
        return all(run.log_of(member.name).count('"listener_connected"') >= times for member in run.living())

    await until(heard, "every listener has found the new primary", within=BACK)


async def test_f7_a_standby_that_is_behind_loses_what_was_acknowledged(
    clustered_run: Run, failover_cluster: PatroniCluster
) -> None:
    """F7, judged: a primary that answers before its standby has it loses jobs in a failover: I1."""
    run = clustered_run
    await run.start_workers(1)
    await failover_cluster.configure(synchronous_mode=False)
    await failover_cluster.whole("replica")
    old = await failover_cluster.primary()
    sender = await run.owner.fetchval("select pid from pg_stat_replication")
    os.kill(sender, signal.SIGSTOP)
    await run.start_producer(rate=200, mix={"quick": 1})
    await run.seen("acknowledged", 50)
    old.kill(sender)
    assert await failover_cluster.primary() is not old
    assert "I1" in {violation.invariant for violation in await run.settle(within=LEASE)}
