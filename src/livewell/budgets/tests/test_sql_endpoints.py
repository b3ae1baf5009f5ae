"""Endpoints and providers tuned, paused, resumed and reset by hand, on record."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from livewell.budgets import BudgetStore, InvalidBudget, UnknownEndpoint, UnknownProvider
from livewell.budgets.tests.declared import NOW, Declaring
from livewell.jobs import JobRequest, JobStore, KindDeclaration
from livewell.jobs.tests.sql_surface import somebody_waits
from livewell.kernel import Database, NotPermitted
from livewell.testing import make_endpoint, make_market_data, until

MINUTE = timedelta(minutes=1)
PAUSE = "select livewell.pause_endpoint($1, coalesce($2, 'infinity'::timestamptz), 'too hot', 'tester', $3)"
RESUME = "select livewell.resume_endpoint($1, 'cooled', 'tester', $2)"
RESET = "select livewell.reset_endpoint($1, 'a new contract', 'tester', $2)"
TABLES = [
    *("provider", "endpoint", "api_key", "limit_use", "quota_use", "quota_hour", "estimate", "permit_block"),
]


@pytest_asyncio.fixture
async def declaring(database: Database, owner: Database) -> Declaring:
    await make_market_data(owner)
    return Declaring(database)


async def _use(owner: Database, name: str = "fmp") -> dict[str, Any]:
    row = await owner.fetchrow("select * from livewell_private.limit_use where name = $1", name)
    assert row is not None
    return dict(row)


async def test_tuning_changes_what_is_named_and_tells_whether_anything_changed(declaring: Declaring) -> None:
    """Only named fields change, null is the default again, the same again is no change; each change is on record."""
    before = await declaring.endpoint("fmp")
    assert await declaring.set("endpoint", "fmp", {"requests_per_minute": "60", "state": "maintenance"}, "asked to")
    assert not await declaring.set("endpoint", "fmp", {"requests_per_minute": 60})
    assert not await declaring.set("endpoint", "fmp", {})
    tuned = await declaring.endpoint("fmp")
    changed = {"requests_per_minute": 60, "state": "maintenance", "updated_at": NOW}
    assert dict(tuned) == {**before, **changed}
    assert await declaring.set("endpoint", "fmp", {"requests_per_minute": None, "state": None})
    assert (await declaring.endpoint("fmp"))["state"] == "active"
    assert await declaring.set("provider", "fmp", {"quota_bytes": "unlimited", "state": "disabled"})
    provider = await declaring.provider("fmp")
    assert (provider["quota_bytes"], provider["state"]) == (None, "disabled")
    entries = await declaring.caller.fetch("select * from livewell.list_audit() order by id")
    assert [entry["event"] for entry in entries] == ["endpoint_changed", "endpoint_changed", "provider_changed"]
    assert (entries[0]["reason"], entries[0]["actor"]) == ("asked to", "tester")
    assert json.loads(entries[0]["old"])["requests_per_minute"] == 300
    assert json.loads(entries[0]["new"])["requests_per_minute"] == 60


async def test_what_is_not_there_is_not_touched(declaring: Declaring) -> None:
    """Tune, pause, resume and reset name something that exists, or the fact that it does not."""
    caller = declaring.caller
    for call in (
        declaring.set("endpoint", "fmp/nosuch", {}),
        caller.fetchval(PAUSE, "nosuch", None, NOW),
        caller.fetchval(RESUME, "nosuch", NOW),
        caller.fetchval(RESET, "nosuch", NOW),
    ):
        with pytest.raises(UnknownEndpoint, match="nosuch"):
            await call
    with pytest.raises(UnknownProvider, match="nosuch"):
        await declaring.set("provider", "nosuch", {})
    with pytest.raises(InvalidBudget, match="unknown field"):
        await declaring.set("endpoint", "fmp", {"requets": 1})
    assert await declaring.events() == []


async def test_a_pause_closes_until_its_time_or_until_resumed(declaring: Declaring, owner: Database) -> None:
    """A paused endpoint is closed with its reason and opens when resumed, at once; both are on record."""
    caller = declaring.caller
    for past in (NOW, NOW - MINUTE):
        with pytest.raises(InvalidBudget):
            await caller.fetchval(PAUSE, "fmp", past, NOW)
    await caller.fetchval(PAUSE, "fmp", NOW + MINUTE, NOW)
    use = await _use(owner)
    assert (use["closed_until"], use["closed_reason"], use["next_allowed_at"]) == (
        NOW + MINUTE,
        "too hot",
        NOW + MINUTE,
    )
    await caller.fetchval(PAUSE, "fmp", None, NOW)
    assert await owner.fetchval("select closed_until = 'infinity' from livewell_private.limit_use where name = 'fmp'")
    assert (await declaring.endpoint("fmp"))["closed_reason"] == "too hot"
    await caller.fetchval(PAUSE, "fmp", NOW + MINUTE, NOW)
    assert (await _use(owner))["next_allowed_at"] == NOW + MINUTE
    assert await caller.fetchval(RESUME, "fmp", NOW)
    assert not await caller.fetchval(RESUME, "fmp", NOW)
    closed = "closed_until = '-infinity' and next_allowed_at = '-infinity' and closed_reason is null"
    assert await owner.fetchval(f"select {closed} from livewell_private.limit_use where name = 'fmp'")
    assert [event for event, _ in await declaring.events()] == [
        *["endpoint_paused"] * 3,
        "endpoint_resumed",
    ]


async def test_a_reset_forgets_what_was_learned_and_keeps_what_was_sent(declaring: Declaring, owner: Database) -> None:
    """Learned limits, throttles, closings and the breaker are forgotten; the rings of what was sent stay."""
    await make_endpoint(owner, "fmp/fresh")
    fresh = await _use(owner, "fmp/fresh")
    await owner.execute(
        "update livewell_private.limit_use set learned_per_minute = 5, learned_tokens_per_hour = 6, remaining = 1,"
        " throttles = 3, remaining_until = 'infinity', closed_until = 'infinity', closed_reason = '429',"
        " breaker = 'open', breaker_until = 'infinity', breaker_openings = 2, breaker_passed = 1, failures[3] = 9,"
        " minute_slot = 7, minute_requests[5] = 4, hour_tokens[6] = 8, smooth_at = $1, observed_at = $1,"
        " next_allowed_at = 'infinity'"
        " where name = 'fmp'",
        NOW,
    )
    sent = await _use_text(owner)
    await declaring.caller.fetchval(RESET, "fmp", NOW)
    kept = ("minute_slot", "minute_requests", "minute_tokens", "hour_slot", "hour_requests", "hour_tokens")
    now = await _use_text(owner)
    fresh_text = {name: str(value) for name, value in fresh.items()}
    for name, value in now.items():
        if name in {*kept, "smooth_at", "observed_at"}:
            assert value == sent[name], name
        elif name in {
            "breaker",
            "breaker_until",
            "learned_per_minute",
            "learned_tokens_per_hour",
            "throttles",
            "remaining",
        }:
            assert str(value) == fresh_text[name], name
    assert sum(now["failures"]) == 0
    assert [event for event, _ in await declaring.events()] == ["endpoint_reset"]


async def _use_text(owner: Database) -> dict[str, Any]:
    """The row without the times that the driver cannot carry."""
    row = await owner.fetchrow(
        "select minute_slot, minute_requests, minute_tokens, hour_slot, hour_requests, hour_tokens, smooth_at,"
        " observed_at, learned_per_minute, learned_tokens_per_hour, remaining, throttles, breaker,"
        " breaker_until::text, failures from livewell_private.limit_use where name = 'fmp'"
    )
    assert row is not None
    return dict(row)


async def test_the_service_touches_no_table_of_budgets(database: Database) -> None:
    """Tables are nobody's; the views are read and not written."""
    for table in TABLES:
        for statement in (f"select from livewell_private.{table}", f"delete from livewell_private.{table}"):
            with pytest.raises(NotPermitted):
                await database.execute(statement)
    for view in ("providers", "endpoints", "api_keys"):
        await database.fetch(f"select * from livewell.{view}")
        with pytest.raises((NotPermitted, asyncpg.PostgresError)):
            await database.execute(f"delete from livewell.{view}")
    with pytest.raises(NotPermitted):
        await database.fetch("select livewell_private.change_budgets('{}', false, null, 'x', now())")


