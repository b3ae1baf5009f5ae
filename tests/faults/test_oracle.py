"""What is read from the oracle's notes: windows, calls at once, calls into a storm."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.faults.history import HistoryReader
from tests.faults.oracle import OVERTAKEN, Arrival, Limit, into_the_storm, most_at_once, worst_window

ANY = Limit(name="any", allowed=2, counts=lambda _: True)


def _call(number: int, clock: float, **fields: Any) -> Arrival:
    known = {
        "at": clock,
        "left": clock + 1,
        "endpoint": "one/calls",
        "key": None,
        "job": number,
        "attempt": 1,
        "tokens": 10,
        "sent": fields.get("at", clock),
        "at_once": 1,
        "refused": False,
    }
    return Arrival(call=number, clock=clock, **{**known, **fields})


@pytest.mark.parametrize(
    ("times", "most"),
    [
        ([], 0),
        ([5.0], 1),
        ([0, 0, 0], 3),
        ([0, 59.999, 60, 119.9], 3),
        ([0, 60, 120], 1),
        ([119.9, 60, 0, 59.999], 3),
        ([0, 30.6, 61, 90, 90.5], 4),
    ],
)
def test_the_worst_window_is_found_wherever_it_begins(times: list[float], most: int) -> None:
    """The most in any sixty seconds, as if every window was tried; what is sixty seconds apart is not in one."""
    assert worst_window([(at, 1) for at in times], 60) == most
    assert worst_window([(at, 7) for at in times], 60) == 7 * most


def test_a_limit_counts_its_own_calls_or_tokens() -> None:
    """Calls of others do not count, nor what a pause has overtaken; tokens count as the calls used them."""
    late = _call(4, 3.0, at=3.0, sent=3.0 - OVERTAKEN - 0.1)
    calls = [_call(1, 0), _call(2, 1, tokens=30), _call(3, 2, endpoint="two/calls"), late]
    own = Limit(name="one", allowed=4, counts=lambda arrival: arrival.endpoint == "one/calls")
    assert own.share(calls) == 0.5
    assert Limit(name="one", allowed=10, counts=own.counts, tokens=True).share(calls) == 4.0
    assert ANY.share(calls) == 1.5


def test_calls_at_once_are_counted_from_both_ends() -> None:
    """A call that leaves as another comes makes room for it; one that never leaves stays; the oracle's count counts."""
    assert most_at_once([_call(1, 0, left=1), _call(2, 1, left=2)]) == 1
    assert most_at_once([_call(1, 0, left=float("inf")), _call(2, 1), _call(3, 1.5)]) == 3
    assert most_at_once([_call(1, 0, at_once=7)]) == 7
    assert most_at_once([]) == 0


@pytest.mark.parametrize(
    ("asked", "comes", "wrong"),
    [(1.9, 2.5, 0), (2.1, 2.5, 1), (2.1, 5.0, 0)],
    ids=["in flight", "asked for in the storm", "after the time stated"],
)
def test_a_call_into_the_storm_is_found(tmp_path: Path, asked: float, comes: float, wrong: int) -> None:
    """Only a call that was asked for after the 429 was known and came before the time stated is wrong."""
    history = [
        {"what": "claimed", "at": 0.5, "job": 1, "attempt": 1, "asked": 0.4},
        {"what": "storm", "at": 1, "endpoint": "one/calls", "clock": 1, "headers": {"a": "{seconds}"}, "until": 5},
        {"what": "finish_sent", "at": 1.5, "job": 1, "token": "t", "outcome": "throttled"},
        {"what": "finish_answered", "at": 2, "job": 1, "token": "t", "state": "pending"},
        {"what": "claimed", "at": asked + 0.1, "job": 2, "attempt": 1, "asked": asked},
    ]
    (tmp_path / "all.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in history))
    calls = [_call(1, 1.2, refused=True), _call(2, comes)]
    told, found = into_the_storm(HistoryReader(tmp_path), calls, "one/calls")
    assert (told, len(found)) == (1, wrong)


def test_lies_bind_nobody(tmp_path: Path) -> None:
    """A storm that states no honest time is not judged by it."""
    storm = {"what": "storm", "at": 1, "endpoint": "one/calls", "clock": 1, "headers": {"Retry-After": "0"}, "until": 5}
    (tmp_path / "all.jsonl").write_text(f"{json.dumps(storm)}\n")
    assert into_the_storm(HistoryReader(tmp_path), [_call(1, 2, refused=True)], "one/calls") == (0, [])
