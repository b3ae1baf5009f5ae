"""What people write is read as they mean it, or refused with what would be right."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.kernel import bytes_of, duration_of, nearest


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30 days", 2_592_000),
        ("1 minute", 60),
        ("1h30m", 5400),
        ("1 hour 30 min", 5400),
        ("0.5s", 0.5),
        ("2w", 1_209_600),
    ],
)
def test_durations_are_words_or_letters(text: str, seconds: float) -> None:
    """The units of the command line and those of a file are the same."""
    assert duration_of(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "5", "-5m", "5 moons", "1h x", "1e3s", "٣s", "99999999999999d", "1 Day"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(ValueError, match="is not a duration"):
        duration_of(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("20 GB", 20 * 1024**3), ("1.5kb", 1536), ("7 B", 7), ("1 TiB", 1024**4), (" 10 MB ", 10 * 1024**2)],
)
def test_sizes_are_powers_of_1024(text: str, size: int) -> None:
    """1 kB is 1024 bytes, as providers bill and as quotas are seeded."""
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "GB", "20", "-1 GB", "0.3 B", "1 XB", "1 GB 2 MB", "1e3 B"])
def test_what_is_no_size_is_refused(text: str) -> None:
    """A unit is needed, and whole bytes."""
    with pytest.raises(ValueError, match="is not a size"):
        bytes_of(text)


@given(st.integers(0, 2**50))
def test_whole_bytes_are_exact(size: int) -> None:
    """No byte is lost in reading."""
    assert bytes_of(f"{size} B") == size


def test_what_was_probably_meant_is_near() -> None:
    """Something near, or nothing."""
    assert nearest("requets", ["requests", "tokens"]) == "requests"
    assert nearest("zzz", ["requests"]) is None
