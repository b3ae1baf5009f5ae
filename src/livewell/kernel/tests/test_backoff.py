"""Pauses between tries."""

import random
from datetime import timedelta

import hypothesis.strategies as st
import pytest
from hypothesis import given

from livewell.kernel import Backoff, a_little_later
from livewell.testing import effort

_SECONDS = st.floats(min_value=0, max_value=3600)
_SHARES = st.floats(min_value=0, max_value=1)


@pytest.mark.hypothesis
@effort(500)
@given(_SECONDS, _SECONDS, _SHARES, _SHARES, st.integers(1, 10**6), st.randoms(use_true_random=False))
def test_a_pause_stays_within_its_bounds(
    first: float, longest: float, least: float, more: float, in_a_row: int, chance: random.Random
) -> None:
    """However often it failed, and whatever chance says: `least` to `most` of a whole that doubles up to `longest`."""
    backoff = Backoff(
        first=timedelta(seconds=first),
        longest=timedelta(seconds=longest),
        least=least,
        most=least + more,
        chance=chance.uniform,
    )
    whole = backoff.first.total_seconds() * 2.0 ** min(in_a_row - 1, 60)
    whole = min(whole, backoff.longest.total_seconds())
    assert whole * least <= backoff.seconds(in_a_row) <= whole * (least + more) * (1 + 1e-9)


def test_a_pause_doubles_until_it_is_the_longest() -> None:
    """The first failure waits for the first pause, each further one twice as long, none longer than the longest."""
    backoff = Backoff(first=timedelta(seconds=1), longest=timedelta(seconds=5), least=1.0)
    assert [backoff.seconds(in_a_row) for in_a_row in (1, 2, 3, 4, 5)] == [1, 2, 4, 5, 5]


def test_those_who_failed_together_come_back_apart() -> None:
    """A hundred that failed at the same time wait for a hundred different times."""
    backoff = Backoff(first=timedelta(seconds=1), longest=timedelta(seconds=5))
    assert len({backoff.seconds(3) for _ in range(100)}) == 100


@pytest.mark.hypothesis
@effort(300)
@given(_SECONDS, _SHARES, _SECONDS, _SHARES)
def test_a_little_later_is_never_earlier_and_never_much(
    seconds: float, share: float, at_most: float, chance: float
) -> None:
    """It comes between the time asked for and the smaller of a share of it and what is added at most."""
    later = a_little_later(seconds, share=share, at_most=at_most, chance=lambda: chance)
    assert seconds <= later <= (seconds + min(share * seconds, at_most)) * (1 + 1e-9)
