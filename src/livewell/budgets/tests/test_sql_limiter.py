"""The limiter: no window is exceeded, wherever it begins; nothing stays idle below the limit."""

import random
from datetime import datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.budgets import InvalidPermit, UnknownEndpoint
from livewell.budgets.tests.surface import HOUR, MINUTE, NOW, SECOND, Budgets, worst
from livewell.testing import effort

SEND_WITHIN = timedelta(seconds=2)


async def _saturate(
    budgets: Budgets, endpoint: str, length: timedelta, *, tokens: int = 0, step: float = 0.4
) -> list[tuple[datetime, int]]:
    """Ask for more than there is, again and again; answers when how many were granted."""
    granted, now = [], NOW
    while now < NOW + length:
        row = await budgets.acquire(endpoint, 1000, tokens=tokens, now=now)
        if row["permits"]:
            granted.append((now, row["permits"]))
            await budgets.settle(row["block_id"], range(1, row["permits"] + 1), now=now)
        now += timedelta(seconds=min(row["retry_seconds"] or step, step))
    return granted


@pytest.mark.parametrize("limiter", ["strict", "smooth"])
@pytest.mark.parametrize("limit", [1, 7, 60, 300])
async def test_no_minute_is_over_and_few_are_idle(budgets: Budgets, limiter: str, limit: int) -> None:
    """Under saturation no minute has more than the limit, and the mean minute nearly as much."""
    await budgets.endpoint("p/e", requests_per_minute=limit, limiter=limiter)
    granted = await _saturate(budgets, "p/e", 5 * MINUTE)
    most = worst(granted, MINUTE)
    assert most <= limit
    assert most >= 0.95 * limit if limiter == "strict" else most >= 0.9 * limit
    assert sum(count for _, count in granted) >= 0.9 * limit * 5 * 60 / 63


async def test_a_provider_sees_no_more_than_the_limit_either(budgets: Budgets) -> None:
    """Calls that arrive up to `send_within` after their permit never make a minute at the provider exceed the limit."""
    chance = random.Random(11)
    await budgets.endpoint("p/e", requests_per_minute=60)
    granted = await _saturate(budgets, "p/e", 6 * MINUTE)
    arrived = [
        (moment + SEND_WITHIN * chance.choice([0, chance.random(), 1]), 1)
        for moment, count in granted
        for _ in range(count)
    ]
    assert worst(arrived, MINUTE) == 60


async def test_smooth_spreads(budgets: Budgets) -> None:
    """In smooth mode a tenth of the limit starts at once, and the rest evenly."""
    await budgets.endpoint("p/e", requests_per_minute=100, limiter="smooth")
    granted = await _saturate(budgets, "p/e", 2 * MINUTE, step=0.1)
    assert granted[0] == (NOW, 10)
    assert worst(granted, 6 * SECOND) <= 10 + 10


async def test_hours_are_limited_too(budgets: Budgets) -> None:
    """Minute and hour hold together, in every window of each."""
    await budgets.endpoint("p/e", requests_per_minute=40, requests_per_hour=100)
    granted = await _saturate(budgets, "p/e", 3 * HOUR, step=29)
    assert worst(granted, MINUTE) == 40
    assert worst(granted, HOUR) == 100


async def test_an_account_is_shared_by_its_endpoints(budgets: Budgets) -> None:
    """What the endpoint named as its provider allows, all endpoints of the provider have together."""
    await budgets.endpoint("p", requests_per_minute=10)
    await budgets.endpoint("p/a")
    await budgets.endpoint("p/b", requests_per_minute=4)
    assert (await budgets.acquire("p/b", 50))["permits"] == 4
    assert (await budgets.acquire("p/a", 50))["permits"] == 6
    assert (await budgets.acquire("p/a"))["permits"] == 0
    assert (await budgets.acquire("p"))["permits"] == 0


async def test_all_limits_or_nothing(budgets: Budgets) -> None:
    """A request refused by one limit is counted by none."""
    await budgets.endpoint("p/e", requests_per_minute=10, tokens_per_minute=1000)
    assert (await budgets.acquire("p/e", tokens=1000))["permits"] == 1
    refused = await budgets.acquire("p/e", tokens=1)
    assert (refused["permits"], refused["reason"]) == (0, "tokens")
    state = await budgets.state("p/e")
    assert (state["requests_last_minute"], state["tokens_last_minute"]) == (1, 1000)


async def test_it_says_when_to_ask_again(budgets: Budgets) -> None:
    """At the moment the answer names something opens, and not a moment before."""
    await budgets.endpoint("p/e", requests_per_minute=2)
    await budgets.acquire("p/e", now=NOW + 0.3 * SECOND)
    await budgets.acquire("p/e", now=NOW + 5.2 * SECOND)
    asked = NOW + 7 * SECOND
    refused = await budgets.acquire("p/e", now=asked)
    opens = asked + timedelta(seconds=refused["retry_seconds"])
    assert (await budgets.acquire("p/e", now=opens - 0.001 * SECOND))["permits"] == 0
    assert (await budgets.acquire("p/e", now=opens))["permits"] == 1


