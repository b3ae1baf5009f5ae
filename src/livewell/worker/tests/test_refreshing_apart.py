"""Refreshes around their requests: what is not sent costs nothing, what cannot be looked up is asked for without."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from prometheus_client import REGISTRY

from livewell import Livewell
from livewell.fetching import Condition, FetchStore
from livewell.kernel import Database, DatabaseUnavailable
from livewell.simulator import FaultKind, Simulator, SimulatorOptions, SteppedClock, symbol_names
from livewell.testing import captured_logs, until
from livewell.worker import Refresher
from livewell.worker.tests.market import Market, market
from livewell.worker.tests.running import outcomes, running

KEYS = symbol_names(3)


@pytest_asyncio.fixture
async def there(database_url: str, owner: Database) -> AsyncIterator[Market]:
    """A provider whose data stands still."""
    clock = SteppedClock(datetime(2026, 11, 16, 12, tzinfo=UTC))
    async with (
        Simulator(SimulatorOptions(symbols=10), clock=clock) as simulator,
        market(Livewell(database_url), owner, simulator) as found,
    ):
        yield found


@pytest.fixture
def too_late(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The first time that several keys are gathered, the permit of the last of them runs out; how many they were."""
    gathered: list[int] = []
    request: Any = vars(Refresher)["_request"]

    async def requested(self: Refresher, source: Any, first: Any, jobs: Sequence[Any]) -> Any:
        if len(jobs) > 1 and not gathered:
            gathered.append(len(jobs))
            jobs[-1].send_by = 0.0
        return await request(self, source, first, jobs)

    monkeypatch.setattr(Refresher, "_request", requested)
    return gathered


async def test_what_was_gathered_and_not_sent_costs_nothing(there: Market, too_late: list[int]) -> None:
    """When one of several may no longer be sent, all go back at the cost of no retry, request or byte."""
    await there.owner.execute("update livewell_private.provider set quota_bytes = 1000000000, pace = 'none'")
    await there.declare(keys_per_request=20)
    async with running(there.app):
        await there.look_at(KEYS)
        assert [await there.outcome(key) for key in KEYS] == ["fetched"] * len(KEYS)
    jobs = [await there.job(key) for key in KEYS]
    tried = [await outcomes(there.app, job["id"]) for job in jobs]
    assert sum(outcomes_of_job == ["reset", "completed"] for outcomes_of_job in tried) == too_late[0] > 1
    assert {job["failures"] for job in jobs} == {0}
    await there.simulator.settled()
    ledger = await there.owner.fetchrow("select sum(requests)::int, sum(bytes)::int from livewell_private.quota_hour")
    assert ledger is not None
    calls = there.simulator.calls
    assert tuple(ledger) == (len(calls), sum(call.bytes_out for call in calls))


async def test_without_conditions_it_is_asked_all_the_same(there: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    """When what the last answer was marked with cannot be looked up, the key is asked for as if nothing were there."""
    await there.declare(ttl=timedelta(seconds=1))

    async def unavailable(*_: object) -> dict[int, Condition]:
        raise DatabaseUnavailable("it is away", fix="wait")

    async def asked_again() -> bool:
        return len(there.simulator.calls) > 1

    with captured_logs() as logs:
        async with running(there.app):
            await there.look_at(KEYS[:1])
            assert await there.outcome(KEYS[0]) == "fetched"
            monkeypatch.setattr(FetchStore, "fetch_conditions", unavailable)
            await until(asked_again, "the key is asked for again")
    first, second, *_ = there.simulator.calls
    assert (first.status, second.status) == (200, 200)
    assert (await there.item(KEYS[0]))["last_outcome"] == "unchanged"
    assert "conditions_not_read" in {line["event"] for line in logs}


async def test_refreshes_are_seen(there: Market) -> None:
    """A worker counts and times what it fetched and stored, and its log says which key was refused and why."""
    await there.declare("seen")
    there.simulator.fault(FaultKind.EMPTY, "quote", keys=frozenset(KEYS[1:2]))
    stores = REGISTRY.get_sample_value("livewell_store_seconds_count") or 0.0
    with captured_logs() as logs:
        async with running(there.app):
            await there.look_at(KEYS[:2], "seen")
            assert [await there.outcome(key, "seen") for key in KEYS[:2]] == ["fetched", "refused"]
    assert _sample("livewell_refreshes_total", outcome="fetched") == 1
    assert _sample("livewell_refreshes_total", outcome="refused") >= 1
    assert _sample("livewell_fetch_seconds_count") == len(there.simulator.calls)
    assert _sample("livewell_refresh_bytes_total") == sum(call.bytes_out for call in there.simulator.calls)
    assert (REGISTRY.get_sample_value("livewell_store_seconds_count") or 0.0) > stores
    line = next(line for line in logs if line["event"] == "refresh_refused")
    job = await there.job(KEYS[1], "seen")
    assert (line["job_id"], line["data_type"], line["key"], line["reason"]) == (job["id"], "seen", KEYS[1], "empty")


def _sample(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, {"data_type": "seen", **labels}) or 0.0
