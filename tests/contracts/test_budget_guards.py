"""The guards of the limiter and the budgeted claim: each test of a rule fails when its guard is taken away."""

import asyncio
from datetime import datetime, timedelta

import pytest

from livewell.budgets.tests.surface import MINUTE, NOW, SECOND, Budgets, worst
from livewell.jobs.tests.sql_surface import somebody_waits
from livewell.kernel import Database
from livewell.testing import until
from tests.contracts.guards import take_away

# As the server tells it: the body of this one is bound when it is made.
COUNTED = "61 + (ceil(EXTRACT(epoch FROM p_send_within)))::integer"


@pytest.fixture
def budgets(owner: Database) -> Budgets:
    """The budgets, as their owner."""
    return Budgets(owner, owner)


async def _most_arrived(budgets: Budgets, lag: float) -> int:
    """Two bursts a minute apart, the first sent late: the most that arrives in one minute at the provider."""
    await budgets.endpoint("p/e", requests_per_minute=60)
    arrived: list[tuple[datetime, int]] = []
    for second in range(0, 130, 1):
        now = NOW + timedelta(seconds=second + 0.9 * (second % 2))
        row = await budgets.acquire("p/e", 60, now=now)
        if row["permits"]:
            late = timedelta(seconds=lag) if not arrived else timedelta()
            arrived.append((now + late, int(row["permits"])))
            await budgets.settle(row["block_id"], range(1, row["permits"] + 1), now=now)
    return worst(arrived, MINUTE)


async def test_the_window_covers_what_is_still_to_be_sent(budgets: Budgets) -> None:
    """A provider sees no more than the limit even when a whole burst is sent as late as it may be."""
    assert await _most_arrived(budgets, 2) == 60


async def test_without_send_within_the_provider_sees_too_many(budgets: Budgets) -> None:
    """A window of just its own length is exceeded at the provider's side."""
    await take_away(budgets.owner, "seconds_counted", COUNTED, "61")
    assert await _most_arrived(budgets, 2) > 60


async def test_without_the_oldest_slot_whole_a_window_is_exceeded(budgets: Budgets) -> None:
    """A ring that forgets its oldest slot a second early grants twice within one minute."""
    await take_away(budgets.owner, "seconds_counted", COUNTED, "59")
    assert await _most_arrived(budgets, 0) > 60


async def _granted_side_by_side(budgets: Budgets) -> int:
    """Two claims at once from an endpoint that lets three calls run; answers how many run."""
    await budgets.declare("call")
    await budgets.endpoint("p/e", concurrent=3)
    await budgets.enqueue("p/e", 10)
    statement = "select count(*) from livewell.claim_jobs($1, '{general}', 3)"
    async with budgets.owner.transaction() as first:
        taken = await first.fetchval(statement, "w1")
        second = asyncio.create_task(budgets.owner.fetchval(statement, "w2"))
        done = asyncio.create_task(until(lambda: somebody_waits(budgets.owner), "the second claim waits"))
        await asyncio.wait({second, done}, return_when=asyncio.FIRST_COMPLETED)
    done.cancel()
    return int(taken) + int(await second)


async def test_rival_claims_share_what_is_left(budgets: Budgets) -> None:
    """A claim waits for the endpoint's lock and counts after it: together they hold no more than the cap."""
    assert await _granted_side_by_side(budgets) == 3


async def test_without_the_lock_rivals_exceed_the_cap(budgets: Budgets) -> None:
    """Two that count at the same time both find something left."""
    await take_away(budgets.owner, "lock_budgets", "for no key update\n", "\n")
    assert await _granted_side_by_side(budgets) > 3


async def test_without_counting_leases_concurrency_is_unlimited(budgets: Budgets) -> None:
    """Concurrency is what is held; without the count it is anything."""
    await take_away(budgets.owner, "limits_now", "c.concurrent - c.in_flight", "c.concurrent")
    assert await _granted_side_by_side(budgets) > 3


async def test_without_the_token_a_settlement_counts_twice(budgets: Budgets) -> None:
    """A settlement that does not look whether its permit is open books the same call again."""
    await budgets.endpoint("p/e", quota_bytes=10**9)
    await take_away(
        budgets.owner,
        "settle_permits",
        "v_settled := array(select n.number from unnest(v_block.open) as n (number) where n.number = any (p_numbers));",
        "v_settled := p_numbers;",
    )
    block = await budgets.acquire("p/e", 2)
    for _ in range(2):
        await budgets.settle(block["block_id"], [1], bytes_each=100)
    assert (await budgets.quota("p"))["used_bytes"] == 200


async def test_without_the_closing_a_throttled_endpoint_is_asked_again(budgets: Budgets) -> None:
    """What keeps 429 from being answered by the next call is the closed door."""
    await budgets.declare("call")
    await budgets.endpoint("p/e")
    await take_away(
        budgets.owner,
        "learn_limits",
        "if v_status = 429 or (v_status = 503 and v_retry is not null) then",
        "if false then",
    )
    await budgets.enqueue("p/e", 2)
    await budgets.finish(await budgets.claim(1), "throttled", rate={"retry_after_seconds": 60})
    assert len(await budgets.claim(now=NOW + SECOND)) == 2
