"""Attempts as the history tells them: who was told to run what, when it ran, what it sent, and what it was told."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.faults.history import Event

_ENDS = {"ended", "raised", "stopped"}


@dataclass(kw_only=True)
class Attempt:
    """One lease of one job, from the claim that told a worker of it."""

    job: int
    number: int
    kind: str
    token: str
    process: str
    claimed_at: float
    serial_key: str | None = None
    idempotency_keys: list[str] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    ended_at: float | None = None
    how_it_ended: str | None = None
    sent: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    @property
    def accepted(self) -> list[str]:
        """The states the database said its outcome led to; more than one is a fault."""
        return [state for state in self.answers if state not in {"lost", "busy"}]

    @property
    def name(self) -> str:
        return f"job {self.job} attempt {self.number} ({self.kind}, {self.process})"


@dataclass(frozen=True, kw_only=True)
class Story:
    """What the history tells: attempts, and when processes died, were paused, or had calls fail."""

    attempts: tuple[Attempt, ...]
    orphans: tuple[Event, ...]
    died_at: dict[str, float]
    paused: dict[str, list[tuple[float, float]]]
    failed_calls: dict[str, list[float]]
    processes: dict[int, str]

    def process_of(self, worker: str | None) -> str | None:
        """The process behind a worker's name in the database: host, pid, something random."""
        return self.processes.get(int(worker.split("-")[-2])) if worker else None

    def was_paused(self, process: str, begin: float, end: float) -> bool:
        return any(since < end and until > begin for since, until in self.paused[process])

    def had_failures(self, process: str, begin: float, end: float) -> bool:
        return any(begin <= at <= end for at in self.failed_calls[process])


def story_of(history: Iterable[Event]) -> Story:
    """Put the events of all processes together; what belongs to no told claim is an orphan."""
    told: dict[tuple[str, int, int], Attempt] = {}
    by_token: dict[tuple[str, int, str], Attempt] = {}
    attempts: list[Attempt] = []
    orphans: list[Event] = []
    died: dict[str, float] = {}
    paused: dict[str, list[tuple[float, float]]] = defaultdict(list)
    failed: dict[str, list[float]] = defaultdict(list)
    processes: dict[int, str] = {}
    for event in history:
        match event.what:
            case "born":
                processes[event["pid"]] = event.by
            case "claimed":
                attempt = _claimed(event)
                attempts.append(attempt)
                told[event.by, attempt.job, attempt.number] = attempt
                by_token[event.by, attempt.job, attempt.token] = attempt
            case "started" | "ended" | "raised" | "stopped":
                _hear(told.get((event.by, event["job"], event["attempt"])), event, orphans)
            case "finish_sent" | "finish_answered":
                _hear(by_token.get((event.by, event["job"], event["token"])), event, orphans)
            case "killed":
                died[event["process"]] = event.at
            case "paused":
                paused[event["process"]].append((event.at, float("inf")))
            case "resumed":
                since, _ = paused[event["process"]].pop()
                paused[event["process"]].append((since, event.at))
            case "call_failed":
                failed[event.by].append(event.at)
            case _:
                pass
    return Story(
        attempts=tuple(attempts),
        orphans=tuple(orphans),
        died_at=died,
        paused=paused,
        failed_calls=failed,
        processes=processes,
    )


def _claimed(event: Event) -> Attempt:
    return Attempt(
        job=event["job"],
        number=event["attempt"],
        kind=event["kind"],
        token=event["token"],
        process=event.by,
        claimed_at=event.at,
        serial_key=event.get("serial_key"),
    )


def _hear(attempt: Attempt | None, event: Event, orphans: list[Event]) -> None:
    if attempt is None:
        orphans.append(event)
    elif event.what == "started":
        attempt.starts.append(event.at)
        attempt.idempotency_keys.append(event["idempotency_key"])
    elif event.what in _ENDS:
        attempt.ended_at, attempt.how_it_ended = event.at, event.what
    elif event.what == "finish_sent":
        attempt.sent.append(event["outcome"])
    else:
        attempt.answers.append(event["state"])
