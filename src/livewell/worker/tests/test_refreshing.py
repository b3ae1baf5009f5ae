"""Refreshes from a viewer to the stored row, over real HTTP, with a provider that does everything wrong."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio

from livewell import Call, Fetcher, Livewell, Model, bounded
from livewell.fetching import Client, Memory
from livewell.freshness import ExplainedItem
from livewell.kernel import Database, list_warnings
from livewell.simulator import FaultKind, Limit, Simulator, SimulatorOptions, SteppedClock, symbol_names
from livewell.testing import make_key, until
from livewell.worker.tests.market import QUOTE_CALL, Market, market
from livewell.worker.tests.running import outcomes, running

SECOND = timedelta(seconds=1)
F = FaultKind
FETCHED: set[FaultKind] = {F.NO_LENGTH, F.CHUNKED, F.REDIRECT_SAME, F.EXTRA_FIELD, F.OLD_DATA}
GONE: set[FaultKind] = {F.NOT_FOUND, F.GONE}
THROTTLED: set[FaultKind] = {
    *(F.THROTTLED, F.THROTTLED_SECONDS, F.THROTTLED_DATE, F.THROTTLED_RESET, F.THROTTLED_RATELIMIT),
}
FAILED: set[FaultKind] = {
    *(F.SLOW, F.DRIP, F.HANG, F.HANG_IN_BODY, F.RESET, F.RESET_IN_BODY, F.ERROR_500, F.ERROR_502, F.ERROR_503),
    *(F.UNAUTHORIZED, F.LENGTH_TOO_LONG),
    *(fault for fault in F if fault.name.startswith("REDIRECT") and fault is not F.REDIRECT_SAME),
}
REFUSED: set[FaultKind] = set(F) - FETCHED - GONE - THROTTLED - FAILED


@pytest_asyncio.fixture
async def there(database_url: str, owner: Database) -> AsyncIterator[Market]:
    async with (
        Simulator(SimulatorOptions(symbols=200)) as simulator,
        market(Livewell(database_url), owner, simulator) as found,
    ):
        yield found


def _written(owner_url: str) -> Livewell:
    """An application that fetches quotes by a class of its own."""
    app = Livewell(owner_url)

    class Quote(Model):
        symbol: str
        price: float = bounded(gt=0, lt=1_000_000_000)
        volume: int = bounded(ge=0)

    @app.type("quote", endpoint="sim/all", ttl="1 minute", extra="ignore")
    class QuoteFetcher(Fetcher[Quote]):
        key = "symbol"

        async def fetch(self, call: Call) -> Any:
            return await call.get(f"/quote/{call.key}").items("$[*]")

    return app


async def _befall(there: Market, fault: FaultKind, key: str) -> None:
    """Let a fault befall the first refresh of a key, and look at what it came to."""
    there.simulator.clear_faults()
    there.simulator.fault(fault, "quote")
    await there.look_at([key])
    if fault in THROTTLED:
        job = await _until_tried(there, key)
        assert await outcomes(there.app, job["id"]) == ["rescheduled"], fault
        assert (job["failures"], await there.value(key)) == (0, None), fault
        await there.app.jobs.cancel_jobs([job["id"]], reason=None, actor="tests")
        await there.owner.execute("select livewell.reset_endpoint('sim/all')")
        return
    outcome = await there.outcome(key)
    expected: dict[str, set[FaultKind]] = {"fetched": FETCHED, "gone": GONE, "failed": FAILED, "refused": REFUSED}
    assert fault in expected[outcome], f"{fault} was {outcome}"
    job = await there.job(key)
    assert (await there.value(key) is not None) == (fault in FETCHED), fault
    if fault in FETCHED | GONE:
        assert (job["shown_state"], job["failures"]) == ("completed", 0), fault
    else:
        assert (job["shown_state"], job["failures"]) == ("retrying", 1), fault


async def _until_tried(there: Market, key: str) -> dict[str, Any]:
    async def is_tried() -> bool:
        job = await there.job(key)
        return bool(job) and bool(await there.app.jobs.list_attempts(job["id"]))

    await until(is_tried, f"{key} was tried")
    return await there.job(key)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("written", [False, True], ids=["declared", "python"])
async def test_every_fault_has_its_outcome(owner_url: str, owner: Database, *, written: bool) -> None:
    """Each lie, lag and failure of a provider: the right outcome, nothing bad stored, nothing left in flight."""
    app = _written(owner_url) if written else Livewell(owner_url)
    keys = iter(symbol_names(200))
    async with Simulator(SimulatorOptions(symbols=200)) as simulator, market(app, owner, simulator) as there:
        if not written:
            await there.declare()
        await owner.execute("update livewell_private.provider set quota_bytes = 1024::bigint ^ 4 where name = 'sim'")
        async with running(app):
            for fault in FaultKind:
                await _befall(there, fault, next(keys))
        assert {state.in_flight for state in await app.budgets.budget_state()} == {0}
        warned = {warning.code: warning.warnings for warning in await list_warnings(owner, code="fetching")}
        assert warned["fetching.refused"] >= len(REFUSED)
        assert warned["fetching.content_length_missing"] > 0


async def test_keys_asked_for_together_go_together(there: Market) -> None:
    """Where a type allows several keys a request, those of one moment share one; each is stored by itself."""
    await there.declare(keys_per_request=20)
    keys = symbol_names(7)
    async with running(there.app):
        await there.look_at(keys)
        assert [await there.outcome(key) for key in keys] == ["fetched"] * 7
    assert max(len(call.keys) for call in there.simulator.calls) > 1
    assert len(there.simulator.calls) < len(keys)
    assert [(await there.value(key))["symbol"] for key in keys] == keys


async def test_memory_is_given_back_with_what_was_stored(
    database_url: str, owner: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer has its memory until it is stored, and not for longer: a worker that waits for work holds none."""
    memory = Memory()
    monkeypatch.setattr("livewell.app.Client", lambda: Client(memory=memory))

    async def nothing_is_held() -> bool:
        return memory.held == 0

    async with Simulator() as simulator, market(Livewell(database_url), owner, simulator) as there:
        await there.declare()
        keys = symbol_names(6)
        async with running(there.app):
            await there.look_at(keys)
            assert [await there.outcome(key) for key in keys] == ["fetched"] * 6
            await until(nothing_is_held, "all memory is free again")


