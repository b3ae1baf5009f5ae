"""A second signal: everything stops at once, and what was leased is given back while the database can be told."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from livewell import JobContext, Livewell
from livewell.jobs import JobId
from livewell.kernel import Database
from livewell.testing import TcpProxy, captured_logs, make_endpoint, until
from livewell.worker.tests.running import QUICK, outcomes, until_state

PATIENCE = 20


@dataclass
class Stage:
    """An application whose handlers wait until they are stopped, and what became of them."""

    app: Livewell
    begun: list[int] = field(default_factory=list)
    stopped: list[int] = field(default_factory=list)
    may_end: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self, job: dict[str, Any], ctx: JobContext) -> None:
        del job
        self.begun.append(ctx.job_id)
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.append(ctx.job_id)

    async def done(self, job: dict[str, Any]) -> None:
        del job
        await self.may_end.wait()

    async def is_stopped(self) -> bool:
        return bool(self.begun) and sorted(self.stopped) == sorted(self.begun)


@asynccontextmanager
async def _stage(url: str) -> AsyncIterator[Stage]:
    app = Livewell(url)
    stage = Stage(app)
    app.job("wait")(stage.wait)
    app.job("done")(stage.done)
    async with app:
        yield stage


async def _has_begun(stage: Stage, jobs: int) -> bool:
    return len(stage.begun) == jobs


async def _begin(stage: Stage, jobs: int) -> "tuple[asyncio.Task[int], list[JobId]]":
    """A worker of four slots with so many jobs that wait."""
    service, worker = await stage.app.service(QUICK)
    serving = asyncio.create_task(service.run())
    await worker.started.wait()
    ids = [(await stage.app.enqueue("wait", {"n": n})).job_id for n in range(jobs)]

    await until(lambda: _has_begun(stage, min(jobs, 4)), "its slots are taken")
    return serving, ids


async def _interrupt_twice() -> None:
    """The first signal drains, which these handlers do not let end; the second cuts."""
    with captured_logs() as logs:

        async def is_draining() -> bool:
            return any(line["event"] == "service_draining" for line in logs)

        os.kill(os.getpid(), signal.SIGINT)
        await until(is_draining, "it drains")
    os.kill(os.getpid(), signal.SIGINT)


async def _ended(serving: "asyncio.Task[int]", stage: Stage) -> int:
    async with asyncio.timeout(PATIENCE):
        code = await serving
    assert sorted(stage.stopped) == sorted(stage.begun)
    return code


async def test_a_second_signal_gives_leases_back(database_url: str, owner: Database) -> None:
    """What ran is stopped and ready again at once, at no cost of a retry, and the worker is not listed any more."""
    async with _stage(database_url) as stage:
        serving, ids = await _begin(stage, 6)
        await _interrupt_twice()
        assert await _ended(serving, stage) == 128 + signal.SIGINT
        rows = await owner.fetch("select state, failures, lease_token, worker from livewell_private.job_live")
        assert [tuple(row) for row in rows] == [("pending", 0, None, None)] * 6
        assert [await outcomes(stage.app, job) for job in stage.begun] == [["reset"]] * 4
        assert await owner.fetch("select from livewell_private.worker") == []
        again = await owner.fetch("select job_id from livewell.claim_jobs('other', '{general}', 10)")
        assert sorted(row["job_id"] for row in again) == sorted(ids)


async def test_what_had_ended_stays_ended(database_url: str, owner: Database) -> None:
    """An outcome that was on its way is told, not given back: what was done is not done again."""
    async with _stage(database_url) as stage:
        serving, _ = await _begin(stage, 1)
        done = (await stage.app.enqueue("done", {"n": 1})).job_id
        await until_state(stage.app, done, "processing")
        async with owner.transaction() as holding:
            await holding.execute("select from livewell_private.job_live where id = $1 for update", done)
            stage.may_end.set()
            await until(partial(_is_anybody_blocked, owner), "its outcome is on its way")
            await _interrupt_twice()
            await until(stage.is_stopped, "its handlers were stopped")
        await _ended(serving, stage)
        assert (await stage.app.jobs.show_job(done))["state"] == "completed"


async def _is_anybody_blocked(owner: Database) -> bool:
    waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    return bool(await owner.fetchval(waiting))


async def test_a_call_that_was_not_sent_costs_nothing(database_url: str, owner: Database) -> None:
    """What waited for a slot with a permit to call gives both back."""
    await make_endpoint(owner, "sim/all")
    async with _stage(database_url) as stage:
        service, worker = await stage.app.service(QUICK)
        await owner.execute(
            "select livewell.enqueue_jobs(jsonb_agg(jsonb_build_object("
            "'kind', 'wait', 'endpoint', 'sim/all', 'payload', jsonb_build_object('n', n))))"
            " from generate_series(1, 9) as n"
        )
        serving = asyncio.create_task(service.run())
        await worker.started.wait()
        await until(lambda: _has_begun(stage, 4), "its slots are taken")
        await _interrupt_twice()
        await _ended(serving, stage)
        assert await owner.fetchval("select count(*) from livewell_private.job_live where state = 'pending'") == 9
        (state,) = [state for state in await stage.app.budgets.budget_state() if state.name == "sim/all"]
        assert (state.in_flight, state.requests_last_minute) == (0, 4)


async def test_a_silent_database_is_not_waited_for(database_url: str, owner: Database, tcp_proxy: TcpProxy) -> None:
    """When the database does not answer, the worker ends all the same, soon; its leases run out."""
    async with _stage(tcp_proxy.through(database_url)) as stage:
        serving, ids = await _begin(stage, 2)
        tcp_proxy.black_hole()
        began = asyncio.get_running_loop().time()
        await _interrupt_twice()
        await _ended(serving, stage)
        assert asyncio.get_running_loop().time() - began < PATIENCE
        rows = await owner.fetch("select id from livewell_private.job_live where state = 'processing'")
        assert sorted(row["id"] for row in rows) == sorted(ids)
        tcp_proxy.cut()
