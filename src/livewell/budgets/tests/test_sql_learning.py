"""What answers teach: limits, remaining calls, times to wait; and what they cannot make us do."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.budgets.tests.surface import HOUR, MINUTE, NOW, SECOND, Budgets
from livewell.testing import effort


def _limit(limit: float | None = None, **fields: Any) -> dict[str, Any]:
    return {"status": 200, "limits": [{"unit": "requests", "limit": limit, **fields}]}


async def _permits(budgets: Budgets, now: datetime) -> int:
    return int((await budgets.acquire("p/a", 1000, now=now))["permits"])


async def test_a_lower_limit_holds_at_once(budgets: Budgets) -> None:
    """A provider that allows less than we configured is believed at once."""
    await budgets.endpoint("p/a", requests_per_minute=300)
    await budgets.learn("p/a", _limit(60, window_seconds=60))
    assert await _permits(budgets, NOW) == 60


async def test_a_higher_limit_is_approached_slowly_and_not_passed(budgets: Budgets) -> None:
    """A learned limit grows by a tenth a minute, and never beyond the configured one."""
    await budgets.endpoint("p/a", requests_per_minute=300)
    await budgets.learn("p/a", _limit(100, window_seconds=60))
    seen = []
    for minute in range(1, 25):
        for second in (0, 20, 40):
            await budgets.learn("p/a", _limit(1000, window_seconds=60), now=NOW + minute * MINUTE + second * SECOND)
        seen.append((await budgets.state("p/a", now=NOW + minute * MINUTE))["requests_per_minute"])
    assert seen[:3] == [110, 121, 133]
    assert seen[-1] == 300


async def test_windows_of_other_lengths(budgets: Budgets) -> None:
    """A limit for five minutes is spread over its minutes; one for an hour or a day is kept by the hour."""
    await budgets.endpoint("p/a", requests_per_minute=300)
    await budgets.learn("p/a", _limit(100, window_seconds=300))
    assert (await budgets.state("p/a"))["requests_per_minute"] == 20
    await budgets.learn("p/a", _limit(2400, window_seconds=86400))
    assert (await budgets.state("p/a"))["requests_per_hour"] == 100


async def test_what_remains_is_not_passed(budgets: Budgets) -> None:
    """Until the reset no more starts than the provider says remain, less what started since."""
    await budgets.endpoint("p/a", requests_per_minute=300)
    await budgets.learn("p/a", _limit(None, remaining=5, reset_seconds=30), now=NOW)
    assert await _permits(budgets, NOW + SECOND) == 5
    assert await _permits(budgets, NOW + 20 * SECOND) == 0
    assert await _permits(budgets, NOW + 31 * SECOND) == 295


async def test_answers_out_of_order(budgets: Budgets) -> None:
    """An answer to an older request teaches no limit after one to a newer."""
    await budgets.endpoint("p/a", requests_per_minute=300)
    await budgets.learn("p/a", _limit(100, window_seconds=60), age=1)
    await budgets.learn("p/a", _limit(50, window_seconds=60), age=5)
    assert await _permits(budgets, NOW) == 100


@pytest.mark.parametrize(
    ("said", "least", "most"), [(30, 30, 34), (0, 1, 3), (-7, 1, 3), (1e9, 3600, 3631), (None, 60, 67)]
)
async def test_429_closes_until_the_time_stated(
    budgets: Budgets, said: float | None, least: float, most: float
) -> None:
    """Closed as long as stated, within reason, and reopened with jitter; a minute when nothing is stated."""
    await budgets.endpoint("p/a")
    closed = await budgets.learn("p/a", {"status": 429, "retry_after_seconds": said})
    assert closed is not None
    assert least <= (closed - NOW).total_seconds() <= most
    refused = await budgets.acquire("p/a", now=closed - SECOND / 2)
    assert (refused["permits"], refused["reason"]) == (0, "closed")
    assert (await budgets.acquire("p/a", now=closed))["permits"] == 1


async def test_429_again_and_again(budgets: Budgets) -> None:
    """Without a stated time the wait doubles with every closing, not every answer, and starts anew after a success."""
    await budgets.endpoint("p/a")
    now, waits = NOW, []
    for _ in range(4):
        closed = [await budgets.learn("p/a", {"status": 429}, now=now) for _ in range(5)][-1]
        assert closed is not None
        waits.append(round((closed - now) / MINUTE))
        now = closed + SECOND
    assert waits == [1, 2, 4, 8]
    await budgets.learn("p/a", {"status": 200}, now=now)
    closed = await budgets.learn("p/a", {"status": 429}, now=now)
    assert closed is not None
    assert (closed - now) < 2 * MINUTE


async def test_a_throttled_job_goes_back_whole(budgets: Budgets) -> None:
    """429 costs no retry, however often; the job is ready when its endpoint opens, and others' endpoints stay open."""
    await budgets.endpoint("p/a")
    await budgets.endpoint("q/b")
    (job,) = await budgets.enqueue("p/a", retries=0)
    now = NOW
    for _ in range(5):
        leased = await budgets.claim(now=now)
        assert [row["job_id"] for row in leased] == [job]
        assert await budgets.finish(leased, "throttled", rate={"retry_after_seconds": 10}, now=now) == ["pending"]
        assert await budgets.claim(now=now + 5 * SECOND) == []
        now += 20 * SECOND
    await budgets.enqueue("q/b")
    assert len(await budgets.claim(now=now)) == 2
    shown = (await budgets.owner.fetch("select failures, attempt from livewell_private.job_live where id = $1", job))[0]
    assert (shown["failures"], shown["attempt"]) == (0, 6)


