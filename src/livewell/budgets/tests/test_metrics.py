"""The figures of budgets, read from the database."""

from datetime import UTC, datetime, timedelta

from prometheus_client import REGISTRY

from livewell.budgets import BudgetGauges, BudgetStore
from livewell.budgets.tests.surface import Budgets
from livewell.jobs import JobRequest, JobStore, KindDeclaration
from livewell.kernel import Database
from livewell.testing import captured_logs, make_market_data

GB = 1024**3


def _figure(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(name, labels)


async def test_the_gauges_show_what_is_used_in_flight_and_left(database: Database) -> None:
    """Shares of each limit that is set, calls in flight, when it opens, the breaker, the quota and its forecast."""
    store, jobs = BudgetStore(database), JobStore(database)
    declared = {
        "providers": {"acme": {"quota_bytes": GB, "quota_use": 0.5}},
        "endpoints": {
            "acme/a": {"requests_per_minute": 4, "concurrent": 2},
            "acme/b": {"requests_per_minute": "unlimited"},
            "acme/c": {},
        },
    }
    await store.apply_providers(declared, plan_only=False, actor="tester")
    await jobs.declare_kinds([KindDeclaration(kind="call")], actor="tester")
    await jobs.enqueue_jobs([JobRequest("call", {"n": n}, endpoint="acme/a", estimated_bytes=1000) for n in range(3)])
    assert len(await jobs.claim_jobs("w1", ["general"], 1)) == 1
    await store.pause_endpoint("acme/b", until=None, reason="away", actor="tester")
    await store.pause_endpoint("acme/c", until=datetime.now(UTC) + timedelta(hours=1), reason=None, actor="tester")
    await BudgetGauges(store).run_once()
    assert _figure("livewell_budget_used_share", limiter="acme/a", limit="requests_per_minute") == 0.25
    assert _figure("livewell_budget_used_share", limiter="acme/a", limit="concurrent") == 0.5
    assert _figure("livewell_budget_used_share", limiter="acme/b", limit="requests_per_minute") is None
    assert _figure("livewell_budget_in_flight", limiter="acme/a") == 1
    assert _figure("livewell_budget_waiting", limiter="acme/a") == 2
    assert _figure("livewell_budget_opens_seconds", limiter="acme/b") == float("inf")
    assert 3500 < (_figure("livewell_budget_opens_seconds", limiter="acme/c") or 0) <= 3600
    assert _figure("livewell_breaker_state", limiter="acme/a") == 0
    assert _figure("livewell_quota_allowed_bytes", provider="acme") == GB // 2
    assert _figure("livewell_quota_used_bytes", provider="acme") == 0
    assert (_figure("livewell_quota_in_flight_bytes", provider="acme") or 0) >= 1000
    assert 0 < (_figure("livewell_quota_share", provider="acme") or 0) < 0.1
    assert _figure("livewell_quota_exhausted_seconds", provider="acme") == float("inf")


async def test_what_is_gone_is_no_longer_shown(database: Database, owner: Database) -> None:
    """An endpoint that was removed leaves no figure behind."""
    store = BudgetStore(database)
    await make_market_data(owner)
    await BudgetGauges(store).run_once()
    assert _figure("livewell_budget_in_flight", limiter="fmp") == 0
    await owner.execute("delete from livewell_private.limit_use where name = 'fmp'")
    await BudgetGauges(store).run_once()
    assert _figure("livewell_budget_in_flight", limiter="fmp") is None


async def test_answers_far_over_their_estimate_are_told(budgets: Budgets) -> None:
    """An answer more than twice as large as expected since the last look is a warning, and a figure."""
    await budgets.endpoint("p/a")
    gauges = BudgetGauges(BudgetStore(budgets.database))
    with captured_logs() as logs:
        for size in (1_000, 5_000):
            await budgets.enqueue("p/a")
            await budgets.finish(await budgets.claim(), actual_bytes=size)
            await gauges.run_once()
    assert [entry["event"] for entry in logs] == ["estimate_exceeded"]
    assert (logs[0]["endpoint"], logs[0]["subject"], logs[0]["answers"]) == ("p/a", "call", 1)
    assert _figure("livewell_estimates_exceeded", endpoint="p/a", subject="call") == 1