async def test_one_bad_row_is_one_key(there: Market) -> None:
    """Of an answer for several keys the good ones are stored, and the bad one is refused alone."""
    await there.declare(keys_per_request=20)
    keys = symbol_names(4)
    there.simulator.fault(FaultKind.BAD_ROW, "quote", count=1)
    async with running(there.app):
        await there.look_at(keys)
        found = [await there.outcome(key) for key in keys]
    assert sorted(set(found)) in (["fetched", "refused"], ["fetched"])
    assert found.count("refused") == 1
    assert [await there.value(key) is not None for key in keys] == [outcome == "fetched" for outcome in found]


async def test_what_has_not_changed_is_asked_for_conditionally(database_url: str, owner: Database) -> None:
    """The second request says what the first answer was marked with; a 304 moves the timestamp and costs few bytes."""
    clock = SteppedClock(datetime(2026, 11, 16, 12, tzinfo=UTC))
    async with (
        Simulator(SimulatorOptions(symbols=10), clock=clock) as simulator,
        market(Livewell(database_url), owner, simulator) as there,
    ):
        await there.declare(ttl=SECOND)

        async def is_unchanged() -> bool:
            return bool((await there.item("AAPL"))["last_outcome"] == "unchanged")

        async with running(there.app):
            await there.look_at(["AAPL"])
            assert await there.outcome("AAPL") == "fetched"
            await until(is_unchanged, "a fetch that found nothing new")
    first, second, *_ = simulator.calls
    assert (first.status, second.status) == (200, 304)
    assert second.bytes_out < first.bytes_out
    seen = await owner.fetchrow("select fetched_at > first_seen_at as moved from livewell_private.record")
    assert seen is not None
    assert seen["moved"]


