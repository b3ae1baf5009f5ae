"""What budgets tell Prometheus: gauges read from the database by `BudgetGauges`."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from prometheus_client import Gauge

from livewell.budgets.store import BudgetStore
from livewell.budgets.types import BudgetState, QuotaState

_FOREVER = float("inf")
_BREAKER = {"closed": 0, "half_open": 1, "open": 2}

USED_SHARE = Gauge(
    "livewell_budget_used_share", "Share of a limit used in the window that ends now.", ["limiter", "limit"]
)
IN_FLIGHT = Gauge("livewell_budget_in_flight", "Calls in flight.", ["limiter"])
WAITING = Gauge("livewell_budget_waiting", "Jobs that wait for the endpoint.", ["limiter"])
OPENS_SECONDS = Gauge("livewell_budget_opens_seconds", "Seconds until it opens; 0 is open.", ["limiter"])
BREAKER_STATE = Gauge("livewell_breaker_state", "The breaker: 0 closed, 1 half open, 2 open.", ["limiter"])
QUOTA_USED_BYTES = Gauge("livewell_quota_used_bytes", "Bytes used in the quota's window.", ["provider"])
QUOTA_IN_FLIGHT_BYTES = Gauge("livewell_quota_in_flight_bytes", "Bytes reserved for calls in flight.", ["provider"])
QUOTA_ALLOWED_BYTES = Gauge("livewell_quota_allowed_bytes", "Bytes that may be used in the window.", ["provider"])
QUOTA_SHARE = Gauge("livewell_quota_share", "Share of the allowed bytes used or in flight.", ["provider"])
QUOTA_EXHAUSTED_SECONDS = Gauge(
    "livewell_quota_exhausted_seconds", "Seconds until the quota is gone at today's rate; +Inf is never.", ["provider"]
)
_BY_LIMITER = (USED_SHARE, IN_FLIGHT, WAITING, OPENS_SECONDS, BREAKER_STATE)
_BY_PROVIDER = (QUOTA_USED_BYTES, QUOTA_IN_FLIGHT_BYTES, QUOTA_ALLOWED_BYTES, QUOTA_SHARE, QUOTA_EXHAUSTED_SECONDS)


class BudgetGauges:
    """An agent that reads what is used now and then."""

    name = "budget_gauges"
    interval = timedelta(seconds=15)

    def __init__(self, store: BudgetStore) -> None:
        self._store = store

    async def run_once(self) -> None:
        limiters = await self._store.budget_state()
        quotas = await self._store.quota_states()
        now = datetime.now(UTC)
        for gauge in (*_BY_LIMITER, *_BY_PROVIDER):
            gauge.clear()
        for limiter in limiters:
            _show_limiter(limiter, now)
        for quota in quotas:
            _show_quota(quota, now)


def _show_limiter(limiter: BudgetState, now: datetime) -> None:
    for limit, share in used_shares(limiter):
        USED_SHARE.labels(limiter.name, limit).set(share)
    IN_FLIGHT.labels(limiter.name).set(limiter.in_flight)
    WAITING.labels(limiter.name).set(limiter.waiting)
    OPENS_SECONDS.labels(limiter.name).set(_FOREVER if limiter.closed_for_good else _seconds(limiter.opens_at, now))
    BREAKER_STATE.labels(limiter.name).set(_BREAKER[limiter.breaker])


def _show_quota(quota: QuotaState, now: datetime) -> None:
    QUOTA_USED_BYTES.labels(quota.provider).set(quota.used_bytes)
    QUOTA_IN_FLIGHT_BYTES.labels(quota.provider).set(quota.in_flight_bytes)
    if quota.allowed_bytes is None or quota.share is None:
        return
    QUOTA_ALLOWED_BYTES.labels(quota.provider).set(quota.allowed_bytes)
    QUOTA_SHARE.labels(quota.provider).set(quota.share)
    left = _FOREVER if quota.exhausted_at is None else _seconds(quota.exhausted_at, now)
    QUOTA_EXHAUSTED_SECONDS.labels(quota.provider).set(left)


def used_shares(limiter: BudgetState) -> Iterator[tuple[str, float]]:
    """Each limit that is set, with the share of it that is used."""
    for limit, allowed, used in (
        ("requests_per_minute", limiter.requests_per_minute, limiter.requests_last_minute),
        ("requests_per_hour", limiter.requests_per_hour, limiter.requests_last_hour),
        ("tokens_per_minute", limiter.tokens_per_minute, limiter.tokens_last_minute),
        ("tokens_per_hour", limiter.tokens_per_hour, limiter.tokens_last_hour),
        ("concurrent", limiter.concurrent, limiter.in_flight),
    ):
        if allowed is not None:
            yield limit, used / allowed


def _seconds(until: datetime | None, now: datetime) -> float:
    return 0.0 if until is None else max(0.0, (until - now).total_seconds())
