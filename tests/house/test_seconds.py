"""The suite stays one of minutes: every room has its share of seconds, and together they fit."""

from pathlib import Path

from tests.house.project import ROOT
from tests.house.seconds import over_their_shares, room_of, shares

_MINUTES = 8
_PROCESSES = 2
# Run by commands of their own.
_APART = {"faults"}


def test_every_room_has_its_share_of_seconds() -> None:
    """A room with tests has a share, and a share has a room: nothing grows unseen."""
    files = [*ROOT.glob("src/livewell/*/tests/test_*.py"), *ROOT.glob("tests/*/test_*.py")]
    rooms = {room_of(path.relative_to(ROOT).as_posix()) for path in files}
    assert rooms - _APART == set(shares())


def test_the_shares_together_are_eight_minutes_on_two_cores() -> None:
    """Who wants more seconds finds them in another room first."""
    assert sum(shares().values()) <= _MINUTES * 60 * _PROCESSES


def test_a_test_belongs_to_its_room() -> None:
    """By the folder it lies in, whatever it is called."""
    assert room_of("src/livewell/jobs/tests/test_sql_claim.py::test_x[a/b::c]") == "jobs"
    assert room_of(str(Path("tests") / "acceptance" / "test_up.py") + "::test_y") == "acceptance"


def test_who_grew_is_found_out_and_a_slow_machine_is_not() -> None:
    """A room that takes more than its share is over it; one that is slow as all others are is not."""
    assert over_their_shares(shares()) == []
    assert over_their_shares({room: 3 * seconds for room, seconds in shares().items()}) == []
    assert over_their_shares({**shares(), "audit": shares()["audit"] * 1.5}) == ["audit"]
    assert over_their_shares({"audit": shares()["audit"] + 1}) == ["audit"]
    assert over_their_shares({"audit": shares()["audit"] + 1}, times=2) == []
