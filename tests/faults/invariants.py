"""The checker: what must hold of a run once it is quiet, judged from the history and from the database as it is then.

- I1 every acknowledged job is there, once, in a terminal state
- I2 an attempt is told to one worker, runs once, and is accepted once at most; what was accepted is what is on record
- I3 no kind above its concurrency, no serial key twice at once, by the running times of the attempts
- I6 no lease is left
- I7 a terminal state that was seen stays as it was
- live: no job of a worker that lives is taken from it
- key: all attempts of a job carry one idempotency key, and no two jobs share one
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.faults.attempts import Attempt, Story, story_of
from tests.faults.history import Event
from tests.faults.snapshot import Snapshot

TERMINAL = frozenset({"completed", "failed", "cancelled"})

# A call into silence is known to have failed only when its own bound has passed.
_LONGEST_SILENCE = 15.0


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What the run promised: caps by kind, and whether a worker cut off from its database may lose its jobs."""

    caps: Mapping[str, int] = field(default_factory=dict)
    cut_off_may_lose: bool = False


@dataclass(frozen=True, kw_only=True)
class Violation:
    """One broken invariant, and how."""

    invariant: str
    detail: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.detail}"


def judge(history: Iterable[Event], snapshot: Snapshot, terms: Terms) -> list[Violation]:
    """Everything that is wrong; an empty list means the run passed."""
    events = list(history)
    story = story_of(events)
    found = {
        "I1": _unfinished(events, snapshot),
        "I2": (*_accepted_twice(story), *_not_on_record(story, snapshot), *_unrecorded_attempts(snapshot)),
        "I3": _too_many_at_once(story, terms),
        "I6": (f"job {job.id} still has a lease" for job in snapshot.jobs if job.leased),
        "I7": _changed_after_the_end(events, snapshot),
        "live": _taken_from_the_living(story, snapshot, terms),
        "key": _keys(story),
    }
    return [Violation(invariant=name, detail=detail) for name, details in found.items() for detail in details]


def _unfinished(history: list[Event], snapshot: Snapshot) -> Iterator[str]:
    rows = defaultdict(list)
    for job in snapshot.jobs:
        rows[job.id].append(job)
    for job_id, same in rows.items():
        if len(same) > 1:
            yield f"job {job_id} is there {len(same)} times"
    for job_id in {event["job"] for event in history if event.what == "acknowledged"}:
        states = {job.state for job in rows[job_id]}
        if not states:
            yield f"job {job_id} was acknowledged and is gone"
        elif not states <= TERMINAL:
            yield f"job {job_id} was acknowledged and is {', '.join(states)}"


def _accepted_twice(story: Story) -> Iterator[str]:
    for event in story.orphans:
        yield f"{event.by} {event.what} an attempt it was not told of: {dict(event.fields)}"
    told = Counter((attempt.job, attempt.number) for attempt in story.attempts)
    for (job, number), times in told.items():
        if times > 1:
            yield f"job {job} attempt {number} was given to {times} claims"
    ends = Counter(attempt.job for attempt in story.attempts for state in attempt.accepted if state in TERMINAL)
    for job, times in ends.items():
        if times > 1:
            yield f"job {job} was ended {times} times"
    for attempt in story.attempts:
        if len(attempt.starts) > 1:
            yield f"{attempt.name} started {len(attempt.starts)} times"
        if len(attempt.accepted) > 1:
            yield f"{attempt.name} was accepted {len(attempt.accepted)} times"


def _not_on_record(story: Story, snapshot: Snapshot) -> Iterator[str]:
    """What a worker was told of an end is what the database has; what it has as completed somebody ran and sent."""
    rows = {job.id: job for job in snapshot.jobs}
    recorded = {(row.job_id, row.attempt) for row in snapshot.attempts}
    sent = {
        (attempt.job, attempt.number) for attempt in story.attempts if attempt.starts and "completed" in attempt.sent
    }
    for attempt in story.attempts:
        row = rows.get(attempt.job)
        for state in attempt.accepted:
            if state in TERMINAL and (row is None or (row.state, row.attempt) != (state, attempt.number)):
                now = "gone" if row is None else f"{row.state} on attempt {row.attempt}"
                yield f"{attempt.name} was told {state}, and the job is {now}"
            elif state not in TERMINAL and (attempt.job, attempt.number) not in recorded:
                yield f"{attempt.name} was told {state}, and is not on record"
    for row in snapshot.jobs:
        if row.state == "completed" and (row.id, row.attempt) not in sent:
            yield f"job {row.id} is completed on attempt {row.attempt}, which nobody ran and sent"


