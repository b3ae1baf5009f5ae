"""Contracts 6 and 15: each as budgets behave, and each shown to be broken without its guard."""

from datetime import datetime

import pytest

from livewell.budgets.tests.surface import HOUR, MINUTE, NOW, SECOND, Budgets
from livewell.kernel import Database
from tests.contracts.guards import take_away


@pytest.fixture
def budgets(owner: Database) -> Budgets:
    """The budgets, as their owner."""
    return Budgets(owner, owner)


async def _quota(budgets: Budgets, used: int) -> None:
    """An endpoint with a quota of 1,000,000 bytes, 95 percent of which may be used, and so much of it used before."""
    await budgets.declare("call")
    await budgets.endpoint("p/a", quota_bytes=1_000_000)
    await budgets.provider("p", pace="none")
    await budgets.owner.execute("insert into livewell_private.quota_hour values ('p', $1, $2)", _hour(NOW) - HOUR, used)


async def quota_is_predictive(budgets: Budgets) -> None:
    """What is about to be fetched and what is in flight count before it is claimed; what fits is claimed."""
    await _quota(budgets, 900_000)
    await budgets.enqueue("p/a", 9, estimated_bytes=20_000)
    assert len(await budgets.claim(1)) == 1
    assert len(await budgets.claim(9)) == 1
    assert await budgets.claim(9, now=NOW + 10 * SECOND) == []


async def quota_is_buffered(budgets: Budgets) -> None:
    """The last 5 percent are kept back."""
    await _quota(budgets, 949_999)
    await budgets.enqueue("p/a", estimated_bytes=2)
    assert await budgets.claim() == []


async def quota_is_obeyed_by_producers(budgets: Budgets) -> None:
    """Who would queue work is told that nothing is left, before it queues."""
    await _quota(budgets, 950_000)
    assert not await budgets.is_open("p")


async def test_contract_6_quota_is_predictive(budgets: Budgets) -> None:
    """Contract 6: the quota counts what is about to be served and what is in flight."""
    await quota_is_predictive(budgets)


async def test_contract_6_quota_is_buffered(budgets: Budgets) -> None:
    """Contract 6: only 95 percent are used."""
    await quota_is_buffered(budgets)


async def test_contract_6_quota_is_asked_first(budgets: Budgets) -> None:
    """Contract 6: producers ask before they queue."""
    await quota_is_obeyed_by_producers(budgets)


async def test_contract_6_needs_what_is_in_flight(budgets: Budgets) -> None:
    """Without the reservations of running jobs rival claims overshoot together."""
    await take_away(
        budgets.owner,
        "quotas_now",
        "c.allowed - u.used - c.in_flight",
        "c.allowed - u.used",
    )
    with pytest.raises(AssertionError):
        await quota_is_predictive(budgets)


async def test_contract_6_needs_its_buffer(budgets: Budgets) -> None:
    """Without the share that may be used, the quota is spent to the last byte."""
    await take_away(budgets.owner, "quotas_now", "p.quota_bytes * p.quota_use", "p.quota_bytes")
    with pytest.raises(AssertionError):
        await quota_is_buffered(budgets)


async def test_contract_6_needs_the_ledger(budgets: Budgets) -> None:
    """A question that does not read the ledger is always answered with yes."""
    await take_away(budgets.owner, "quota_open", "v_quota.used + v_quota.in_flight < v_quota.allowed", "true")
    with pytest.raises(AssertionError):
        await quota_is_obeyed_by_producers(budgets)


async def breaker_sees_retries(budgets: Budgets) -> None:
    """Failed attempts that will be tried again, and silent workers, open the breaker; no job has failed for good."""
    await budgets.declare("call", backoff_first="1 second", backoff_max="1 second", lease="30 seconds")
    await budgets.endpoint("p/a", breaker_failures=10)
    await budgets.enqueue("p/a", 4)
    now = NOW
    for _ in range(2):
        await budgets.finish(await budgets.claim(now=now), "failed", error={}, now=now)
        now += 2 * SECOND
    leased = await budgets.claim(now=now)
    assert await budgets.rescue(now=now + MINUTE) == len(leased) == 4
    states = {row["state"] for row in await budgets.owner.fetch("select state from livewell_private.job")}
    assert states == {"pending"}
    assert (await budgets.state("p/a", now=now))["breaker"] == "open"


async def breaker_lets_rescue_through(budgets: Budgets) -> None:
    """With the breaker open, jobs of silent workers come back all the same, and it is still open after that."""
    await budgets.declare("call")
    await budgets.endpoint("p/a", breaker_failures=1)
    await budgets.enqueue("p/a", 2)
    leased = await budgets.claim()
    await budgets.finish(leased[:1], "failed", error={})
    assert await budgets.rescue(now=NOW + HOUR) == 1
    assert (await budgets.state("p/a"))["breaker"] == "open"


async def test_contract_15_breaker_sees_retries(budgets: Budgets) -> None:
    """Contract 15: the breaker counts outcomes per endpoint as they happen, not jobs that failed for good."""
    await breaker_sees_retries(budgets)


async def test_contract_15_lets_rescue_through(budgets: Budgets) -> None:
    """Contract 15: a state, not an exception: recovery is never rolled back with it."""
    await breaker_lets_rescue_through(budgets)


async def test_contract_15_needs_failed_attempts(budgets: Budgets) -> None:
    """A breaker that looks at dead letters alone does not see a provider that fails every first try."""
    await take_away(
        budgets.owner,
        "settle_calls",
        "c.outcome in ('completed', 'answered', 'failed', 'dead', 'rescued')",
        "c.outcome in ('completed', 'dead')",
    )
    with pytest.raises(AssertionError):
        await breaker_sees_retries(budgets)


async def test_contract_15_needs_silent_workers(budgets: Budgets) -> None:
    """A breaker that does not count rescues is blind to calls that never come back."""
    await take_away(budgets.owner, "rescue_jobs", "perform livewell_private.settle_calls(v_spent, p_now);", "null;")
    with pytest.raises(AssertionError):
        await breaker_sees_retries(budgets)


async def test_contract_15_must_not_raise(budgets: Budgets) -> None:
    """A breaker that raises takes the recovery that found the failure back with it."""
    await take_away(
        budgets.owner,
        "count_outcomes",
        "    if v_changes is not null then",
        "    if exists (select from livewell_private.limit_use as u where u.breaker = 'open') then\n raise"
        " exception 'open';",
    )
    with pytest.raises(Exception, match="open"):
        await breaker_lets_rescue_through(budgets)


def _hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)
