"""What people type is read as they mean it, or refused."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.cli.errors import Misused
from livewell.cli.inputs import assignments, duration, known, moment, shares
from livewell.kernel import shown_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("500ms", 0.5),
        ("90s", 90),
        ("10m", 600),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("2d", 172_800),
        ("1.5s", 1.5),
        ("10 minutes", 600),
        ("1 Day", 86_400),
    ],
)
def test_durations_are_read_as_people_write_them(text: str, seconds: float) -> None:
    """Units in any combination, added up."""
    assert duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "5", "m", "-5m", "5 parsecs", "1h x", "99999999999999d"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    """A number alone has no unit, and nothing is guessed."""
    with pytest.raises(Misused, match="is not a duration"):
        duration(text)


@given(st.integers(min_value=0, max_value=10**9))
def test_a_duration_is_shown_as_it_can_be_typed(seconds: int) -> None:
    """What a table shows may be given back to a command."""
    length = timedelta(seconds=seconds)
    assert duration(shown_duration(length)) == length


def test_a_time_without_a_zone_is_this_machines() -> None:
    """Every time that is read has a zone, whatever was typed."""
    local, utc = moment("2026-11-20T18:30"), moment("2026-11-20T18:30Z")
    assert local == datetime(2026, 11, 20, 18, 30).astimezone()
    assert utc == datetime(2026, 11, 20, 18, 30, tzinfo=UTC)


def test_an_empty_value_stands_for_the_default() -> None:
    """`NAME=` is null, a schema is JSON, everything else is text for the database to judge."""
    assert assignments(["retries=5", "lease=", 'payload_schema={"type": "object"}', "description=a=b"]) == {
        "retries": "5",
        "lease": None,
        "payload_schema": {"type": "object"},
        "description": "a=b",
    }


def test_a_group_has_a_share_of_one_unless_it_names_another() -> None:
    """Shares are above zero and finite."""
    assert shares(["ai=3", "general"]) == {"ai": 3.0, "general": 1.0}
    for word in ("ai=0", "ai=-1", "ai=inf", "ai=nan", "ai=", "=2"):
        with pytest.raises(Misused):
            shares([word])


def test_an_unknown_word_is_answered_with_the_known_ones() -> None:
    """The nearest one comes first, then all of them."""
    with pytest.raises(Misused) as refused:
        known(["complete"], ["completed", "failed"], "state")
    assert str(refused.value) == (
        "unknown state 'complete' (did you mean completed? one of completed, failed) [cli.misused]"
    )
