"""A sensitive value is seen by the process that needs it and by nobody else."""

import io

import pytest

from livewell.kernel import Database, Logger, configure_logs, silence_logs
from livewell.settings import InvalidSettingValue, Settings, SettingsStore
from livewell.testing import connected, until

NAME = "test.webhook"
SECRET = "hunter2-" + "x" * 8
CHANNEL = "livewell_settings"


@pytest.fixture(autouse=True)
async def sensitive(owner: Database) -> None:
    await owner.execute(
        "insert into livewell_private.setting (name, type, value, default_value, choices, description, sensitive)"
        " values ($1, 'text', 'none', 'none', array['none', $2], 'for a test', true)",
        *(NAME, SECRET),
    )


async def test_the_service_reads_it_in_clear(database: Database) -> None:
    """Masking is for eyes; the process that uses the value gets it."""
    await SettingsStore(database).set_setting(NAME, SECRET)
    assert (await Settings.read(database)).get(NAME) == SECRET


async def test_lists_and_the_audit_log_show_it_masked(database: Database, owner: Database) -> None:
    """Neither the list nor the entry of its change holds the value, old or new."""
    store = SettingsStore(database)
    await store.set_setting(NAME, SECRET, actor="ann")
    await store.set_setting(NAME, "none", actor="ann")
    row = next(row for row in await store.list_settings() if row.name == NAME)
    assert (row.value, row.default_value) == ("•••", "•••")
    entries = await owner.fetch(
        "select old::text, new::text, audit_entry::text as whole from livewell_private.audit_entry"
    )
    assert [(entry["old"], entry["new"]) for entry in entries] == [('{"value": "•••"}', '{"value": "•••"}')] * 2
    assert not [entry for entry in entries if SECRET in entry["whole"]]


async def test_a_refusal_does_not_repeat_it(database: Database) -> None:
    """The fact about a value that does not fit names the setting, not the value."""
    with pytest.raises(InvalidSettingValue) as refused:
        await SettingsStore(database).set_setting(NAME, "almost-" + SECRET)
    assert NAME in refused.value.message
    assert SECRET not in refused.value.message


async def test_repr_and_logs_show_it_masked(database: Database) -> None:
    """A snapshot that is printed or logged, field by field or whole, does not tell it."""
    await SettingsStore(database).set_setting(NAME, SECRET)
    settings = await Settings.read(database)
    printed = io.StringIO()
    configure_logs(environment={}, stream=printed)
    Logger("livewell.test").warning("read", settings=settings, **{NAME: settings.get(NAME)})
    silence_logs()
    assert "•••" in repr(settings)
    assert SECRET not in f"{settings!r} {settings.stored[NAME]!r} {settings.stored} {printed.getvalue()}"
    assert NAME in printed.getvalue()


async def test_a_notification_carries_the_name_only(database: Database, database_url: str) -> None:
    """What is told to running processes is which setting changed, not to what."""
    heard: list[object] = []
    async with connected(database_url) as listening:
        await listening.add_listener(CHANNEL, lambda *told: heard.append(told[3]))
        await SettingsStore(database).set_setting(NAME, SECRET)
        await until(lambda: _any(heard), "the change is told")
    assert heard == [NAME]


async def _any(heard: list[object]) -> bool:
    return bool(heard)