def _unrecorded_attempts(snapshot: Snapshot) -> Iterator[str]:
    """Each attempt that did not end its job is on record once: one that vanished was run over by the next."""
    recorded = Counter((row.job_id, row.attempt) for row in snapshot.attempts)
    for (job_id, number), times in recorded.items():
        if times > 1:
            yield f"job {job_id} attempt {number} is on record {times} times"
    for job in snapshot.jobs:
        if job.state in TERMINAL:
            last = job.attempt if job.worker is None else job.attempt - 1
            missing = [number for number in range(1, last + 1) if (job.id, number) not in recorded]
            if missing:
                yield f"job {job.id} is {job.state} on attempt {job.attempt}, without a record of {missing}"


def _too_many_at_once(story: Story, terms: Terms) -> Iterator[str]:
    by_kind, by_serial_key = defaultdict(list), defaultdict(list)
    for attempt in story.attempts:
        if attempt.starts and not _is_a_ghost(attempt, story):
            by_kind[attempt.kind].append(attempt)
            if attempt.serial_key is not None:
                by_serial_key[attempt.serial_key].append(attempt)
    for kind, cap in terms.caps.items():
        yield from _above(cap, by_kind[kind], story, f"kind {kind}")
    for serial_key, attempts in by_serial_key.items():
        yield from _above(1, attempts, story, f"serial key {serial_key}")


def _is_a_ghost(attempt: Attempt, story: Story) -> bool:
    """A paused process cannot stop itself; what it runs past its lease counts only if it was accepted."""
    return not attempt.accepted and story.was_paused(attempt.process, attempt.claimed_at, _end(attempt, story))


def _above(cap: int, attempts: list[Attempt], story: Story, what: str) -> Iterator[str]:
    steps = sorted(
        [(attempt.starts[0], 1, attempt) for attempt in attempts]
        + [(_end(attempt, story), -1, attempt) for attempt in attempts],
        key=lambda step: (step[0], step[1]),
    )
    running: list[Attempt] = []
    for _, change, attempt in steps:
        if change < 0:
            running.remove(attempt)
            continue
        running.append(attempt)
        if len(running) > cap:
            yield f"{what} ran {len(running)} at once: {', '.join(span.name for span in running)}"


def _end(attempt: Attempt, story: Story) -> float:
    if attempt.ended_at is not None:
        return attempt.ended_at
    return story.died_at.get(attempt.process, float("inf"))


def _changed_after_the_end(history: list[Event], snapshot: Snapshot) -> Iterator[str]:
    rows = {job.id: (job.state, job.attempt, str(job.finished_at)) for job in snapshot.jobs}
    for event in history:
        if event.what == "seen":
            then = (event["state"], event["attempt"], event["finished_at"])
            if rows.get(event["job"]) != then:
                yield f"job {event['job']} was seen as {then} and is {rows.get(event['job'], 'gone')}"


def _taken_from_the_living(story: Story, snapshot: Snapshot, terms: Terms) -> Iterator[str]:
    """A claim whose answer was cut off leaves a lease that nobody knows to renew."""
    told = {(attempt.job, attempt.number) for attempt in story.attempts}
    for rescue in snapshot.rescues():
        process = story.process_of(rescue.worker)
        if process is None:
            yield f"job {rescue.job} attempt {rescue.attempt} was rescued from {rescue.worker}, whom nobody knows"
            continue
        if story.died_at.get(process, float("inf")) <= rescue.at:
            continue
        if story.was_paused(process, rescue.claimed_at, rescue.at):
            continue
        cut_off = story.had_failures(process, rescue.claimed_at, rescue.at + _LONGEST_SILENCE)
        if terms.cut_off_may_lose and (cut_off or (rescue.job, rescue.attempt) not in told):
            continue
        seconds = rescue.at - rescue.claimed_at
        yield f"job {rescue.job} attempt {rescue.attempt} was rescued after {seconds:.1f} s while {process} lived"


def _keys(story: Story) -> Iterator[str]:
    keys, owners = defaultdict(set), defaultdict(set)
    for attempt in story.attempts:
        for key in attempt.idempotency_keys:
            keys[attempt.job].add(key)
            owners[key].add(attempt.job)
    yield from (f"job {job} ran under {len(same)} idempotency keys" for job, same in keys.items() if len(same) > 1)
    yield from (f"jobs {sorted(jobs)} share the key {key}" for key, jobs in owners.items() if len(jobs) > 1)
