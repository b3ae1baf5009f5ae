"""Trouble that lasts fills no log."""

from collections.abc import MutableMapping
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from livewell.kernel.log_repeats import Repeats

AWAY = "cannot connect to the database: {} (check DATABASE_URL and that the server runs) [kernel.database_unavailable]"


class Log:
    """A log with a clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self._repeats = Repeats(lambda: self.now)

    def __call__(self, event: str, *, level: str = "warning", **fields: Any) -> MutableMapping[str, Any] | None:
        try:
            return self._repeats(None, "", {"event": event, "level": level, **fields})
        except structlog.DropEvent:
            return None


def test_an_outage_is_one_line_whoever_meets_it() -> None:
    """Parts that all find the database away, each with words of its own, are told as one trouble."""
    log = Log()
    assert log("listener_lost", reason=AWAY.format("shutting down"), attempt=1)
    assert log("claim_failed", error=AWAY.format("[Errno 2] No such file"), in_a_row=1) is None
    assert log("agent_failed", name="task_gauges", reason=AWAY.format("refused"), in_a_row=1) is None


def test_what_lasts_is_told_once_a_minute_with_how_often_it_came() -> None:
    """An hour of an outage, met every second, is a line a minute, and none of them has a traceback but the first."""
    log, told = Log(), []
    for second in range(3600):
        log.now = float(second)
        told.append(log("agent_failed", name="gauges", reason="it is broken", in_a_row=second, exc_info=ValueError()))
    lines = [line for line in told if line is not None]
    assert len(lines) == 60
    assert ["exc_info" in line for line in lines] == [True] + [False] * 59
    assert {line["untold"] for line in lines[1:]} == {59}


def test_what_is_over_and_comes_back_is_told_again() -> None:
    """Trouble not met for ten seconds is new when it is met again, however short its minute."""
    log = Log()
    assert log("claim_failed", error=AWAY.format("refused"))
    log.now = 10.5
    assert log("claim_failed", error=AWAY.format("refused"))


def test_nobody_who_is_lost_goes_unnamed() -> None:
    """Workers that are forgotten in one moment are each told by name."""
    log = Log()
    assert [log("worker_forgotten", worker=name) is not None for name in ("a", "b", "c")] == [True] * 3


def test_what_was_not_told_is_counted_when_it_comes_back() -> None:
    """How often a trouble came that was over within its minute is said when it is met again."""
    log = Log()
    for second in range(5):
        log.now = float(second)
        log("agent_failed", name="gauges", reason="it is broken")
    log.now = 100.0
    told = log("agent_failed", name="gauges", reason="it is broken")
    assert told is not None
    assert told["untold"] == 4


@pytest.mark.parametrize(
    "other",
    [
        {"event": "claim_refused"},
        {"name": "queue_gauges"},
        {"reason": "another"},
        {"problems": ["the task check is late"]},
        {"reason": "it is so [jobs.unknown_kind]"},
    ],
)
def test_other_trouble_is_told(other: dict[str, Any]) -> None:
    """Another event, another part and another cause are news."""
    log, same = Log(), {"event": "agent_failed", "name": "task_gauges", "reason": "it is broken"}
    assert log(**same)
    assert log(**same) is None
    assert log(**same | other)


def test_refreshes_that_fail_alike_are_one_trouble() -> None:
    """A provider that is down is told once by type and reason, not once by key."""
    log = Log()
    down = {"data_type": "quote", "reason": "unreachable", "state": "pending"}
    assert log("refresh_failed", job_id=1, key="AAPL", message="AAPL: refused", **down)
    assert log("refresh_failed", job_id=2, key="MSFT", message="MSFT: refused", **down) is None
    assert log("refresh_failed", job_id=3, key="MSFT", message="", **down | {"data_type": "profile"})


@given(st.lists(st.sampled_from(["info", "debug"])), st.lists(st.integers(1, 9)))
def test_what_is_no_trouble_and_jobs_of_people_are_always_told(levels: list[str], jobs: list[int]) -> None:
    """Ordinary lines are never held back, and neither is the failure of a job, though it fails as the last one did."""
    log = Log()
    assert all(log("task_finished", level=level, reason="as ever") for level in levels)
    assert all(log("job_failed", job_id=job, kind="report", error="ValueError: no") for job in jobs)
