"""What the settings are when nobody has touched them."""

from datetime import timedelta
from importlib import resources
from typing import Any

import pytest

from livewell.kernel import Database
from livewell.settings import Settings, SettingsStore

SEEDED: dict[str, Any] = {
    "worker.heartbeat_interval": timedelta(seconds=30),
    "worker.timeout": timedelta(seconds=300),
    "worker.reclaim_jitter_max": timedelta(seconds=60),
    "worker.claim_batch": 50,
    "worker.concurrency": 50,
    "worker.poll_interval": timedelta(seconds=5),
    "queue.backpressure_delay": timedelta(seconds=30),
    "queue.enqueue_enabled": True,
    "jobs.retention.completed": timedelta(days=7),
    "jobs.retention.cancelled": timedelta(days=7),
    "jobs.retention.failed": timedelta(days=30),
    "audit.seal_interval": timedelta(seconds=10),
    "freshness.max_items": 1000,
    "freshness.max_time": timedelta(seconds=50),
    "freshness.queued_again": timedelta(minutes=2),
    "freshness.check_again": timedelta(seconds=5),
    "freshness.horizon": timedelta(seconds=3),
    "freshness.mean_stay": timedelta(minutes=12),
    "freshness.sweep_every": timedelta(minutes=15),
    "presence.checks_per_minute": 120,
    "presence.heartbeat_interval": timedelta(minutes=1),
    "presence.gone_after": timedelta(minutes=5),
    "presence.items_per_session": 1000,
    "presence.sessions_per_user": 50,
    "presence.hours_retention": timedelta(days=90),
    "schedule.poll_interval": timedelta(seconds=15),
    "budgets.permit_lease": timedelta(minutes=1),
    "quota.ledger_retention": timedelta(days=730),
    "quota.sample_share": 0.01,
    "schedule.history_retention": timedelta(days=14),
    "warnings.retention": timedelta(days=30),
    "freshness.scheduled_keys": 1000,
    "freshness.scheduled_depth": 1000,
    "freshness.prefetch_items": 100,
    "freshness.prefetch_bucket": 0.8,
    "freshness.prefetch_payoff": 0.2,
    "freshness.prefetch_again": timedelta(days=1),
    "freshness.sample_share": 0.005,
    "freshness.figures_items": 50_000,
    "freshness.figures_retention": timedelta(days=90),
    "settings.poll_interval": timedelta(seconds=30),
    "maintenance.enabled": False,
    "maintenance.refuse_uploads": False,
    "features.usage_tracking_enabled": True,
    "features.billing_enabled": False,
    "features.upgrade_prompts_enabled": False,
    "priority.on_subscribe": 1000,
    "quota.low_share": 0.9,
    "fetching.keys_per_read": 1000,
    "fetching.rows_per_key": 1000,
    "freshness.failed_again_max": timedelta(hours=1),
    "freshness.gone_again_max": timedelta(days=1),
    "freshness.asked_per_user": 50,
    "freshness.new_keys_share": 0.25,
    "jobs.payload_bytes": 1_048_576,
    "jobs.result_bytes": 1_048_576,
    "presence.counted_items": 20,
    "presence.anonymous_viewers": 10,
}


async def test_every_setting_is_seeded_with_its_default(database: Database) -> None:
    """A new database has every setting, with the value and type that the manual promises."""
    settings = await Settings.read(database)
    assert {name: settings.get(name) for name in settings.stored} == SEEDED


async def test_every_setting_is_a_typed_attribute(database: Database) -> None:
    """Each seeded setting is an attribute named like it, and no attribute names a setting that is not there."""
    settings = await Settings.read(database)
    attributes = {name for name in vars(Settings) if hasattr(getattr(Settings, name), "kind")}
    assert attributes == {name.replace(".", "_") for name in SEEDED}
    assert {name: getattr(settings, name.replace(".", "_")) for name in SEEDED} == SEEDED


async def test_a_default_can_always_be_set_again(database: Database) -> None:
    """Every shipped value passes its own checks, in the very form it is stored in."""
    store = SettingsStore(database)
    rows = await store.list_settings()
    assert [await store.set_setting(row.name, row.value) for row in rows] == [False] * len(rows)
    assert all(row.is_default for row in rows)


async def test_seeding_again_keeps_a_tuned_value(database: Database, owner: Database) -> None:
    """Seeding fills in what is absent and never sets back what somebody tuned."""
    await SettingsStore(database).set_setting("worker.claim_batch", 7)
    await owner.execute("delete from livewell_private.setting where name = 'quota.low_share'")
    migrations = resources.files("livewell.settings") / "sql" / "migrations"
    await owner.execute((migrations / "0011_settings_defaults.sql").read_text())
    settings = await Settings.read(database)
    assert (settings.worker_claim_batch, settings.quota_low_share) == (7, 0.9)


@pytest.mark.parametrize(("flag", "on"), [("usage_tracking", True), ("billing", False), ("upgrade_prompts", False)])
async def test_a_feature_flag_is_asked_by_its_name(database: Database, flag: str, on: bool) -> None:  # noqa: FBT001
    """A flag reads `features.<flag>_enabled`, and follows it when it is switched."""
    assert (await Settings.read(database)).feature(flag) is on
    await SettingsStore(database).set_setting(f"features.{flag}_enabled", not on)
    assert (await Settings.read(database)).feature(flag) is not on
