"""Amounts as people read them."""

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.kernel import (
    interval_of,
    parse_duration,
    parse_size,
    shown_decimal,
    shown_duration,
    shown_interval,
    shown_number,
    shown_share,
    shown_size,
)

PLAIN = re.compile(r"[<>]? ?\d[\d,]*(\.\d+)?")
DURATION = re.compile(r"\d+(\.\d+)? (d|h|min|s|ms)( \d+(\.\d+)? (h|min|s))*")


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(), "0 s"),
        (timedelta(seconds=-3), "0 s"),
        (timedelta(seconds=10), "10 s"),
        (timedelta(seconds=1.5), "1.5 s"),
        (timedelta(minutes=1, seconds=30), "1 min 30 s"),
        (timedelta(hours=1, minutes=30), "1 h 30 min"),
        (timedelta(days=30), "30 d"),
        (timedelta(milliseconds=500), "500 ms"),
        (timedelta(microseconds=50), "0.05 ms"),
        (timedelta(seconds=59.9999), "1 min"),
    ],
)
def test_durations_are_read_in_their_units(length: timedelta, text: str) -> None:
    """`10 s`, `1 h 30 min`: the units that count, a space before each."""
    assert shown_duration(length) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1000, "1000 B"),
        (50 * 1024**2, "50 MB"),
        (50_000, "48.8 kB"),
        (20 * 1024**3, "20 GB"),
        (1024**2 - 1, "1 MB"),
        (-1, "0 B"),
    ],
)
def test_sizes_are_read_in_their_largest_unit(size: int, text: str) -> None:
    """`50 MB`, not `0.04883 GB`."""
    assert shown_size(size) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (0.987, "98.7 %"),
        (1.0, "100 %"),
        (0.9999, "> 99.9 %"),
        (5e-05, "< 0.1 %"),
        (1.5, "150 %"),
        (-0.1, "0 %"),
    ],
)
def test_shares_are_percentages(share: float, text: str) -> None:
    """A share that is nearly all is not shown as all, nor one that is nearly nothing as nothing."""
    assert shown_share(share) == text


@pytest.mark.parametrize(
    ("value", "text"), [(5e-05, "< 0.01"), (0.0, "0"), (1.25, "1.25"), (12_345.6, "12,346"), (3.0, "3")]
)
def test_figures_have_no_exponent(value: float, text: str) -> None:
    """An average of 5e-05 is next to nothing."""
    assert shown_number(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_value_is_shown_as_it_is(value: float) -> None:
    """Every digit of a number that is data is shown, and no exponent."""
    assert re.fullmatch(r"-?\d+(\.\d+)?", shown_decimal(value))
    assert float(shown_decimal(value)) == value


@given(st.timedeltas())
def test_no_duration_is_negative_or_scientific(length: timedelta) -> None:
    """Whatever it is given, a duration is made of plain decimals and units."""
    assert DURATION.fullmatch(shown_duration(length))


@given(st.integers(0, 10**9).map(lambda count: timedelta(milliseconds=count)))
def test_what_is_shown_as_a_duration_may_be_typed(length: timedelta) -> None:
    """A whole number of milliseconds comes back as it was."""
    assert parse_duration(shown_duration(length)) == length


@given(st.integers(0, 1023), st.integers(0, 4))
def test_what_is_shown_as_a_round_size_may_be_typed(count: int, power: int) -> None:
    """A whole number of units comes back as it was."""
    assert parse_size(shown_size(count * 1024**power)) == count * 1024**power


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=0, max_value=1e18))
def test_no_figure_is_scientific(value: float) -> None:
    """Sizes, shares and figures are plain decimals, and never negative."""
    assert PLAIN.fullmatch(shown_number(value))
    assert PLAIN.fullmatch(shown_size(value).rpartition(" ")[0])
    assert PLAIN.fullmatch(shown_share(value).removesuffix(" %"))
    assert shown_size(-value) == "0 B"
    assert shown_share(-value) == "0 %"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("00:00:10", "10 s"), ("30 days", "30 d"), ("1 day 02:00:00", "1 d 2 h"), ("", ""), ("1 mon", "1 mon")],
)
def test_intervals_of_the_database_are_read_like_any_duration(text: str, shown: str) -> None:
    """What PostgreSQL writes as `00:00:10` is `10 s`; what is no length of time stays as it is."""
    assert shown_interval(text) == shown
    assert (interval_of(text) is None) == (text == shown)
