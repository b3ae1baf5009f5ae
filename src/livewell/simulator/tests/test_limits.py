"""Limits hold in every window, are told in every form, and show whether a caller behaves."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.budgets import RateLimit, read_rate_headers
from livewell.simulator import InvalidLimit, Limit, Reporting, RetryAfter, Simulator, SimulatorOptions, SteppedClock
from livewell.simulator.limits import Limiter
from livewell.simulator.tests.surface import Heard, ask

QUOTE = "/api/v3/quote/AAPL"


def provider(clock: SteppedClock, limit: Limit) -> Simulator:
    return Simulator(SimulatorOptions(limits={"quote": limit}), clock=clock)


@given(st.lists(st.floats(0, 40), max_size=60), st.integers(1, 5))
def test_no_window_ever_has_more_than_the_limit(pauses: list[float], size: int) -> None:
    """Whenever the calls come, those that pass are never more than the limit in any window of its length."""
    limiter, now, passed, came = Limiter(Limit(requests=size)), 0.0, [], []
    for pause in pauses:
        now += pause
        came.append(now)
        if limiter.arrive(now).allowed:
            passed.append(now)
        limiter.leave()
    assert all(sum(at - 60 < other <= at for other in passed) <= size for at in passed)
    worst = max((sum(at - 60 < other <= at for other in came) for at in came), default=0)
    assert limiter.arrivals.worst == worst
    assert limiter.over_limit == len(came) - len(passed)


async def test_too_many_calls_are_refused_and_counted(clock: SteppedClock) -> None:
    """The call after the last allowed one is 429 and says when to come back; then it is let in, not a moment before."""
    async with provider(clock, Limit(requests=3)) as simulator:
        for _ in range(3):
            assert (await ask(simulator, QUOTE)).status == 200
            clock.advance(timedelta(seconds=10))
        refused = await ask(simulator, QUOTE)
        assert (refused.status, refused.headers["retry-after"]) == (429, "30")
        clock.advance(timedelta(seconds=29.9))
        assert (await ask(simulator, QUOTE)).status == 429
        clock.advance(timedelta(seconds=0.1))
        assert (await ask(simulator, QUOTE)).status == 200
        await simulator.settled()
        figures = simulator.figures()["quote"]
        assert (figures.over_limit, simulator.over_limit, figures.limit, figures.worst_window) == (2, 2, 3, 5)
        assert [call.over_limit for call in simulator.calls] == [False, False, False, True, True, False]


async def test_what_passes_at_once_is_limited(clock: SteppedClock) -> None:
    """A call while as many are under way as may be is refused."""
    async with provider(clock, Limit(concurrent=1)) as simulator:
        simulator.fault("hang", count=1)
        limiter = simulator.log.limiter("quote")
        limiter.arrive(clock.monotonic())
        assert (await ask(simulator, QUOTE)).status == 429
        limiter.leave()
        assert simulator.over_limit == 1


def facts(heard: Heard, wall: datetime) -> tuple[timedelta | None, tuple[RateLimit, ...]]:
    read = read_rate_headers(heard.status, heard.headers, now=wall)
    assert read.ignored == ()
    return read.retry_after, read.limits


@pytest.mark.parametrize("reporting", [Reporting.PLAIN, Reporting.STANDARD, Reporting.BOTH])
async def test_what_is_left_is_told_as_budgets_read_it(clock: SteppedClock, reporting: Reporting) -> None:
    """In each form the limit, what is left and when there is more are what is so."""
    async with provider(clock, Limit(requests=5, reporting=reporting)) as simulator:
        await ask(simulator, QUOTE)
        clock.advance(timedelta(seconds=10))
        _, limits = facts(await ask(simulator, QUOTE), clock.wall())
    assert limits
    assert {(limit.limit, limit.remaining, limit.reset) for limit in limits} == {(5, 3, timedelta(seconds=50))}


@pytest.mark.parametrize(
    ("form", "wait"),
    [(RetryAfter.SECONDS, timedelta(seconds=60)), (RetryAfter.DATE, timedelta(seconds=61)), (RetryAfter.NONE, None)],
)
async def test_when_to_come_back_is_told_as_budgets_read_it(
    clock: SteppedClock, form: RetryAfter, wait: timedelta | None
) -> None:
    """Retry-After in seconds, as a date or not at all."""
    async with provider(clock, Limit(requests=1, reporting=Reporting.NONE, retry_after=form)) as simulator:
        await ask(simulator, QUOTE)
        assert facts(await ask(simulator, QUOTE), clock.wall()) == (wait, ())


@pytest.mark.parametrize(
    ("kind", "wait", "reset"),
    [
        ("throttled", None, None),
        ("throttled_seconds", timedelta(seconds=7), None),
        ("throttled_date", timedelta(seconds=8), None),
        ("throttled_reset", None, timedelta(seconds=8)),
        ("throttled_ratelimit", None, timedelta(seconds=8)),
    ],
)
async def test_each_form_of_429_is_read_by_budgets(
    simulator: Simulator, clock: SteppedClock, kind: str, wait: timedelta | None, reset: timedelta | None
) -> None:
    """A throttling fault says what its name says, and nothing else."""
    simulator.fault(kind, seconds=7)
    heard = await ask(simulator, QUOTE)
    retry_after, limits = facts(heard, clock.wall())
    assert (heard.status, retry_after) == (429, wait)
    assert [limit.reset for limit in limits] == ([] if reset is None else [reset])


def test_a_limit_of_nothing_is_refused() -> None:
    """No limit is None; zero and less are mistakes, and so is a limit of an endpoint that does not exist."""
    with pytest.raises(InvalidLimit):
        Limit(requests=0)
    with pytest.raises(InvalidLimit, match="no endpoint 'qoute'"):
        SimulatorOptions(limits={"qoute": Limit(requests=1)})


def test_a_stepped_clock_moves_only_when_told() -> None:
    """All of its times move together."""
    clock = SteppedClock(datetime(2026, 1, 1, tzinfo=UTC))
    clock.advance(timedelta(seconds=5))
    assert (clock.monotonic(), clock.wall()) == (5, datetime(2026, 1, 1, 0, 0, 5, tzinfo=UTC))
    assert clock.world() == clock.wall().timestamp()