async def test_a_clock_that_steps_back_grants_nothing_twice(budgets: Budgets) -> None:
    """Time that goes back counts as standing still: what was granted in its future still counts."""
    await budgets.endpoint("p/e", requests_per_minute=5)
    assert (await budgets.acquire("p/e", 5))["permits"] == 5
    assert (await budgets.acquire("p/e", now=NOW - 5 * MINUTE))["permits"] == 0
    assert (await budgets.acquire("p/e", now=NOW + 50 * SECOND))["permits"] == 0


async def test_concurrency_is_what_is_held(budgets: Budgets) -> None:
    """Permits and jobs that are not settled count together; what is settled, or whose lease is over, does not."""
    await budgets.endpoint("p/e", concurrent=3)
    await budgets.enqueue("p/e", 5)
    leased = await budgets.claim(1)
    block = await budgets.acquire("p/e", 50)
    assert block["permits"] == 2
    assert await budgets.claim() == []
    refused = await budgets.acquire("p/e")
    assert (refused["permits"], refused["reason"], refused["retry_seconds"]) == (0, "concurrent", None)
    await budgets.finish(leased)
    assert len(await budgets.claim(1)) == 1
    late = NOW + 2 * MINUTE
    assert (await budgets.acquire("p/e", 50, now=late))["permits"] == 2


async def test_what_never_fits_is_refused(budgets: Budgets) -> None:
    """More tokens than the limit, or nonsense, is a fact and not a wait."""
    await budgets.endpoint("p/e", tokens_per_minute=1000)
    with pytest.raises(InvalidPermit, match="never fit"):
        await budgets.acquire("p/e", tokens=1001)
    with pytest.raises(InvalidPermit):
        await budgets.acquire("p/e", 0)
    with pytest.raises(UnknownEndpoint, match="unknown endpoint p/x"):
        await budgets.acquire("p/x")


@pytest.mark.parametrize("state", ["disabled", "maintenance"])
async def test_an_endpoint_that_is_not_active_grants_nothing(budgets: Budgets, state: str) -> None:
    """Disabled or in maintenance: nothing starts; what runs can still be settled."""
    await budgets.endpoint("p/e")
    block = await budgets.acquire("p/e")
    await budgets.enqueue("p/e")
    await budgets.owner.execute("update livewell_private.endpoint set state = $1 where name = 'p/e'", state)
    refused = await budgets.acquire("p/e")
    assert (refused["reason"], refused["retry_seconds"]) == (state, 5)
    assert await budgets.claim() == []
    assert await budgets.settle(block["block_id"], [1]) == [1]


_STEPS = st.lists(
    st.tuples(
        st.floats(0, 40),
        st.integers(1, 30),
        st.integers(0, 400),
        st.sampled_from(["completed", "failed", "unsent", "leave"]),
        st.one_of(st.none(), st.integers(0, 400)),
    ),
    min_size=1,
    max_size=25,
)


@effort(25)
@given(steps=_STEPS, limiter=st.sampled_from(["strict", "smooth"]))
async def test_no_sequence_is_over(
    budgets: Budgets, steps: list[tuple[float, int, int, str, int | None]], limiter: str
) -> None:
    """Whatever is asked, settled or left, and when: requests, and tokens within their reservation, are never over."""
    name = f"p/e{uuid4()}"
    await budgets.endpoint(name, requests_per_minute=20, requests_per_hour=45, tokens_per_minute=900, limiter=limiter)
    now, requests, tokens = NOW, [], []
    for wait, permits, each, outcome, actual in steps:
        now += timedelta(seconds=wait)
        row = await budgets.acquire(name, permits, tokens=each, now=now)
        if not row["permits"]:
            continue
        spent = each if actual is None or outcome == "leave" else min(actual, each)
        requests.append((now, row["permits"]))
        tokens.append((now, row["permits"] * spent))
        if outcome != "leave":
            numbers = range(1, row["permits"] + 1)
            later = now + timedelta(seconds=wait / 2)
            assert await budgets.settle(row["block_id"], numbers, tokens=spent, outcome=outcome, now=later) == list(
                numbers
            )
            assert await budgets.settle(row["block_id"], numbers, tokens=spent, outcome=outcome, now=later) == []
    assert worst(requests, MINUTE) <= 20
    assert worst(requests, HOUR) <= 45
    assert worst(tokens, MINUTE) <= 900
    use = (await budgets.owner.fetch("select * from livewell_private.limit_use where name = $1", name))[0]
    for ring in ("minute_requests", "minute_tokens", "hour_requests", "hour_tokens"):
        assert min(use[ring]) >= 0
