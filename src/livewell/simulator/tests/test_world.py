"""The world is a pure function of seed, time and symbol, and it moves."""

from datetime import datetime, timedelta
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.simulator import RHYTHM, FasterClock, SteppedClock, World, symbol_names
from livewell.simulator.tests.surface import START
from livewell.simulator.walk import walk

KEYS = {
    "quote": ("symbol",),
    "profile": ("symbol",),
    "financial-statements": ("symbol", "calendarYear", "period"),
    "ratios-ttm": ("symbol",),
    "earnings": ("symbol", "date"),
    "dividend-history": ("symbol", "date"),
}


def world(seed: int = 1, start: datetime = START) -> tuple[World, SteppedClock]:
    clock = SteppedClock(start)
    return World(seed=seed, clock=clock), clock


@pytest.mark.parametrize("data_type", RHYTHM)
def test_the_same_seed_and_time_give_the_same_rows(data_type: str) -> None:
    """Two worlds of one seed agree at every moment, also when one has come there and the other began there."""
    one, clock = world()
    one.rows(data_type, "AAPL")
    clock.advance(timedelta(days=3, seconds=7))
    other, _ = world(start=clock.wall())
    assert one.rows(data_type, "AAPL") == other.rows(data_type, "AAPL")
    assert one.part(data_type, "AAPL") == other.part(data_type, "AAPL")


@pytest.mark.parametrize("data_type", RHYTHM)
def test_another_seed_is_another_world(data_type: str) -> None:
    """Nothing of a symbol but its name is the same under two seeds."""
    one, _ = world(1)
    other, _ = world(2)
    assert one.rows(data_type, "AAPL") != other.rows(data_type, "AAPL")


@pytest.mark.parametrize("data_type", RHYTHM)
def test_data_change_when_their_time_comes_and_not_before(data_type: str) -> None:
    """Until the next change everything is as it was; at that moment something is not."""
    there, clock = world()
    before, change = there.rows(data_type, "MSFT"), there.next_change(data_type, "MSFT")
    left = timedelta(seconds=change) - timedelta(seconds=clock.world())
    clock.advance(left - timedelta(milliseconds=1))
    assert there.rows(data_type, "MSFT") == before
    clock.advance(timedelta(milliseconds=2))
    assert there.rows(data_type, "MSFT") != before


@given(after=st.timedeltas(min_value=timedelta(days=-2000), max_value=timedelta(days=3000)), index=st.integers(0, 499))
def test_a_quote_tells_when_it_changed_and_never_the_same_twice(after: timedelta, index: int) -> None:
    """The source time is the moment of the change in whole seconds, past, and grows from one state to the next."""
    there, clock = world(start=START + after)
    symbol = there.symbols[index]
    (now,), (before,) = there.rows("quote", symbol), there.rows("quote", symbol, back=1)
    assert now["timestamp"] == int(there.version("quote", symbol).since) <= clock.world()
    assert before["timestamp"] < now["timestamp"]
    assert 0 < now["price"] < 10_000_000


@pytest.mark.parametrize("data_type", RHYTHM)
def test_rows_have_a_key(data_type: str) -> None:
    """Within an answer no two rows have the same key, and every row names its symbol."""
    there, _ = world()
    rows = there.rows(data_type, "BRK.A")
    assert len({tuple(row[name] for name in KEYS[data_type]) for row in rows}) == len(rows)
    assert {row["symbol"] for row in rows} == {"BRK.A"}


def test_sizes_differ_as_they_do_in_life() -> None:
    """A quote is small, statements are some 50 KB in many rows."""
    there, _ = world()
    assert len(there.part("quote", "AAPL").text) < 400
    assert 45_000 < len(there.part("financial-statements", "AAPL").text) < 60_000
    assert len(there.rows("financial-statements", "AAPL")) == 50


def test_a_walk_has_steps_of_one() -> None:
    """Its steps are normal, independent of where one begins, and it never leaves for good."""
    steps = [walk(7, "AAPL", number + 1) - walk(7, "AAPL", number) for number in range(5000, 7000)]
    assert fmean(steps) == pytest.approx(0, abs=0.1)
    assert stdev(steps) == pytest.approx(1, abs=0.1)
    assert walk(7, "AAPL", 1 << 18) == 0


def test_symbols_are_as_many_as_asked_for() -> None:
    """The names are distinct, the first ones those everybody knows, and fewer are the beginning of more."""
    names = symbol_names(50_000)
    assert len(set(names)) == 50_000
    assert names[:2] == ["AAPL", "MSFT"]
    assert symbol_names(100) == names[:100]


def test_a_faster_world_is_of_the_past() -> None:
    """Its time runs ahead, its limits and headers do not, and its data are not of the future."""
    clock = FasterClock(1000)
    first, wall = clock.world(), clock.wall()
    while clock.world() - first < 1:
        pass
    assert clock.wall() - wall < timedelta(seconds=1)
    assert clock.world() < clock.wall().timestamp()


def test_the_liveliest_quote_has_a_source_time_of_its_own_for_each_state() -> None:
    """No two states of a quote are told with the same second."""
    there, _ = world()
    before = {symbol: there.rows("quote", symbol, back=100)[0]["timestamp"] for symbol in there.symbols}
    liveliest = max(before, key=lambda symbol: int(before[symbol]))
    times = [there.rows("quote", liveliest, back=back)[0]["timestamp"] for back in range(1000)]
    assert len(set(times)) == len(times)
