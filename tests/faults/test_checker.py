"""The checker itself: a good history passes, and each way of being bad is found and named."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.faults.history import Event, HistoryReader, Notebook
from tests.faults.invariants import Terms, judge
from tests.faults.snapshot import AttemptRow, JobRow, Snapshot

TERMS = Terms(caps={"capped": 1})


class Book:
    """A history and a database made by hand: jobs that one worker completes, and one rescued from the other's death."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.jobs: dict[int, JobRow] = {}
        self.attempts: list[AttemptRow] = []
        self.note("born", "alive", 0, pid=1)
        self.note("born", "doomed", 0, pid=2)
        self.completed(1, begin=1, end=2)
        self.completed(2, begin=3, end=4, serial_key="a")
        self.completed(3, begin=5, end=6, serial_key="a")
        self.completed(4, begin=3, end=4, kind="capped")
        self.rescued_and_completed(5)

    def note(self, what: str, by: str, at: float, **fields: Any) -> None:
        self.events.append(Event(what=what, at=at, by=by, fields=fields))

    def row(self, job: int, attempt: int = 1, **fields: Any) -> None:
        known: dict[str, Any] = {
            "state": "completed",
            "failures": 0,
            "kind": "quick",
            "dedupe_key": None,
            "worker": "host-1-aa",
            "leased": False,
            "started_at": _time(1),
            "finished_at": _time(2),
            "error_type": None,
        }
        self.jobs[job] = JobRow(id=job, attempt=attempt, **{**known, **fields})

    def ran(self, job: int, attempt: int, by: str, begin: float, end: float | None, **fields: Any) -> None:
        told = {"kind": "quick", "serial_key": None, **fields}
        self.note("claimed", by, begin - 0.1, job=job, attempt=attempt, token=f"t{attempt}", **told)
        self.note("started", by, begin, job=job, attempt=attempt, idempotency_key=f"key-{job}")
        if end is not None:
            self.note("ended", by, end, job=job, attempt=attempt)
            self.note("finish_sent", by, end, job=job, token=f"t{attempt}", outcome="completed")

    def answered(self, job: int, attempt: int, by: str, at: float, state: str) -> None:
        self.note("finish_answered", by, at, job=job, token=f"t{attempt}", state=state)

    def completed(
        self, job: int, *, begin: float, end: float, kind: str = "quick", serial_key: str | None = None
    ) -> None:
        self.note("acknowledged", "producer", begin - 1, job=job)
        self.ran(job, 1, "alive", begin, end, kind=kind, serial_key=serial_key)
        self.answered(job, 1, "alive", end + 0.1, "completed")
        self.row(job, kind=kind)
        self.note("seen", "harness", end + 1, job=job, state="completed", attempt=1, finished_at=str(_time(2)))

    def rescued_and_completed(self, job: int) -> None:
        self.note("acknowledged", "producer", 0, job=job)
        self.ran(job, 1, "doomed", 10, None)
        self.note("killed", "harness", 11, process="doomed")
        self.attempts.append(_attempt(job, 1, "host-2-bb", 10, 14, "rescued"))
        self.ran(job, 2, "alive", 15, 16)
        self.answered(job, 2, "alive", 16.1, "completed")
        self.row(job, attempt=2)

    def change(self, job: int, **fields: Any) -> None:
        self.jobs[job] = replace(self.jobs[job], **fields)

    def broken(self, terms: Terms = TERMS) -> set[str]:
        history = sorted(self.events, key=lambda event: event.at)
        snapshot = Snapshot(jobs=tuple(self.jobs.values()), attempts=tuple(self.attempts))
        return {violation.invariant for violation in judge(history, snapshot, terms)}


def _time(second: float) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def _attempt(job: int, number: int, worker: str, began: float, ended: float, outcome: str) -> AttemptRow:
    return AttemptRow(
        job_id=job, attempt=number, worker=worker, started_at=_time(began), ended_at=_time(ended), outcome=outcome
    )


def _lost(book: Book) -> None:
    del book.jobs[1]


def _unfinished(book: Book) -> None:
    book.change(1, state="pending")


def _ended_twice(book: Book) -> None:
    book.answered(5, 1, "doomed", 17, "completed")


def _accepted_twice(book: Book) -> None:
    book.answered(1, 1, "alive", 9, "completed")


def _told_to_two(book: Book) -> None:
    book.ran(1, 1, "doomed", 1.5, 2)


def _started_twice(book: Book) -> None:
    book.note("started", "alive", 1.2, job=1, attempt=1, idempotency_key="key-1")


def _ran_untold(book: Book) -> None:
    book.note("started", "alive", 1.2, job=99, attempt=1, idempotency_key="key-99")


def _zombie_accepted(book: Book) -> None:
    book.answered(5, 1, "doomed", 15.5, "completed")
    book.events = [e for e in book.events if not (e.what == "finish_answered" and e["job"] == 5 and e["token"] == "t2")]


def _completed_by_nobody(book: Book) -> None:
    book.row(6)


def _promise_broken(book: Book) -> None:
    book.change(1, state="failed")


def _retry_not_on_record(book: Book) -> None:
    book.ran(7, 1, "alive", 20, 21)
    book.answered(7, 1, "alive", 21.1, "pending")


def _attempt_run_over(book: Book) -> None:
    book.attempts.clear()


def _attempt_recorded_twice(book: Book) -> None:
    book.attempts.append(_attempt(5, 1, "host-2-bb", 10, 14.5, "rescued"))


