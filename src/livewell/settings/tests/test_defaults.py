"""What the settings are when nobody has touched them."""

from datetime import timedelta

import pytest

from livewell.kernel import Database
from livewell.settings import Settings, SettingsStore
from livewell.settings.snapshot import Named


async def test_what_processes_read_is_a_typed_attribute(database: Database) -> None:
    """An attribute is the setting named like it, in the type it has; no attribute names a setting that is not there."""
    settings = await Settings.read(database)
    assert (settings.worker_heartbeat_interval, settings.worker_claim_batch) == (timedelta(seconds=30), 50)
    attributes = {name: named.name for name, named in vars(Settings).items() if isinstance(named, Named)}
    assert {name: getattr(settings, name) for name in attributes} == {
        setting.replace(".", "_"): settings.get(setting) for setting in attributes.values()
    }


async def test_a_default_can_always_be_set_again(database: Database) -> None:
    """Every shipped value passes its own checks, in the very form it is stored in."""
    store = SettingsStore(database)
    rows = await store.list_settings()
    assert [await store.set_setting(row.name, row.value) for row in rows] == [False] * len(rows)
    assert all(row.is_default for row in rows)


@pytest.mark.parametrize(("flag", "on"), [("usage_tracking", True), ("billing", False), ("upgrade_prompts", False)])
async def test_a_feature_flag_is_asked_by_its_name(database: Database, flag: str, on: bool) -> None:  # noqa: FBT001
    """A flag reads `features.<flag>_enabled`, and follows it when it is switched."""
    assert (await Settings.read(database)).feature(flag) is on
    await SettingsStore(database).set_setting(f"features.{flag}_enabled", not on)
    assert (await Settings.read(database)).feature(flag) is not on
