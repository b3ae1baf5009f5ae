"""F8, F10, F11, F20: a network that cuts at the worst moment, goes silent, is slow, or loses notifications."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from statistics import median
from typing import Any

import pytest

from livewell.testing import OwnServer, TcpProxy, until
from tests.faults.load import BeginRun, Run
from tests.faults.plan import LEASE, POLL
from tests.faults.rescues import spread
from tests.faults.returns import all_answered, whole_pools
from tests.faults.size import Size

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

STATEMENT = timedelta(seconds=1)
CONNECT = timedelta(seconds=2)
# What the kernel adds to a statement's limit: once for the answer, once for a cancelled statement to be given up.
GRACE = timedelta(seconds=5)
SLACK = timedelta(seconds=1)


@pytest.mark.parametrize(
    "pooled",
    [pytest.param(False, id="one statement", marks=pytest.mark.full), pytest.param(True, id="explicit commit")],
)
async def test_f8_an_unknown_commit_is_asked_again_safely(
    run: Run, tcp_proxy: TcpProxy, size: Size, *, pooled: bool
) -> None:
    """F8: cut after the commit was sent, a producer asks again with the same keys, and each key has one row."""
    await run.start_workers(size.workers)
    await run.owner.execute("select livewell.set_setting('maintenance.enabled', 'true', 'harness')")
    await run.start_producer(url=tcp_proxy.through(run.url), pooled=pooled, mix={"quick": 1, "serial": 1})
    cuts = 0
    for _ in size.lasting():
        await _sprung(tcp_proxy.cut_after("^commit" if pooled else "enqueue_jobs"))
        cuts += 1
        await run.seen("acknowledged", len(run.events("acknowledged")) + 1)
    await run.owner.execute("select livewell.set_setting('maintenance.enabled', 'false', 'harness')")
    await run.passes()
    rows = Counter(job.dedupe_key for job in (await run.snapshot()).jobs)
    offered = {key for event in run.events("offered") for key in event["keys"]}
    run.figures["cuts"] = cuts
    assert rows == dict.fromkeys(offered, 1)
    assert len(run.events("unanswered")) >= cuts


async def _sprung(trap: asyncio.Event) -> None:
    async with asyncio.timeout(20):
        await trap.wait()


async def test_f8_workers_whose_answers_are_lost_do_nothing_twice(run: Run, tcp_proxy: TcpProxy, size: Size) -> None:
    """F8: a claim, a heartbeat or a finish that took effect without an answer leads to no second completion."""
    run.terms = replace(run.terms, cut_off_may_lose=True)
    await run.start_workers(size.workers, url=tcp_proxy.through(run.url))
    await run.start_producer()
    for _ in size.lasting():
        call = run.chance.choice(["claim_jobs", "finish_jobs", "heartbeat_jobs"])
        await _sprung(tcp_proxy.cut_after(call))
        await asyncio.sleep(run.chance.uniform(0, 0.3))
    await run.passes()


@asynccontextmanager
async def _impatient(begin_run: BeginRun, server: OwnServer) -> AsyncIterator[Run]:
    """A run on a server of its own, whose workers may lose what they cannot renew."""
    async with begin_run(owner_url=server.owner_url, url=server.database_url) as run:
        run.terms = replace(run.terms, cut_off_may_lose=True)
        yield run
        bound = (CONNECT + STATEMENT + GRACE + SLACK).total_seconds()
        longest = max((event["seconds"] for event in run.events("call_failed", "call_slow", "unanswered")), default=0.0)
        run.figures["longest call"] = f"{longest:.1f} s"
        assert longest < bound, f"a call took {longest:.1f} s"


async def test_f10_paused_backends_hold_nobody_for_long(own_server: OwnServer, begin_run: BeginRun, size: Size) -> None:
    """F10: backends that stop answering are given up within the limits, and the same processes go on without them."""
    async with _impatient(begin_run, own_server) as run:
        workers = await run.start_workers(size.workers, connect_timeout=CONNECT, statement_timeout=STATEMENT)
        await run.start_producer(connect_timeout=CONNECT, statement_timeout=STATEMENT)
        for _ in size.lasting():
            paused = await _pause_some_backends(run)
            await _until_noticed(run)
            for pid in paused:
                os.kill(pid, signal.SIGCONT)
            await all_answered(run)
        assert run.living() == workers
        await whole_pools(run)
        await run.passes()


async def _pause_some_backends(run: Run) -> list[int]:
    """One idle backend of every process: its next call goes to somebody who does not answer."""
    rows = await run.owner.fetch(
        "select distinct on (application_name) pid from pg_stat_activity"
        " where (application_name like 'worker%' or application_name like 'producer%') and state = 'idle'"
        " and query ~ '(claim|heartbeat|finish|enqueue)_jobs' order by application_name, random()"
    )
    for row in rows:
        os.kill(row["pid"], signal.SIGSTOP)
    return [row["pid"] for row in rows]


async def _until_noticed(run: Run) -> None:
    """Some call failed, and more than a lease has passed."""
    failed = len(run.events("call_failed", "unanswered"))

    async def noticed() -> bool:
        return len(run.events("call_failed", "unanswered")) > failed

    await until(noticed, "a call into silence is given up", within=CONNECT + STATEMENT + GRACE + SLACK)
    await asyncio.sleep((LEASE + SLACK).total_seconds())


@pytest.mark.parametrize(
    "pooled", [pytest.param(False, id="direct"), pytest.param(True, id="pooled", marks=pytest.mark.full)]
)
async def test_f10_a_black_hole_is_survived_without_restart(
    run: Run, tcp_proxy: TcpProxy, size: Size, *, pooled: bool
) -> None:
    """F10: with a network that swallows everything for longer than a lease, calls end, handlers stop, and all go on."""
    run.terms = replace(run.terms, cut_off_may_lose=True)
    url = tcp_proxy.through(run.url)
    plan: dict[str, Any] = {"url": url, "direct_url": url, "pooled": pooled}
    plan |= {"connect_timeout": CONNECT, "statement_timeout": STATEMENT}
    workers = await run.start_workers(size.workers, **plan)
    await run.start_producer(**plan)
    for _ in size.lasting():
        await run.someone_busy()
        tcp_proxy.black_hole()
        await asyncio.sleep((LEASE + SLACK).total_seconds() * run.chance.uniform(0.8, 1.5))
        tcp_proxy.heal()
        await all_answered(run)
    assert run.living() == workers
    await whole_pools(run)
    await run.passes()
    longest = max(event["seconds"] for event in run.events("call_failed", "call_slow", "unanswered"))
    run.figures["longest call"] = f"{longest:.1f} s"
    assert longest < (CONNECT + STATEMENT + GRACE + SLACK).total_seconds()


async def test_f11_a_slow_database_causes_no_rescue(run: Run, tcp_proxy: TcpProxy, size: Size) -> None:
    """F11: with 200 ms ± 100 ms each way heartbeats arrive in time, and no job is taken from its worker."""
    await run.start_workers(size.workers, url=tcp_proxy.through(run.url))
    await run.start_producer(rate=8)
    tcp_proxy.delay(timedelta(milliseconds=200), jitter=timedelta(milliseconds=100), seed=int(run.seed, 16))
    for _ in size.lasting():
        await run.enqueue("slow", {"seconds": 4})
        await asyncio.sleep(1)
    await run.passes()
    assert run.figures["rescues"] == 0


async def test_f20_lost_notifications_cost_one_poll(run: Run, tcp_proxy: TcpProxy, size: Size) -> None:
    """F20: without its listening connection an idle worker still starts a job within its poll interval."""
    await run.start_workers(1, direct_url=tcp_proxy.through(run.url))
    heard = await _latencies(run, size)
    tcp_proxy.black_hole()
    tcp_proxy.cut()
    unheard = await _latencies(run, size)
    run.figures |= {"seconds to start, heard": spread(heard), "unheard": spread(unheard)}
    await run.passes()
    assert median(heard) < POLL.total_seconds() / 4
    assert median(unheard) > POLL.total_seconds() / 10, "somebody told the worker after all"
    assert max(unheard) < (POLL + SLACK / 2).total_seconds()


async def _latencies(run: Run, size: Size) -> list[float]:
    """How long single jobs wait for a worker that has been idle for a while."""
    waits = []
    for _ in range(5 if size.name == "short" else 40):
        # The first rests of an idle worker are shorter than its poll interval.
        await asyncio.sleep(POLL.total_seconds() * run.chance.uniform(1, 1.5))
        (job,) = await run.enqueue("quick", {"seconds": 0})
        done = await run.seen("started", len(run.events("started")) + (not _started(run, job)))
        queued_at = next(event.at for event in run.events("acknowledged") if event["job"] == job)
        waits += [event.at - queued_at for event in done if event["job"] == job]
    return waits


def _started(run: Run, job: int) -> bool:
    return any(event["job"] == job for event in run.events("started"))
