"""Sizes are read as people mean them, or refused with what would be right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.kernel import parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [("20 GB", 20 * 1024**3), ("1.5kb", 1536), ("7 B", 7), ("1 TiB", 1024**4), (" 10 MB ", 10 * 1024**2)],
)
def test_sizes_are_powers_of_1024(text: str, size: int) -> None:
    """1 kB is 1024 bytes, as providers bill and as quotas are seeded."""
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "20", "-1 GB", "0.3 B", "1 XB", "1 GB 2 MB", "1e3 B"])
def test_what_is_no_size_is_refused(text: str) -> None:
    """A unit is needed, and whole bytes."""
    with pytest.raises(ValueError, match="is not a size"):
        parse_size(text)


@given(st.integers(0, 2**50))
def test_whole_bytes_are_exact(size: int) -> None:
    """No byte is lost in reading."""
    assert parse_size(f"{size} B") == size
