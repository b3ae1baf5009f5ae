"""The records of the queue. Expected outcomes are values: an attempt ends in exactly one of `Outcome`."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple, NewType, TypeAlias
from uuid import UUID

JobId = NewType("JobId", int)
JsonObject: TypeAlias = Mapping[str, Any]


class OnDuplicate(StrEnum):
    """What to do when a live job already has the dedupe key."""

    KEEP = "keep"
    REPLACE = "replace"
    RAISE_PRIORITY = "raise_priority"


class JobRequest(NamedTuple):
    """A job to be queued; what is None comes from its kind. A tuple, because thousands are made at once."""

    kind: str
    payload: JsonObject
    priority: int | None = None
    scheduled_at: datetime | None = None
    delay: timedelta | None = None
    category: str | None = None
    dedupe_key: str | None = None
    serial_key: str | None = None
    endpoint: str | None = None
    estimated_bytes: int | None = None
    estimated_tokens: int | None = None
    retries: int | None = None
    trace_context: JsonObject | None = None


class Enqueued(NamedTuple):
    """The answer for one request: the job that stands for it, and how that came about."""

    job_id: JobId
    outcome: str
    handled: bool


class ClaimedJob(NamedTuple):
    """A job as its worker got it; a tuple, because thousands are made a second."""

    job_id: JobId
    kind: str
    payload: str
    attempt: int
    failures: int
    lease_token: UUID
    lease_seconds: float
    priority: int
    serial_key: str | None
    endpoint: str | None
    trace_context: str | None
    api_key: str | None = None
    key_source: str | None = None
    send_within_seconds: float | None = None
    bundle: int | None = None


class Beat(NamedTuple):
    """What a heartbeat answers for one job: renewed, lost, or busy (being finished)."""

    job_id: JobId
    status: str
    cancel_reason: str | None
    lease_seconds: float | None


@dataclass(frozen=True, slots=True)
class Completed:
    """Done; the result, as JSON text, is kept with the job."""

    word: ClassVar[str] = "completed"
    result: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed:
    """Went wrong; it is tried again while it has retries left."""

    word: ClassVar[str] = "failed"
    error: JsonObject
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Reschedule:
    """Not now: again after a delay (with jitter), which costs no retry.

    Without a delay, as for want of capacity, it is the setting `queue.backpressure_delay`.
    """

    word: ClassVar[str] = "rescheduled"
    delay: timedelta | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Throttled:
    """The provider said: too much. The job's endpoint is closed until the time stated, or for a growing while.

    The job goes back without losing a retry. Without an endpoint it is the job that waits so long (a minute).
    """

    word: ClassVar[str] = "throttled"
    retry_after: timedelta | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Reset:
    """Again at once; what went wrong was not the job's fault."""

    word: ClassVar[str] = "reset"
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Cancel:
    """Not wanted any more."""

    word: ClassVar[str] = "cancelled"
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Dead:
    """Will never work: straight to the dead letters, whatever retries are left."""

    word: ClassVar[str] = "dead"
    reason: str
    error: JsonObject | None = None


NOTHING = Completed()
"""Done, with nothing to keep: what most handlers return, made once."""

Outcome: TypeAlias = Completed | Failed | Reschedule | Throttled | Reset | Cancel | Dead


@dataclass(kw_only=True, slots=True)
class Spent:
    """What an attempt used of its endpoint's budget, as far as it is known; what is not stays as it was reserved.

    `rate` is what the answer said of limits; `sent` is false when nothing was sent at all.
    """

    bytes: int | None = None
    tokens: int | None = None
    rate: JsonObject | None = None
    sent: bool = True

    def as_detail(self) -> dict[str, Any]:
        found = {"actual_bytes": self.bytes, "actual_tokens": self.tokens, "rate": self.rate}
        detail = {name: value for name, value in found.items() if value is not None}
        return detail if self.sent else {**detail, "sent": False}


class Finish(NamedTuple):
    """One attempt to be ended."""

    job_id: JobId
    lease_token: UUID
    outcome: Outcome
    spent: Spent | None = None


@dataclass(frozen=True, kw_only=True)
class KindDeclaration:
    """What a program says of a kind it handles; what is None keeps the database's default."""

    kind: str
    queue_group: str | None = None
    description: str | None = None
    retries: int | None = None
    backoff_first: timedelta | None = None
    backoff_max: timedelta | None = None
    lease: timedelta | None = None
    time_limit: timedelta | None = None
    concurrency: int | None = None
    default_priority: int | None = None
    payload_schema: JsonObject | None = None


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind as it is now."""

    kind: str
    queue_group: str
    description: str
    retries: int
    backoff_first: timedelta
    backoff_max: timedelta
    lease: timedelta | None
    time_limit: timedelta | None
    concurrency: int | None
    default_priority: int
    payload_schema: JsonObject | None
    paused_until: datetime | None
    paused_for_good: bool
    paused_reason: str | None
    workers: int


@dataclass(frozen=True, kw_only=True)
class Rescued:
    """A job taken back from a worker that went silent."""

    job_id: JobId
    kind: str
    worker: str
    state: str


@dataclass(frozen=True, kw_only=True)
class JobCount:
    """How many jobs of a kind are in a state."""

    queue_group: str | None
    kind: str
    state: str
    jobs: int
    oldest_due_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Changed:
    """What became of one job a person acted on."""

    job_id: JobId
    outcome: str
    live_job_id: JobId | None = None
