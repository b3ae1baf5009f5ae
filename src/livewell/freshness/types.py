"""What is known of items and of what viewers saw."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple


@dataclass(frozen=True, kw_only=True)
class RefreshOutcome:
    """What one attempt to refresh an item came to; a refresh that was cancelled while it waited has no worker.

    What was put has no job, and `put` for a worker.
    """

    job_id: int | None
    worker: str | None
    started_at: datetime | None
    finished_at: datetime
    outcome: str
    reason: str | None


class ItemState(NamedTuple):
    """How an item is at a moment, without its content; all but its number are None when it is not there any more.

    `version` is another with other content, 0 before there is any. `fresh_for` is what is left of its TTL, negative
    when it is over. `refreshing` says that a refresh runs or may run now; else it is `waiting_for` `budget`, `gate`,
    `provider` or `others`, until a time that may not be known. `gone` is what the provider does not have.
    """

    item_id: int
    version: int | None
    fetched_at: datetime | None
    age: timedelta | None
    fresh_for: timedelta | None
    refreshing: bool | None
    waiting_for: str | None
    waiting_until: datetime | None
    gone: bool | None


@dataclass(frozen=True, kw_only=True)
class ExplainedItem:
    """Why an item is as it is. Rates are per minute, prices and scores in minutes of viewers.

    What the last fetch came to has its reason where it was not good; `blocked_by` is what keeps the next from being
    sent. `recent` are the last few outcomes, newest first, also of refreshes whose jobs are dropped.
    """

    data_type: str
    key: str
    item_id: int
    endpoint: str
    policy: str
    strategy: str
    viewers: int
    viewers_average: float
    watched_since: datetime | None
    newest: datetime | None
    ttl: timedelta
    stale: bool
    error: str | None
    gate: str
    gate_opens_at: datetime | None
    fetches: int
    changes: int
    change_rate: float
    bytes: float | None
    price: float | None
    score: float | None
    decision: str | None
    decided_at: datetime | None
    decision_now: str
    due_at: datetime | None
    last_outcome: str | None
    last_reason: str | None
    last_outcome_at: datetime | None
    failed_refreshes: int
    job_id: int | None
    job_state: str | None
    job_attempt: int | None
    job_priority: int | None
    job_due_at: datetime | None
    job_cause: str | None
    blocked_by: str | None
    blocked_until: datetime | None
    next_walk_at: datetime | None
    recent: tuple[RefreshOutcome, ...]


@dataclass(frozen=True, kw_only=True)
class WatchedType:
    """What is watched of a type at one moment; `oldest` is the age of the data that is longest ago.

    `refused` and `failed` count the items whose last fetch was; `reason` is that of the last of them.
    """

    data_type: str
    items: int
    viewers: int
    within_ttl: int
    viewers_within_ttl: int
    missing: int
    oldest: timedelta | None
    refused: int
    failed: int
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class FreshnessFigures:
    """What viewers saw of a type, or of all if it is None. Shares are of viewer-minutes; waits and ages in minutes."""

    data_type: str | None
    audience: str
    viewer_minutes: float
    within_ttl: float | None
    fresh: float | None
    ok: float | None
    w50: float | None
    w99: float | None
    overdue50: float | None
    overdue99: float | None
    fetches: int
    unchanged: float | None
    samples: int
    samples_fresh: float | None
    samples_fresh_error: float | None
    samples_ok: float | None
    samples_ok_error: float | None


@dataclass(frozen=True, kw_only=True)
class FreshnessHour:
    """What viewers saw of a type in one hour."""

    hour: datetime
    data_type: str
    viewer_minutes: float
    ok: float | None


@dataclass(frozen=True, kw_only=True)
class RefreshPolicy:
    """How a provider's refreshes are chosen; the price of a byte in minutes of viewers."""

    provider: str
    policy: str
    price: float | None
    bucket_share: float | None
    priced_at: datetime | None
