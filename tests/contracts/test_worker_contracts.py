"""Contract 19: fetchers run in the worker's own process, on its one pool, and are found rather than listed."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from livewell import Call, Fetcher, Livewell, Model, WorkerOptions
from livewell.kernel import Database, DatabaseOptions, connect
from livewell.simulator import FaultKind, Simulator, SimulatorOptions, symbol_names
from livewell.testing import until
from livewell.worker import Refresher
from livewell.worker.tests.market import Market, market
from livewell.worker.tests.running import running

Proof = Callable[[Market], Awaitable[None]]
NAME = "contract-19"
AT_ONCE, POOL = 30, 4
KEYS = symbol_names(AT_ONCE)
REFRESHING = "livewell.worker.refreshing.Refresher._request"


class Profile(Model):
    """All that this asks of a company."""

    symbol: str


@pytest_asyncio.fixture
async def there(database_url: str, owner: Database) -> AsyncIterator[Market]:
    """An application with a small pool: quotes are declared as data, profiles are fetched by a class of its own."""
    app = Livewell(options=DatabaseOptions(url=database_url, pool_size=POOL, application_name=NAME))
    async with (
        Simulator(SimulatorOptions(symbols=KEYS)) as simulator,
        market(app, owner, simulator) as found,
    ):
        await found.declare()
        yield found


Count = Callable[[], Awaitable[int]]


async def _growth(there: Market, count: Count) -> int:
    """How much more there is while the provider keeps thirty answers to itself than while it keeps one."""
    there.simulator.fault(FaultKind.HANG, "quote")
    await there.owner.execute("update livewell_private.endpoint set call_timeout = '1 minute'")
    async with running(there.app, WorkerOptions(concurrency=AT_ONCE, claim_batch=AT_ONCE)):
        try:
            with_one = await _counted(there, KEYS[:1], count)
            return await _counted(there, KEYS, count) - with_one
        finally:
            await there.simulator.close()


async def _counted(there: Market, keys: list[str], count: Count) -> int:
    """The count while these are fetched."""

    async def under_way() -> bool:
        return there.simulator.log.in_flight == len(keys)

    await there.look_at(keys)
    await until(under_way, f"{len(keys)} calls are under way")
    return await count()


async def _one_pool(there: Market) -> None:
    """Thirty fetches take no more sessions of the database than one, but for those of the pool."""

    async def sessions() -> int:
        asked = (
            "select count(*)::int from pg_stat_activity where (application_name, datname) = ($1, current_database())"
        )
        return int(await there.owner.fetchval(asked, NAME))

    assert await _growth(there, sessions) <= POOL


async def _one_process(there: Market) -> None:
    """Thirty fetches take no process but the worker's."""

    async def processes() -> int:
        return len(_children())

    assert await _growth(there, processes) == 0


def _children() -> set[str]:
    """The processes that this one has started."""
    tasks = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {pid for task in tasks for pid in task.read_text(encoding="ascii").split()}


async def _found_not_listed(there: Market) -> None:
    """A type that no code names is served as soon as it is declared."""
    await there.declare("invented_today", fetch_call={"path": "/quote/{key}", "items": "$[*]", "key": "symbol"})
    async with running(there.app, WorkerOptions(patient=True)):
        await there.look_at(KEYS[:1], "invented_today")
        assert await there.outcome(KEYS[0], "invented_today") == "fetched"


PROOFS = [_one_pool, _one_process, _found_not_listed]


@pytest.mark.parametrize("proof", PROOFS)
async def test_contract_19_fetchers_share_process_and_pool(there: Market, proof: Proof) -> None:
    """Contract 19: the worker runs fetchers in its own process, on one pool."""
    await proof(there)


async def test_contract_19_a_class_runs_where_the_worker_runs(owner_url: str, owner: Database) -> None:
    """Contract 19 for a fetcher in Python: it runs in the worker's process, on the worker's loop."""
    app = Livewell(owner_url)
    ran: list[tuple[int, asyncio.AbstractEventLoop]] = []

    @app.type("profile", endpoint="sim/all", ttl="1 minute", extra="ignore")
    class ProfileFetcher(Fetcher[Profile]):
        key = "symbol"

        async def fetch(self, call: Call) -> Any:
            ran.append((os.getpid(), asyncio.get_running_loop()))
            return await call.get(f"/profile/{call.key}").items("$[*]")

    async with (
        Simulator(SimulatorOptions(symbols=KEYS)) as simulator,
        market(app, owner, simulator) as there,
        running(app),
    ):
        await there.look_at(KEYS[:1], "profile")
        assert await there.outcome(KEYS[0], "profile") == "fetched"
    assert ran == [(os.getpid(), asyncio.get_running_loop())]


def _with_a_session_each(request: Any, url: str) -> Any:
    async def requested(*args: Any) -> Any:
        own = await connect(DatabaseOptions(url=url, application_name=NAME))
        try:
            return await request(*args)
        finally:
            await own.close()

    return requested


def _with_a_process_each(request: Any, _: str) -> Any:
    async def requested(*args: Any) -> Any:
        own = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE)
        try:
            return await request(*args)
        finally:
            own.kill()
            await own.wait()

    return requested


@pytest.mark.parametrize(("mutate", "proof"), [(_with_a_session_each, _one_pool), (_with_a_process_each, _one_process)])
async def test_contract_19_needs_one_pool_and_process(
    there: Market, owner_url: str, mutate: Callable[[Any, str], Any], proof: Proof, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fetch that takes a session or a process of its own is seen."""
    request: Any = vars(Refresher)["_request"]
    monkeypatch.setattr(REFRESHING, mutate(request, owner_url))
    with pytest.raises(AssertionError):
        await proof(there)


async def test_contract_19_needs_discovery(there: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of known names, as a switch is one, leaves what is new unserved."""
    known = {"quote", "profile"}
    monkeypatch.setattr("livewell.fetching.source_book.is_fetched", lambda data_type, _: data_type.name in known)
    monkeypatch.setattr("livewell.worker.tests.market.until", _not_for_long)
    with pytest.raises(AssertionError):
        await _found_not_listed(there)


async def _not_for_long(condition: Callable[[], Awaitable[object]], what: str) -> None:
    """Served is served within a second; nobody waits half a minute for what is to fail."""
    await until(condition, what, within=timedelta(seconds=1))
