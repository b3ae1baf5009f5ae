"""What budgets tell Prometheus: gauges read from the database by `BudgetGauges`.

Events: `estimate_exceeded`.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from prometheus_client import Gauge

from livewell.budgets.store import BudgetStore
from livewell.budgets.types import BudgetState, Estimate, QuotaState
from livewell.kernel import Logger

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
ESTIMATE_BYTES = Gauge("livewell_estimate_bytes", "Mean size of an answer.", ["endpoint", "subject"])
ESTIMATES_EXCEEDED = Gauge(
    "livewell_estimates_exceeded", "Answers more than twice as large as expected, ever.", ["endpoint", "subject"]
)
_BY_LIMITER = (USED_SHARE, IN_FLIGHT, WAITING, OPENS_SECONDS, BREAKER_STATE)
_BY_PROVIDER = (QUOTA_USED_BYTES, QUOTA_IN_FLIGHT_BYTES, QUOTA_ALLOWED_BYTES, QUOTA_SHARE, QUOTA_EXHAUSTED_SECONDS)
_BY_SUBJECT = (ESTIMATE_BYTES, ESTIMATES_EXCEEDED)

log = Logger("livewell.budgets")


class BudgetGauges:
    """An agent that reads what is used now and then."""

    name = "budget_gauges"
    interval = timedelta(seconds=15)

    def __init__(self, store: BudgetStore) -> None:
        self._store = store
        self._exceeded: dict[tuple[str, str], int] = {}

    async def run_once(self) -> None:
        limiters = await self._store.budget_state()
        quotas = await self._store.quota_states()
        estimates = await self._store.list_estimates()
        now = datetime.now(UTC)
        for gauge in (*_BY_LIMITER, *_BY_PROVIDER, *_BY_SUBJECT):
            gauge.clear()
        for limiter in limiters:
            _show_limiter(limiter, now)
        for quota in quotas:
            _show_quota(quota, now)
        for estimate in estimates:
            self._show_estimate(estimate)

    def _show_estimate(self, estimate: Estimate) -> None:
        """Warn when more answers than at the last look were over twice their estimate."""
        subject = (estimate.endpoint, estimate.subject)
        if estimate.bytes_mean is not None:
            ESTIMATE_BYTES.labels(*subject).set(estimate.bytes_mean)
        ESTIMATES_EXCEEDED.labels(*subject).set(estimate.over_twice)
        before = self._exceeded.get(subject)
        if before is not None and estimate.over_twice > before:
            log.warning(
                "estimate_exceeded",
                endpoint=estimate.endpoint,
                subject=estimate.subject,
                answers=estimate.over_twice - before,
                mean_bytes=estimate.bytes_mean,
            )
        self._exceeded[subject] = estimate.over_twice


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
