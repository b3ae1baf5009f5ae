"""What refreshes tell Prometheus and the logs."""

from typing import Any
from uuid import uuid4

import pytest
from prometheus_client import REGISTRY

from livewell.fetching import (
    EndedFetch,
    Fetched,
    FetchFailed,
    FetchOutcome,
    FetchThrottled,
    Gone,
    Refused,
    Stored,
    Unchanged,
    tell_stored,
)
from livewell.testing import captured_logs

TOLD: list[tuple[FetchOutcome, str, dict[str, Any]]] = [
    (Refused(reason="schema", message="no price"), "warning", {"reason": "schema", "message": "no price"}),
    (FetchFailed(reason="timeout", message="too slow"), "warning", {"reason": "timeout", "message": "too slow"}),
    (FetchThrottled(seconds=3, message="HTTP 429"), "warning", {"reason": None, "message": "HTTP 429"}),
    (Gone(message="HTTP 404"), "info", {"reason": None, "message": "HTTP 404"}),
    (Unchanged(why="not_modified"), "debug", {}),
    (Fetched(rows=[{}], content_hash=b"1"), "debug", {}),
]


def sample(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def ended(job_id: int, outcome: FetchOutcome, *, data_type: str = "told", size: int | None = 10) -> EndedFetch:
    return EndedFetch(job_id, uuid4(), job_id, data_type, f"KEY{job_id}", outcome, bytes=size)


def stored(one: EndedFetch, state: str = "completed", outcome: str | None = None, reason: str | None = None) -> Stored:
    known = getattr(one.outcome, "reason", None)
    return Stored(one.job_id, state, outcome or one.outcome.word, reason or known)


@pytest.mark.parametrize(("outcome", "level", "fields"), TOLD, ids=[outcome.word for outcome, _, _ in TOLD])
def test_a_refresh_is_one_line(outcome: FetchOutcome, level: str, fields: dict[str, Any]) -> None:
    """With its job, type and key; what was not good says why, as a warning, and what became of the job."""
    one = ended(1, outcome)
    with captured_logs() as logs:
        tell_stored([one], [stored(one, "pending")])
    state = {} if level == "debug" else {"state": "pending"}
    whose = {"job_id": 1, "data_type": "told", "key": "KEY1"}
    assert logs == [{"event": f"refresh_{outcome.word}", "log_level": level, **whose, **state, **fields}]


def test_what_the_store_refused_is_refused() -> None:
    """The store has the last word: what was fetched and could not be stored is told as what it came to."""
    one = ended(1, Fetched(rows=[{}], content_hash=b"1"), data_type="drifted")
    with captured_logs() as logs:
        tell_stored([one], [stored(one, "pending", "refused", "table")])
    assert [(line["event"], line["reason"]) for line in logs] == [("refresh_refused", "table")]
    assert sample("livewell_refreshes_total", data_type="drifted", outcome="refused") == 1
    assert sample("livewell_refreshes_total", data_type="drifted", outcome="fetched") == 0


def test_outcomes_and_bytes_are_counted_by_type() -> None:
    """A batch adds each refresh once under its outcome, and the bytes of all; nothing is counted by key."""
    good = [ended(number, Unchanged(why="not_modified"), data_type="counted") for number in (1, 2)]
    bad = ended(3, FetchFailed(reason="connect", message="no connection"), data_type="counted", size=None)
    tell_stored([*good, bad], [stored(fetch) for fetch in [*good, bad]])
    counts = {
        word: sample("livewell_refreshes_total", data_type="counted", outcome=word) for word in ("unchanged", "failed")
    }
    assert counts == {"unchanged": 2, "failed": 1}
    assert sample("livewell_refresh_bytes_total", data_type="counted") == 20
    families = [family for family in REGISTRY.collect() if family.name.startswith("livewell_refresh")]
    assert {label for family in families for sample in family.samples for label in sample.labels} == {
        "data_type",
        "outcome",
    }


def test_a_lost_lease_has_no_outcome() -> None:
    """What no longer counted is told by whoever has the job now; its bytes were sent all the same."""
    one = ended(1, Fetched(rows=[{}], content_hash=b"1"), data_type="late")
    with captured_logs() as logs:
        tell_stored([one], [stored(one, "lost")])
    assert logs == []
    assert sample("livewell_refreshes_total", data_type="late", outcome="lost") == 1
    assert sample("livewell_refreshes_total", data_type="late", outcome="fetched") == 0
    assert sample("livewell_refresh_bytes_total", data_type="late") == 10
