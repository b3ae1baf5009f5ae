"""The records of budgets: what is declared, how much of it is used, and permits."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NewType
from uuid import UUID

BlockId = NewType("BlockId", UUID)
PermitOutcome = Literal["completed", "failed", "unsent"]


@dataclass(frozen=True, kw_only=True)
class Provider:
    """An upstream API as it is declared; no `quota_bytes` is no quota."""

    name: str
    state: str
    description: str
    base_url: str | None
    quota_bytes: int | None
    quota_window: timedelta
    quota_use: float
    pace: str
    pace_bucket: timedelta
    policy: str | None
    hosts: list[str]
    key_in: str | None
    allow_private: bool
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One call of a provider, or the account itself; a limit that is None is no limit."""

    name: str
    provider: str
    state: str
    description: str
    requests_per_minute: int | None
    requests_per_hour: int | None
    tokens_per_minute: int | None
    tokens_per_hour: int | None
    concurrent: int | None
    limiter: str
    send_within: timedelta
    backpressure_share: float
    backpressure_delay: timedelta
    depth_limit: int | None
    serial_keys: bool
    expected_bytes: int
    max_bytes: int
    max_tokens: int | None
    retry_after: timedelta
    retry_after_max: timedelta
    breaker_failures: int | None
    breaker_window: timedelta
    breaker_cooldown: timedelta
    breaker_cooldown_max: timedelta
    breaker_trials: int
    closed_until: datetime | None
    closed_for_good: bool
    closed_reason: str | None
    breaker: str
    call_timeout: timedelta
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """Where a key is found, never the key."""

    provider: str
    name: str
    scope: str
    source: str
    enabled: bool
    requests_per_minute: int | None
    requests_per_hour: int | None
    tokens_per_minute: int | None
    tokens_per_hour: int | None
    concurrent: int | None
    granted: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class BudgetState:
    """What is used of an endpoint, an account or a scope of keys now; `opens_at` None is open, or closed for good."""

    name: str
    kind: str
    provider: str
    state: str
    requests_per_minute: int | None
    requests_last_minute: int
    requests_per_hour: int | None
    requests_last_hour: int
    tokens_per_minute: int | None
    tokens_last_minute: int
    tokens_per_hour: int | None
    tokens_last_hour: int
    concurrent: int | None
    in_flight: int
    waiting: int
    learned: dict[str, Any]
    opens_at: datetime | None
    closed_for_good: bool
    closed_reason: str | None
    breaker: str
    breaker_until: datetime | None


@dataclass(frozen=True, kw_only=True)
class QuotaState:
    """What is used of a provider's quota now; `exhausted_at` None is never."""

    provider: str
    quota_bytes: int | None
    allowed_bytes: int | None
    used_bytes: int
    in_flight_bytes: int
    share: float | None
    level: int
    open: bool
    open_for_scheduled: bool
    opens_at: datetime | None
    exhausted_at: datetime | None
    bucket_bytes: int | None
    pace: str


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """How large answers are, by what was asked: the mean, what is reserved, and how often that was far off."""

    endpoint: str
    subject: str
    samples: int
    bytes_mean: float | None
    bytes_upper: int | None
    tokens_mean: float | None
    over_twice: int
    over_twice_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Granted:
    """Permits given together; each is for one call that goes out within `send_within` of the moment they were asked."""

    block_id: BlockId
    permits: int
    api_key: str | None
    key_source: str | None
    send_within: timedelta
    lease: timedelta


@dataclass(frozen=True, kw_only=True)
class NotGranted:
    """Why nothing may start now, and when to ask again; None: when something else has ended."""

    reason: str
    retry_after: timedelta | None


@dataclass(frozen=True, kw_only=True)
class PermitSettlement:
    """What one permit turned out to cost; None is unknown, and what was reserved stays."""

    number: int
    outcome: PermitOutcome
    tokens: int | None = None
    bytes: int | None = None