def _cap_exceeded(book: Book) -> None:
    book.completed(8, begin=3.5, end=4.5, kind="capped")


def _serial_overlap(book: Book) -> None:
    book.completed(8, begin=5.5, end=6.5, serial_key="a")


def _lease_left(book: Book) -> None:
    book.change(1, leased=True)


def _changed_after_the_end(book: Book) -> None:
    book.change(1, finished_at=_time(3))


def _taken_from_the_living(book: Book) -> None:
    book.events = [event for event in book.events if event.what != "killed"]


def _taken_before_the_death(book: Book) -> None:
    book.attempts[0] = replace(book.attempts[0], ended_at=_time(10.5))


def _buried_alive(book: Book) -> None:
    book.change(1, state="failed", error_type="LeaseExpired")


def _taken_from_a_stranger(book: Book) -> None:
    book.attempts[0] = replace(book.attempts[0], worker="host-3-cc")


def _two_keys(book: Book) -> None:
    book.ran(5, 3, "alive", 30, None)
    book.events[-1] = replace(book.events[-1], fields={**book.events[-1].fields, "idempotency_key": "other"})


def _shared_key(book: Book) -> None:
    book.ran(6, 1, "alive", 30, None)
    book.events[-1] = replace(book.events[-1], fields={**book.events[-1].fields, "idempotency_key": "key-1"})


@pytest.mark.parametrize(
    ("spoil", "invariant"),
    [
        (_lost, "I1"),
        (_unfinished, "I1"),
        (_ended_twice, "I2"),
        (_accepted_twice, "I2"),
        (_told_to_two, "I2"),
        (_started_twice, "I2"),
        (_ran_untold, "I2"),
        (_zombie_accepted, "I2"),
        (_completed_by_nobody, "I2"),
        (_promise_broken, "I2"),
        (_retry_not_on_record, "I2"),
        (_attempt_run_over, "I2"),
        (_attempt_recorded_twice, "I2"),
        (_cap_exceeded, "I3"),
        (_serial_overlap, "I3"),
        (_lease_left, "I6"),
        (_changed_after_the_end, "I7"),
        (_taken_from_the_living, "live"),
        (_taken_before_the_death, "live"),
        (_buried_alive, "live"),
        (_taken_from_a_stranger, "live"),
        (_two_keys, "key"),
        (_shared_key, "key"),
    ],
)
def test_a_bad_history_is_found_out(spoil: Callable[[Book], None], invariant: str) -> None:
    """One thing wrong in an otherwise good history, and the invariant it breaks is named."""
    book = Book()
    spoil(book)
    assert invariant in book.broken()


def test_a_good_history_passes() -> None:
    """A job completed, one rescued from the dead and completed by another: nothing is wrong."""
    assert Book().broken() == set()


def test_a_repeated_finish_that_had_arrived_is_no_fault() -> None:
    """An answer that was lost on the way is asked for again and told `lost`; the job is completed once all the same."""
    book = Book()
    book.events = [e for e in book.events if not (e.what == "finish_answered" and e["job"] == 1)]
    book.answered(1, 1, "alive", 9, "lost")
    assert book.broken() == set()


def test_what_a_paused_worker_runs_counts_only_when_accepted() -> None:
    """A paused process overlaps with its successor and cannot help it; accepted, it is a fault."""
    book = Book()
    book.note("paused", "harness", 5.2, process="alive")
    book.note("resumed", "harness", 20, process="alive")
    book.ran(8, 1, "alive", 5.1, 20.5, serial_key="a")
    book.answered(8, 1, "alive", 20.6, "lost")
    book.attempts.append(_attempt(8, 1, "host-1-aa", 5, 9, "rescued"))
    book.row(8, attempt=2, state="cancelled")
    assert book.broken() == set()
    book.answered(8, 1, "alive", 20.7, "pending")
    assert "I3" in book.broken()


def test_a_worker_cut_off_may_lose_its_jobs_where_that_is_the_fault() -> None:
    """When calls of a worker failed meanwhile its lease may have run out, but only in runs that cut it off."""
    book = Book()
    _taken_from_the_living(book)
    book.note("call_failed", "doomed", 12, call="heartbeat")
    assert "live" in book.broken()
    assert "live" not in book.broken(replace(TERMS, cut_off_may_lose=True))


def test_a_claim_whose_answer_was_cut_off_has_nobody_to_live() -> None:
    """A lease that its worker was never told of runs out; that is a fault only where nobody cuts answers off."""
    book = Book()
    book.note("acknowledged", "producer", 0, job=6)
    book.attempts.append(_attempt(6, 1, "host-1-aa", 10, 14, "rescued"))
    book.ran(6, 2, "alive", 15, 16)
    book.answered(6, 2, "alive", 16.1, "completed")
    book.row(6, attempt=2)
    assert book.broken() == {"live"}
    assert book.broken(replace(TERMS, cut_off_may_lose=True)) == set()


def test_what_was_noted_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    """Each process has a file of its own; a reader sees all of them, and what is added later."""
    one, two = Notebook(tmp_path, "one"), Notebook(tmp_path, "two")
    one.note("first")
    two.note("second", job=1)
    reader = HistoryReader(tmp_path)
    assert [(event.what, event.by) for event in reader.events()] == [("first", "one"), ("second", "two")]
    one.note("third")
    assert [event.what for event in reader.events()] == ["first", "second", "third"]
    assert [event.get("job") for event in reader.events("second", "third")] == [1, None]
    one.close()
    two.close()
