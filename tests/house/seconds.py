"""A pytest plugin: the seconds each room's tests take, beside its share, and the ten slowest tests by name.

The shares are in `seconds.toml`. A room that takes more is named; a run that has LIVEWELL_TEST_SHARES=1, as those of
`.ci/run` on the embedded server have, fails when one takes twice as much. On a machine where all rooms together take
longer than their shares, each may take as many times its own: who grew is found out, not who was run on a slow day.
"""

import os
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

SHARES = Path(__file__).with_name("seconds.toml")
STRICT = "LIVEWELL_TEST_SHARES"
_SLOWEST = 10
_TOO_MUCH = 2.0
_WORTH_TELLING = 100


def shares() -> dict[str, float]:
    """The seconds a room may take, all its tests one after the other."""
    with SHARES.open("rb") as file:
        return {room: float(seconds) for room, seconds in tomllib.load(file)["seconds"].items()}


def room_of(nodeid: str) -> str:
    """`src/livewell/jobs/tests/…` is the room jobs, `tests/acceptance/…` the folder acceptance."""
    parts = Path(nodeid.partition("::")[0]).parts
    return parts[2] if parts[:2] == ("src", "livewell") else parts[1]


def over_their_shares(taken: Mapping[str, float], times: float = 1.0) -> list[str]:
    """Rooms that took more than so many times their share, measured by the pace of the whole run."""
    allowed = times * max(1.0, sum(taken.values()) / sum(shares().values()))
    return [room for room, share in shares().items() if taken.get(room, 0.0) > share * allowed]


class Seconds:
    """What a run took."""

    def __init__(self) -> None:
        self._by_test: Counter[str] = Counter()
        self.over: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._by_test[report.nodeid.partition("@")[0]] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.over = over_their_shares(self._by_room())
        grown = over_their_shares(self._by_room(), _TOO_MUCH)
        if grown and os.environ.get(STRICT) == "1" and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if len(self._by_test) < _WORTH_TELLING:
            return
        terminalreporter.section("seconds by room, of its share")
        for room, seconds in self._by_room().most_common():
            mark = "  OVER ITS SHARE: see tests/house/seconds.toml" if room in self.over else ""
            terminalreporter.write_line(f"{seconds:8.1f} of {shares().get(room, 0):5.0f}  {room}{mark}")
        terminalreporter.section(f"the {_SLOWEST} slowest tests")
        for test, seconds in self._by_test.most_common(_SLOWEST):
            terminalreporter.write_line(f"{seconds:8.1f}  {test}")

    def _by_room(self) -> Counter[str]:
        by_room: Counter[str] = Counter()
        for test, seconds in self._by_test.items():
            by_room[room_of(test)] += seconds
        return by_room


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Seconds(), "seconds by room")
