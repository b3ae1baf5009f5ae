"""Logs that are set up by their first line."""

import pytest

from livewell.kernel import Logger, before_the_first_line


def test_logs_are_set_up_once_before_the_first_line(caplog: pytest.LogCaptureFixture) -> None:
    """What sets logs up runs when something is logged, once, and not before."""
    runs: list[str] = []
    before_the_first_line(lambda: runs.append("set up"))
    log = Logger("livewell.test")
    assert runs == []
    log.warning("first_said", of=2)
    log.warning("second_said")
    assert runs == ["set up"]
    assert [record.getMessage() for record in caplog.records] == ["first_said of=2", "second_said"]
