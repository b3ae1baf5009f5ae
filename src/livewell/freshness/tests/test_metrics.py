"""What Prometheus is told of freshness."""

from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import REGISTRY

from livewell.freshness import FreshnessGauges, FreshnessStore
from livewell.freshness.tests.catalogue import Catalogue
from livewell.kernel import Database
from livewell.testing import make_type


def _value(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(f"livewell_{name}", labels)


async def test_gauges_show_what_viewers_saw(catalogue: Catalogue, database: Database) -> None:
    """By type and audience, with quantiles, samples and the price of a byte; what is gone is gone from them too."""
    now = datetime.now(UTC)
    await make_type(catalogue.owner, "quote", ttl=timedelta(minutes=10))
    for key, viewers in (("a", 3), ("b", 1)):
        item = await catalogue.watch("quote", key, viewers, now)
        await catalogue.learn(item, "fetched", now if key == "a" else now - timedelta(minutes=14))
    await catalogue.owner.execute(
        "insert into livewell_private.sample_result (data_type, fresh, ok) values ('quote', false, true),"
        " ('quote', true, true)"
    )
    await catalogue.owner.execute(
        "insert into livewell_private.byte_price (provider, price, bucket_share) values ('sim', 2, 0.5)"
    )
    await catalogue.run("freshness_figures", now)
    gauges = FreshnessGauges(FreshnessStore(database))
    await gauges.run_once()
    everybody = {"data_type": "quote", "audience": "all"}
    assert _value("freshness_viewer_minutes", **everybody) == 4
    assert _value("freshness_within_ttl", **everybody) == 0.75
    assert _value("freshness_within_ttl", data_type="quote", audience="lone") == 0
    assert _value("freshness_ok", **everybody) == pytest.approx(0.75 + _lone_ok() / 4)
    assert _value("freshness_overdue_minutes", **everybody, quantile="0.99") == 4
    assert (_value("freshness_samples", data_type="quote"), _value("freshness_samples_ok", data_type="quote")) == (2, 1)
    assert (_value("byte_price", provider="sim"), _value("byte_bucket_share", provider="sim")) == (2, 0.5)
    await catalogue.owner.execute("delete from livewell_private.freshness_hour")
    await gauges.run_once()
    assert _value("freshness_ok", **everybody) is None


def _lone_ok() -> float:
    return _value("freshness_ok", data_type="quote", audience="lone") or 0
