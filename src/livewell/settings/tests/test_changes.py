"""Changing a setting: what is accepted, what is refused, what is recorded."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from livewell.kernel import Database, DatabaseOptions, NotPrimary
from livewell.settings import InvalidSettingValue, Settings, SettingsStore, UnknownSetting
from livewell.testing import Standby, connected, until

AUDITED = "select event, record_id, old::text, new::text, actor, reason from livewell_private.audit_entry order by id"


async def _add(owner: Database, name: str, kind: str, value: str, choices: list[str] | None = None) -> None:
    await owner.execute(
        "insert into livewell_private.setting (name, type, value, default_value, choices, description)"
        " values ($1, $2, $3, $3, $4, 'for a test')",
        *(name, kind, value, choices),
    )


GIVEN_AND_READ: list[tuple[str, Any, Any]] = [
    ("worker.timeout", timedelta(minutes=10), timedelta(minutes=10)),
    ("worker.timeout", "2 hours", timedelta(hours=2)),
    ("worker.timeout", timedelta(seconds=31, microseconds=5), timedelta(seconds=31, microseconds=5)),
    ("worker.claim_batch", 1, 1),
    ("worker.claim_batch", "10000", 10_000),
    ("quota.low_share", 0.75, 0.75),
    ("quota.low_share", "1.00", 1.0),
    ("maintenance.enabled", True, True),
    ("maintenance.enabled", "on", True),
]


async def test_a_value_is_read_back_as_it_was_set(database: Database) -> None:
    """A value given as Python or as text comes back typed, bounds included."""
    store = SettingsStore(database)
    for name, given, read in GIVEN_AND_READ:
        assert await store.set_setting(name, given)
        assert (await Settings.read(database)).get(name) == read
        await store.reset_setting(name)


async def test_text_and_json_hold_anything_they_may(database: Database, owner: Database) -> None:
    """Text keeps its characters, a choice is one of its choices, and JSON comes back as the same document."""
    await _add(owner, "test.words", "text", "")
    await _add(owner, "test.shade", "text", "red", ["red", "blue"])
    await _add(owner, "test.document", "json", "{}")
    store = SettingsStore(database)
    await store.set_setting("test.words", "naïve ☃ '; --")
    await store.set_setting("test.shade", "blue")
    await store.set_setting("test.document", {"a": [1, None, "ü"]})
    settings = await Settings.read(database)
    assert settings.get("test.words") == "naïve ☃ '; --"
    assert settings.get("test.shade") == "blue"
    assert settings.get("test.document") == {"a": [1, None, "ü"]}
    with pytest.raises(InvalidSettingValue, match="one of red, blue"):
        await store.set_setting("test.shade", "green")
    with pytest.raises(InvalidSettingValue, match="JSON"):
        await store.set_setting("test.document", "{")


REFUSED: list[tuple[str, Any, str]] = [
    ("worker.timeout", "0.5 seconds", "at least 00:00:01 and at most 1 day"),
    ("worker.timeout", "25 hours", "at least 00:00:01 and at most 1 day"),
    ("worker.timeout", "300", "a duration such as '30 seconds'"),
    ("worker.timeout", "soon", "a duration such as '30 seconds'"),
    ("worker.timeout", "infinity", "a duration such as '30 seconds'"),
    ("worker.claim_batch", 0, "at least 1 and at most 10000"),
    ("worker.claim_batch", 2.5, "an integer"),
    ("worker.claim_batch", str(10**30), "an integer"),
    ("quota.low_share", 1.01, "at least 0 and at most 1"),
    ("quota.low_share", "NaN", "a number"),
    ("maintenance.enabled", "perhaps", "true or false"),
    ("maintenance.enabled", None, "true or false"),
]


async def test_a_value_that_does_not_fit_is_refused(database: Database) -> None:
    """A wrong type or a value out of bounds is a fact that names what would fit, and changes nothing."""
    before = await Settings.read(database)
    for name, value, said in REFUSED:
        with pytest.raises(InvalidSettingValue) as refused:
            await SettingsStore(database).set_setting(name, value)
        assert name in refused.value.message
        assert said in (refused.value.fix or "")
    assert not (await Settings.read(database)).changed_since(before)


async def test_an_unknown_name_is_refused_with_the_one_probably_meant(database: Database) -> None:
    """A mistyped name is a fact with a suggestion, in SQL and in Python alike; a far one gets no wrong advice."""
    store = SettingsStore(database)
    with pytest.raises(UnknownSetting, match=r"did you mean worker\.heartbeat_interval\?"):
        await store.set_setting("worker.hartbeat_intervall", "5 seconds")
    with pytest.raises(UnknownSetting, match=r"did you mean maintenance\.enabled\?"):
        await store.reset_setting("maintainance.enabled")
    with pytest.raises(UnknownSetting) as refused:
        await store.set_setting("zzz.qqq", "1")
    assert "did you mean" not in str(refused.value)
    with pytest.raises(UnknownSetting, match=r"did you mean worker\.timeout\?"):
        (await Settings.read(database)).get("worker.time_out")


async def test_sql_readers_refuse_what_is_not_there(database: Database) -> None:
    """A deciding function never takes a missing or mistyped setting for false, zero or null."""
    assert await database.fetchval("select livewell.setting_boolean('queue.enqueue_enabled')") is True
    assert await database.fetchval("select livewell.setting_integer('worker.claim_batch')") == 50
    assert await database.fetchval("select livewell.setting_interval('worker.timeout')") == timedelta(minutes=5)
    assert float(await database.fetchval("select livewell.setting_number('quota.low_share')")) == 0.9
    with pytest.raises(UnknownSetting, match=r"maintenance\.enabled"):
        await database.fetchval("select livewell.setting_boolean('maintenance.enable')")
    with pytest.raises(UnknownSetting, match="of type duration, not boolean"):
        await database.fetchval("select livewell.setting_boolean('worker.timeout')")


async def test_the_heartbeat_stays_below_the_timeout(database: Database) -> None:
    """Neither of two settings that are compared can be moved past the other."""
    store = SettingsStore(database)
    with pytest.raises(InvalidSettingValue, match=r"less than worker\.timeout \(00:05:00\)"):
        await store.set_setting("worker.heartbeat_interval", "5 minutes")
    with pytest.raises(InvalidSettingValue, match=r"greater than worker\.heartbeat_interval \(00:00:30\)"):
        await store.set_setting("worker.timeout", "30 seconds")


async def test_two_changes_at_once_cannot_cross(database: Database, database_url: str, owner: Database) -> None:
    """Two sessions moving compared settings towards each other are judged one after the other."""
    async with connected(database_url) as first, connected(database_url) as second:
        opened = first.transaction()
        await opened.start()
        await SettingsStore(first).set_setting("worker.timeout", "40 seconds")
        other = asyncio.create_task(SettingsStore(second).set_setting("worker.heartbeat_interval", "50 seconds"))
        await until(lambda: _waits_for_lock(owner), "the second change waits for the first")
        await opened.commit()
        with pytest.raises(asyncpg.PostgresError) as refused:
            await other
    assert refused.value.sqlstate == "LWS02"
    settings = await Settings.read(database)
    assert settings.worker_heartbeat_interval < timedelta(seconds=40) == settings.get("worker.timeout")


async def _waits_for_lock(owner: Database) -> bool:
    return bool(
        await owner.fetchval(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        )
    )


async def test_a_change_is_audited_with_who_and_why(database: Database, owner: Database) -> None:
    """Each change leaves one entry with the old and the new value; what changes nothing leaves none."""
    store = SettingsStore(database)
    assert await store.set_setting("worker.claim_batch", 60, actor="ann", reason="big day")
    assert not await store.set_setting("worker.claim_batch", "060", actor="bob")
    assert await store.reset_setting("worker.claim_batch", reason="over")
    assert not await store.reset_setting("worker.claim_batch")
    assert [tuple(row) for row in await owner.fetch(AUDITED)] == [
        ("setting_changed", "worker.claim_batch", '{"value": "50"}', '{"value": "60"}', "ann", "big day"),
        (
            "setting_changed",
            "worker.claim_batch",
            '{"value": "60"}',
            '{"value": "50"}',
            "livewell_test_service",
            "over",
        ),
    ]


async def test_a_change_and_its_entry_stand_or_fall_together(database: Database, owner: Database) -> None:
    """A change that is rolled back leaves neither value nor entry."""
    with pytest.raises(RuntimeError, match="never mind"):
        await _change_and_fail(database)
    assert await owner.fetch(AUDITED) == []
    assert not (await Settings.read(database)).get("maintenance.enabled")


async def _change_and_fail(database: Database) -> None:
    async with database.transaction() as connection:
        await SettingsStore(connection).set_setting("maintenance.enabled", value=True, actor="ann")
        raise RuntimeError("never mind")


async def test_the_time_of_a_change_is_the_one_passed_in(database: Database, owner: Database) -> None:
    """`p_now` is what the row and the entry carry."""
    at = datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)
    await database.fetchval("select livewell.set_setting('worker.claim_batch', '51', 'ann', null, $1)", at)
    row = next(row for row in await SettingsStore(database).list_settings() if row.name == "worker.claim_batch")
    assert (row.updated_at, row.updated_by) == (at, "ann")
    assert await owner.fetchval("select at from livewell_private.audit_entry") == at


async def test_the_table_itself_refuses_what_does_not_fit(owner: Database) -> None:
    """Invariants are constraints: not even the owner, past the functions, can store a value out of bounds."""
    with pytest.raises(asyncpg.CheckViolationError, match="setting_value_is_within_bounds"):
        await owner.execute("update livewell_private.setting set value = '0' where name = 'worker.claim_batch'")
    with pytest.raises(asyncpg.CheckViolationError, match="setting_value_fits_its_type"):
        await owner.execute("update livewell_private.setting set value = 'yes' where name = 'maintenance.enabled'")


@pytest.mark.xdist_group("standby")
async def test_a_replica_changes_no_setting(shared_standby: Standby) -> None:
    """On a standby a change is refused with the fact, and reading goes on."""
    async with await Database.open(DatabaseOptions(url=shared_standby.database_url)) as replica:
        with pytest.raises(NotPrimary, match="this server is a replica"):
            await SettingsStore(replica).set_setting("worker.claim_batch", 51)
        assert (await Settings.read(replica)).worker_claim_batch == 50