async def test_what_was_closed_by_hand_is_claimed_from_as_soon_as_it_is_open(
    database: Database, owner: Database
) -> None:
    """Paused or disabled, an endpoint, its account, keys or provider hold everything back, and let go at once."""
    store, jobs = BudgetStore(database), JobStore(database)
    declared: dict[str, Any] = {
        "providers": {"acme": {}},
        "endpoints": {"acme": {}, "acme/a": {"backpressure_delay": "0"}},
        "keys": {"acme@k": {"source": "env:K", "scope": "main"}},
    }
    await BudgetStore(owner).apply_providers(declared, plan_only=False, actor="tester")
    await jobs.declare_kinds([KindDeclaration(kind="call")], actor="tester")
    await jobs.enqueue_jobs([JobRequest("call", {"n": n}, endpoint="acme/a") for n in range(5)])

    async def claimed() -> int:
        return len(await jobs.claim_jobs("w1", ["general"], 1))

    by: dict[str, Any] = {"reason": None, "actor": "tester"}
    for name in ("acme/a", "acme", "acme@main"):
        await store.pause_endpoint(name, until=None, **by)
        assert await claimed() == 0
        await store.resume_endpoint(name, **by)
        assert await claimed() == 1
    for tune, name in ((store.set_endpoint, "acme/a"), (store.set_provider, "acme")):
        await tune(name, {"state": "disabled"}, **by)
        assert await claimed() == 0
        await tune(name, {"state": "active"}, **by)
        assert await claimed() == 1


async def test_two_changes_that_each_fit_do_not_both_happen(declaring: Declaring, owner: Database) -> None:
    """Who changes budgets waits for who does, so that a quota is judged with all that its endpoints are."""
    kilo = 1024
    size = {"concurrent": 1, "expected_bytes": kilo, "max_bytes": 10 * kilo}
    await declaring.apply({"acme": {"quota_bytes": 1000 * kilo, "quota_use": 0.95}}, {"acme/a": size, "acme/b": size})
    async with owner.transaction() as first:
        assert await Declaring(first).set("endpoint", "acme/a", {"concurrent": 4})
        second = asyncio.create_task(declaring.set("endpoint", "acme/b", {"concurrent": 4}))
        await until(lambda: somebody_waits(owner), "the second change waits for the first")
    with pytest.raises(InvalidBudget, match="in flight could take"):
        await second
    assert (await declaring.endpoint("acme/b"))["concurrent"] == 1