async def test_bytes_are_accounted_as_the_provider_sent_them(there: Market) -> None:
    """What the ledger books is what the provider counted at its socket, to the byte, whatever it answered."""
    await there.owner.execute(
        "update livewell_private.provider set quota_bytes = 1000000000, pace = 'none' where name = 'sim'"
    )
    await there.declare()
    odd = (F.ERROR_500, F.EMPTY, F.CHUNKED, F.NO_LENGTH, F.NOT_FOUND, F.RENAMED_FIELD, F.HTML)
    keys = iter(symbol_names(20))
    async with running(there.app):
        for fault in (None, *odd):
            there.simulator.clear_faults()
            if fault is not None:
                there.simulator.fault(fault, "quote")
            key = next(keys)
            await there.look_at([key])
            await there.outcome(key)
    await there.simulator.settled()
    quota = next(quota for quota in await there.app.budgets.quota_states() if quota.provider == "sim")
    assert quota.used_bytes == sum(call.bytes_out for call in there.simulator.calls)


async def test_a_type_declared_while_a_worker_runs_is_served(there: Market) -> None:
    """Types are data: a worker is told of a new one, and fetches it without a restart."""
    await there.declare("other", fetch_call={**QUOTE_CALL, "path": "/quote/{key}"})
    async with running(there.app):
        await there.declare()
        await there.look_at(["AAPL"])
        assert await there.outcome("AAPL") == "fetched"


async def test_a_limit_is_kept_at_the_provider(database_url: str, owner: Database) -> None:
    """However much is watched, the provider never counts a call too many, and nobody is throttled."""
    options = SimulatorOptions(symbols=60, limits={"quote": Limit(requests=20)})
    async with Simulator(options) as simulator, market(Livewell(database_url), owner, simulator) as there:
        await there.declare()
        await owner.execute("update livewell_private.endpoint set requests_per_minute = 20 where name = 'sim/all'")

        async def is_used_up() -> bool:
            return len(simulator.calls) >= 15

        async with running(there.app):
            await there.look_at(symbol_names(40))
            await until(is_used_up, "most of the minute's calls are used up")
    assert len(simulator.calls) <= 20
    assert simulator.over_limit == 0
    assert {call.status for call in simulator.calls} == {200}


async def _explained(there: Market, key: str) -> ExplainedItem:
    (item,) = await there.app.freshness.explain_item("quote", key)
    return item


async def test_a_key_that_is_not_there_is_said(there: Market) -> None:
    """Without its API key a refresh is not sent; item, warnings and the list of jobs say why, and when it is next."""
    await make_key(there.owner, "sim", "missing_api_key")
    await there.owner.execute("update livewell_private.provider set key_in = 'query:apikey' where name = 'sim'")
    await there.declare()
    (key,) = symbol_names(1)
    async with running(there.app):
        await there.look_at([key])
        assert await there.outcome(key) == "failed"
    assert not there.simulator.calls
    seen = await _explained(there, key)
    why = "no key at env:MISSING_API_KEY: the variable is not set"
    assert seen.last_reason == why
    assert (seen.job_state, seen.job_attempt) == ("retrying", 1)
    assert seen.job_due_at is not None
    assert seen.job_due_at > (seen.last_outcome_at or seen.job_due_at)
    (warned,) = await list_warnings(there.owner, code="fetching.failed")
    assert (warned.subject, warned.warnings) == ("quote", 1)
    assert why in warned.message
    (row,) = await there.app.jobs.list_jobs()
    assert (row["data_type"], row["key"], row["shown_state"]) == ("quote", key, "retrying")
    assert why in row["reason"]


async def test_a_key_that_is_not_accepted_is_said(there: Market) -> None:
    """A provider that does not accept the key: the reason is that of the last attempt, not an outcome without one."""
    await there.declare()
    (key,) = symbol_names(1)
    there.simulator.fault(F.UNAUTHORIZED, "quote")
    async with running(there.app):
        await there.look_at([key])
        assert await there.outcome(key) == "failed"
    assert (await _explained(there, key)).last_reason == "HTTP 401: the API key is not accepted"
    (warned,) = await list_warnings(there.owner, code="fetching.failed")
    assert warned.message == f"{key}: HTTP 401: the API key is not accepted (unauthorized)"
