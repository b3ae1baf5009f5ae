"""One request for several keys costs one, and every request beyond the first of a fetch pays for itself."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from livewell import Livewell
from livewell.budgets import BudgetStore, NotGranted, PermitNotGranted
from livewell.fetching.tests.servers import serve
from livewell.jobs import ClaimedJob, JobId
from livewell.kernel import Database
from livewell.simulator import FaultKind, Limit, Reporting, Simulator, SimulatorOptions, symbol_names
from livewell.testing import make_endpoint, until
from livewell.worker.bundles import Bundle
from livewell.worker.leased_jobs import LeasedJob, LeasedJobs, Stop
from livewell.worker.sending import Permission
from livewell.worker.tests.market import Market, market
from livewell.worker.tests.running import QUICK, outcomes, running

LIMIT = 10


@pytest_asyncio.fixture
async def there(database_url: str, owner: Database) -> AsyncIterator[Market]:
    """A provider that allows ten requests a minute, and an endpoint that keeps to it."""
    options = SimulatorOptions(symbols=200, limits={"quote": Limit(requests=LIMIT, reporting=Reporting.NONE)})
    async with Simulator(options) as simulator, market(Livewell(database_url), owner, simulator) as found:
        await owner.execute(
            "update livewell_private.endpoint set requests_per_minute = $1 where name = 'sim/all'", LIMIT
        )
        await owner.execute(
            "update livewell_private.provider set quota_bytes = 1000000000000, pace = 'none' where name = 'sim'"
        )
        # One user may ask for all of it at once: what is shared among users is not looked at here.
        for name, value in (("freshness.horizon", "1 minute"), ("freshness.asked_per_user", "1000")):
            await owner.execute("select livewell.set_setting($1, $2, 'tests', 'all at once')", name, value)
        yield found


async def _fetched(there: Market) -> int:
    return int(
        await there.owner.fetchval("select count(*) from livewell_private.item where last_outcome = 'fetched'") or 0
    )


def _within_limit(simulator: Simulator) -> None:
    assert simulator.over_limit == 0
    assert simulator.figures()["quote"].worst_window <= LIMIT


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("serial_keys", [True, False], ids=["one at a time", "any"])
async def test_many_keys_are_few_requests(there: Market, workers: int, *, serial_keys: bool) -> None:
    """At ten requests a minute and twenty keys each, 150 keys are refreshed at once, and counted to the byte."""
    await there.owner.execute(
        "update livewell_private.endpoint set serial_keys = $1 where name = 'sim/all'", serial_keys
    )
    await there.declare(keys_per_request=20)
    keys = symbol_names(150)
    async with AsyncExitStack() as stack:
        for _ in range(workers):
            await stack.enter_async_context(running(there.app))
        await there.look_at(keys)

        async def are_fetched() -> bool:
            return await _fetched(there) == len(keys)

        await until(are_fetched, "all keys were fetched")
    await there.simulator.settled()
    _within_limit(there.simulator)
    assert sorted(key for call in there.simulator.calls for key in call.keys) == sorted(keys)
    assert sorted(len(call.keys) for call in there.simulator.calls) == [10] + [20] * 7
    quota = next(quota for quota in await there.app.budgets.quota_states() if quota.provider == "sim")
    assert quota.used_bytes == sum(call.bytes_out for call in there.simulator.calls)
    (state,) = [state for state in await there.app.budgets.budget_state() if state.name == "sim/all"]
    assert state.requests_last_minute == len(there.simulator.calls)
    booked = await there.owner.fetchval("select sum(requests) from livewell_private.quota_hour where provider = 'sim'")
    assert booked == len(there.simulator.calls)


async def test_a_redirect_is_a_request(there: Market) -> None:
    """What leads on costs one request more; who is refused one is fetched again later, and loses no retry."""
    await there.declare()
    there.simulator.fault(FaultKind.REDIRECT_SAME, "quote", count=1000)
    keys = symbol_names(8)

    async def is_used_up() -> bool:
        return len(there.simulator.calls) >= LIMIT

    async with running(there.app, replace(QUICK, concurrency=8)):
        await there.look_at(keys)
        await until(is_used_up, "the minute's requests are used up")
    await there.simulator.settled()
    _within_limit(there.simulator)
    jobs = [await there.job(key) for key in keys]
    assert sum(job["shown_state"] == "completed" for job in jobs) == await _fetched(there)
    put_off = [job for job in jobs if await outcomes(there.app, job["id"]) == ["rescheduled"]]
    assert put_off
    assert {job["failures"] for job in jobs} == {0}
    assert (
        await there.owner.fetchval("select closed_reason from livewell_private.limit_use where name = 'sim/all'")
        is None
    )
    quota = next(quota for quota in await there.app.budgets.quota_states() if quota.provider == "sim")
    assert quota.used_bytes == sum(call.bytes_out for call in there.simulator.calls)


async def test_pages_are_requests(there: Market) -> None:
    """Every page is debited before it is asked for: the provider sees no more of them than its limit allows."""
    fields = {"symbol": {"type": "string"}, "number": {"type": "integer"}}
    call = {"path": "/pages/{key}", "items": "$[*]", "rows": "many", "page": {"parameter": "page", "most": 10}}
    await there.declare("paged", fetch_call=call, fields=fields)
    keys = ["AAPL", "MSFT", "NVDA"]

    async with serve(_page) as server:
        await there.owner.execute("update livewell_private.provider set base_url = $1 where name = 'sim'", server.url)

        async def is_used_up() -> bool:
            return len(server.heads) >= LIMIT

        async with running(there.app):
            await there.look_at(keys, "paged")
            await until(is_used_up, "the minute's requests are used up")
        assert len(server.heads) == LIMIT
    assert {(await there.job(key, "paged"))["failures"] for key in keys} == {0}
    (state,) = [state for state in await there.app.budgets.budget_state() if state.name == "sim/all"]
    assert state.requests_last_minute == LIMIT


class Doors(BudgetStore):
    """Budgets that say `not now` to those who ask for a further request, as often as they are told to."""

    refusals = 0
    asked = 0

    async def further_request(self, endpoint: str, key: str | None, *, patience: float) -> timedelta | NotGranted:
        self.asked += 1
        if self.asked <= self.refusals:
            return NotGranted(reason="requests", retry_after=timedelta(milliseconds=1))
        return await super().further_request(endpoint, key, patience=patience)


async def test_a_further_request_waits_for_its_turn(database: Database, owner: Database) -> None:
    """The first request of a fetch is paid for; the next asks until the budget allows it, or the worker is to stop."""
    await make_endpoint(owner, "p/a", requests_per_minute=1)
    budgets, hurry = Doors(database), asyncio.Event()
    job = _claimed(1, None)._replace(endpoint="p/a")
    permission = Permission([LeasedJob(job, 0.0)], budgets, hurry=hurry)
    await permission()
    assert budgets.asked == 0
    budgets.refusals = 2
    await permission()
    assert budgets.asked == 3
    hurry.set()
    with pytest.raises(PermitNotGranted) as refused:
        await permission()
    assert refused.value.retry_after is not None
    assert refused.value.retry_after > timedelta(seconds=30)


def _page(head: str) -> bytes:
    """Three pages of one row, and an empty one."""
    path, _, number = head.split(" ")[1].partition("?page=")
    key = path.rpartition("/")[2]
    body = f'[{{"symbol": "{key}", "number": {number}}}]' if int(number) <= 3 else "[]"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + body).encode()


def _claimed(number: int, bundle: int | None) -> ClaimedJob:
    job = dict.fromkeys(ClaimedJob._fields) | {"job_id": number, "lease_seconds": 60.0, "bundle": bundle}
    return ClaimedJob(**{**job, "send_within_seconds": 2.0})  # type: ignore[arg-type]


class Requests:
    """Requests that answer when told to, and note what was asked together."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.open = asyncio.Event()
        self.begun = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def __call__(self, members: Sequence[LeasedJob]) -> dict[JobId, Any]:
        self.asked.append([member.job.job_id for member in members])
        self.begun.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return {member.job.job_id: -member.job.job_id for member in members}


