"""The records of the schedule, and the one document that answers whoever asks for a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

JsonObject: TypeAlias = Mapping[str, Any]
RunAnswer: TypeAlias = dict[str, Any]
"""`{ok, ran, result}`, `{ok, ran, error}` or `{ok, skipped, reason}`: the same over SQL, HTTP and the command line."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task as it is now."""

    name: str
    description: str
    run: str | None
    every: timedelta | None
    cron: str | None
    time_zone: str
    jitter: timedelta
    backoff_min: timedelta
    backoff_max: timedelta
    lease: timedelta
    time_limit: timedelta
    late_after: timedelta
    enabled: bool
    due_at: datetime
    epoch: int
    lease_until: datetime | None
    holder: str | None
    started_at: datetime | None
    last_success_at: datetime | None
    last_failure_at: datetime | None
    last_error: JsonObject | None
    failures: int


@dataclass(frozen=True, kw_only=True)
class TaskRun:
    """An ended run, or all quiet runs of an hour, with the node of the last."""

    id: int
    task: str
    epoch: int
    node: str
    outcome: str
    quiet: bool
    started_at: datetime
    ended_at: datetime
    runs: int
    total_time: timedelta
    longest_time: timedelta
    result: Any
    error: JsonObject | None


class DueTask(NamedTuple):
    """A task that is due and free; `run` names its SQL function, None means a handler in a program."""

    name: str
    run: str | None


class Look(NamedTuple):
    """What is due now, and in how many seconds something is due next; None when nothing is."""

    due: list[DueTask]
    next_in: float | None


class TakenTask(NamedTuple):
    """The answer for one task that was asked for: a lease, or the reason why not."""

    name: str
    reason: str | None
    token: UUID | None
    epoch: int | None
    lease_seconds: float | None
    time_limit_seconds: float | None


class TaskRenewal(NamedTuple):
    """What renewing answers for one task: renewed or lost."""

    name: str
    status: str
    lease_seconds: float | None


def skipped(reason: str, *, error: str | None = None) -> RunAnswer:
    """Nothing was run, and that is fine."""
    answer: RunAnswer = {"ok": True, "skipped": True, "reason": reason}
    return answer if error is None else {**answer, "error": error}


def failed(error: JsonObject) -> RunAnswer:
    return {"ok": False, "ran": True, "error": dict(error)}


def succeeded(result: Any) -> RunAnswer:
    return {"ok": True, "ran": True, "result": result}