async def test_the_time_of_a_throttled_outcome_holds(budgets: Budgets) -> None:
    """The time that the outcome states closes the endpoint, also when the headers say something else of limits."""
    await budgets.endpoint("p/a")
    await budgets.enqueue("p/a")
    leased = await budgets.claim()
    boast = {
        "retry_after_seconds": None,
        "limits": [{"unit": "requests", "limit": 1000, "remaining": 999, "reset_seconds": 30}],
    }
    await budgets.finish(leased, "throttled", delay_seconds=600, rate=boast)
    assert await budgets.claim(now=NOW + 9 * MINUTE) == []
    assert len(await budgets.claim(now=NOW + 12 * MINUTE)) == 1


_NUMBERS = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**12), 10**12))
_FACTS = st.fixed_dictionaries(
    {
        "status": st.sampled_from([200, 304, 404, 429, 500, 503]),
        "retry_after_seconds": _NUMBERS,
        "limits": st.lists(
            st.fixed_dictionaries(
                {
                    "unit": st.sampled_from(["requests", "tokens"]),
                    "limit": _NUMBERS,
                    "window_seconds": _NUMBERS,
                    "remaining": _NUMBERS,
                    "reset_seconds": _NUMBERS,
                }
            ),
            max_size=3,
        ),
    }
)


@effort(30)
@given(facts=st.lists(_FACTS, max_size=6))
async def test_lies_can_make_us_slower_never_faster(budgets: Budgets, facts: list[dict[str, Any]]) -> None:
    """Whatever headers say, nothing raises, no limit we configured grows, and an hour later something opens again."""
    name = f"p/{uuid4()}"
    await budgets.endpoint(name, requests_per_minute=50, tokens_per_minute=5000)
    now = NOW
    for fact in facts:
        await budgets.learn(name, fact, now=now)
        now += timedelta(seconds=7)
    state = await budgets.state(name, now=now)
    assert 1 <= state["requests_per_minute"] <= 50
    assert 1 <= state["tokens_per_minute"] <= 5000
    assert (await budgets.acquire(name, tokens=1, now=now + 2 * HOUR))["permits"] == 1