def _leased(jobs: LeasedJobs, *bundles: int | None) -> list[LeasedJob]:
    claimed = [_claimed(number, bundle) for number, bundle in enumerate(bundles, 1)]
    jobs.add(claimed, asyncio.get_running_loop().time())
    return list(jobs)


async def test_the_first_asks_for_all() -> None:
    """A bundle makes one request, whoever comes first and however late the last; two bundles make two."""
    requests, (one, two, three, _) = Requests(), _leased(LeasedJobs(1), 7, 7, 8, None)
    requests.open.set()
    assert isinstance(one.bundle, Bundle)
    assert isinstance(three.bundle, Bundle)
    assert await one.bundle.ask(one, requests) == -1
    assert await three.bundle.ask(three, requests) == -3
    assert await one.bundle.ask(two, requests) == -2
    assert requests.asked == [[1, 2], [3]]


async def test_a_member_that_was_stopped_is_not_asked_for() -> None:
    """What was cancelled before the request is left out; what stops waiting after takes nothing from the others."""
    requests, (one, two, three) = Requests(), _leased(LeasedJobs(1), 7, 7, 7)
    one.stop_because(Stop.CANCELLED)
    assert two.bundle is not None
    waiting = [asyncio.create_task(two.bundle.ask(leased, requests)) for leased in (two, three)]
    await requests.begun.wait()
    assert requests.asked == [[2, 3]]
    waiting[0].cancel()
    requests.open.set()
    assert await waiting[1] == -3


async def test_a_request_that_nobody_waits_for_is_cancelled() -> None:
    """When the last of a bundle stops waiting, its request ends."""
    requests, (one, two) = Requests(), _leased(LeasedJobs(1), 7, 7)
    assert one.bundle is not None
    waiting = asyncio.create_task(one.bundle.ask(one, requests))
    await requests.begun.wait()
    two.stop_because(Stop.LOST)
    waiting.cancel()
    async with asyncio.timeout(10):
        await requests.cancelled.wait()


async def test_what_is_under_way_is_neither_late_nor_given_back() -> None:
    """A job whose key was asked for by another of its bundle waits for its slot as long as it takes."""
    jobs, requests = LeasedJobs(1), Requests()
    one, two, other = _leased(jobs, 7, 7, 8)
    requests.open.set()
    assert one.bundle is not None
    assert jobs.take() is one
    await one.bundle.ask(one, requests)
    assert jobs.give_back() == [other]
    assert jobs.waiting == 1
    two.started = other.started = asyncio.get_running_loop().time() + 1000
    assert two.may_start()
    assert not other.may_start()
