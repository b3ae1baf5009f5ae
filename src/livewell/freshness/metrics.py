"""What freshness tells Prometheus: gauges of the last hours, read from the database by `FreshnessGauges`."""

from datetime import UTC, datetime, timedelta

from prometheus_client import Gauge

from livewell.freshness.store import FreshnessStore
from livewell.freshness.types import FreshnessFigures

_WINDOW = timedelta(hours=1)
_LABELS = ["data_type", "audience"]

VIEWER_MINUTES = Gauge("livewell_freshness_viewer_minutes", "Viewer-minutes that the shares are of.", _LABELS)
WITHIN_TTL = Gauge("livewell_freshness_within_ttl", "Share of viewer-minutes within the TTL.", _LABELS)
FRESH = Gauge("livewell_freshness_fresh", "Expected share of viewer-minutes as at the source.", _LABELS)
OK = Gauge("livewell_freshness_ok", "Share of viewer-minutes not harmfully stale.", _LABELS)
WAIT = Gauge("livewell_freshness_wait_minutes", "Minutes of watching stale data, by quantile.", [*_LABELS, "quantile"])
OVERDUE = Gauge("livewell_freshness_overdue_minutes", "Minutes over the TTL, by quantile.", [*_LABELS, "quantile"])
UNCHANGED = Gauge("livewell_freshness_unchanged", "Share of fetches that found nothing new.", ["data_type"])
SAMPLES = Gauge("livewell_freshness_samples", "Random samples that the estimates are of.", ["data_type"])
SAMPLES_FRESH = Gauge("livewell_freshness_samples_fresh", "Share of samples that found nothing new.", ["data_type"])
SAMPLES_OK = Gauge("livewell_freshness_samples_ok", "Share of samples within the TTL or unchanged.", ["data_type"])
BYTE_PRICE = Gauge("livewell_byte_price", "Minutes of viewers that a byte must be worth.", ["provider"])
BUCKET_SHARE = Gauge("livewell_byte_bucket_share", "How full the bucket of bytes is.", ["provider"])
_SHARES = ((WITHIN_TTL, "within_ttl"), (FRESH, "fresh"), (OK, "ok"))
_QUANTILES = (
    (WAIT, "w50", "0.5"),
    (WAIT, "w99", "0.99"),
    (OVERDUE, "overdue50", "0.5"),
    (OVERDUE, "overdue99", "0.99"),
)
_OF_TYPE = ((UNCHANGED, "unchanged"), (SAMPLES_FRESH, "samples_fresh"), (SAMPLES_OK, "samples_ok"))
_ALL = (VIEWER_MINUTES, WITHIN_TTL, FRESH, OK, WAIT, OVERDUE, UNCHANGED, SAMPLES, SAMPLES_FRESH, SAMPLES_OK)


class FreshnessGauges:
    """An agent that reads what viewers saw in this hour and the last, and what a byte costs."""

    name = "freshness_gauges"
    interval = timedelta(seconds=30)

    def __init__(self, store: FreshnessStore) -> None:
        self._store = store

    async def run_once(self) -> None:
        figures = await self._store.freshness_figures(since=datetime.now(UTC) - _WINDOW)
        policies = await self._store.refresh_policies()
        for gauge in (*_ALL, BYTE_PRICE, BUCKET_SHARE):
            gauge.clear()
        for figure in figures:
            if figure.data_type is not None:
                _show(figure, figure.data_type)
        for policy in policies:
            if policy.price is not None:
                BYTE_PRICE.labels(policy.provider).set(policy.price)
            if policy.bucket_share is not None:
                BUCKET_SHARE.labels(policy.provider).set(policy.bucket_share)


def _show(figures: FreshnessFigures, data_type: str) -> None:
    VIEWER_MINUTES.labels(data_type, figures.audience).set(figures.viewer_minutes)
    for gauge, field in _SHARES:
        if (share := getattr(figures, field)) is not None:
            gauge.labels(data_type, figures.audience).set(share)
    for gauge, field, quantile in _QUANTILES:
        if (minutes := getattr(figures, field)) is not None:
            gauge.labels(data_type, figures.audience, quantile).set(minutes)
    if figures.audience != "all":
        return
    SAMPLES.labels(data_type).set(figures.samples)
    for gauge, field in _OF_TYPE:
        if (share := getattr(figures, field)) is not None:
            gauge.labels(data_type).set(share)
