"""A running process takes up a change without a restart."""

import asyncio
from datetime import timedelta

import pytest

from livewell.kernel import Database, DatabaseOptions, DatabaseUnavailable, Listener, Service
from livewell.settings import CHANNEL, Maintenance, Settings, SettingsStore, SettingsWatcher
from livewell.testing import OwnServer, until


async def test_a_notified_change_is_taken_up_at_once(database: Database) -> None:
    """With a listener, a change made elsewhere is in force here long before the slow poll would find it."""
    watcher = await SettingsWatcher.begin(database)
    listener = Listener(database.options, [CHANNEL], watcher.on_notify, watcher.on_reconnect)
    told: list[Settings] = []
    watcher.subscribe(told.append)
    service = Service(components=[listener])
    service.add(watcher, wake=watcher.wake)
    running = asyncio.create_task(service.run())
    async with asyncio.timeout(10):
        await listener.listening.wait()
    await until(lambda: _ran(service, 2), "the round after listening began is over")
    await SettingsStore(database).set_setting("worker.claim_batch", 77)
    await until(lambda: _batch_is(watcher, 77), "the change is in force", within=timedelta(seconds=10))
    service.drain()
    await running
    assert watcher.interval == timedelta(seconds=30)
    assert [settings.worker_claim_batch for settings in told] == [77]


async def _ran(service: Service, rounds: int) -> bool:
    return service.runs["settings_watcher"] >= rounds


async def _batch_is(watcher: SettingsWatcher, value: int) -> bool:
    return watcher.current.worker_claim_batch == value


async def test_a_lost_notification_costs_no_more_than_the_poll(database: Database) -> None:
    """A round finds the change by itself, tells it once, and its own pause follows the setting."""
    watcher = await SettingsWatcher.begin(database)
    told: list[Settings] = []
    watcher.subscribe(told.append)
    await SettingsStore(database).set_setting("settings.poll_interval", "2 seconds")
    assert await watcher.run_once() == {"settings.poll_interval"}
    assert await watcher.run_once() == frozenset()
    assert watcher.interval == timedelta(seconds=2)
    assert told == [watcher.current]


async def test_only_its_own_channel_wakes_the_watcher(database: Database) -> None:
    """A notification for somebody else starts no round; one of its own and a new connection do."""
    watcher = await SettingsWatcher.begin(database)
    watcher.on_notify("livewell_jobs", "worker.timeout")
    assert not watcher.wake.is_set()
    watcher.on_notify(CHANNEL, "worker.timeout")
    assert watcher.wake.is_set()
    watcher.wake.clear()
    watcher.on_reconnect()
    assert watcher.wake.is_set()


async def test_without_a_database_the_last_settings_stay(own_server: OwnServer) -> None:
    """A round that cannot read says so and leaves the snapshot as it was; the next one reads again."""
    async with await Database.open(DatabaseOptions(url=own_server.database_url)) as database:
        watcher = await SettingsWatcher.begin(database)
        await own_server.stop()
        with pytest.raises(DatabaseUnavailable):
            await watcher.run_once()
        assert watcher.current.worker_claim_batch == 50
        await own_server.start()
        assert await watcher.run_once() == frozenset()


async def test_maintenance_is_begun_and_ended_by_name(database: Database, owner: Database) -> None:
    """Beginning and ending are audited changes of one switch; uploads and enqueue keep switches of their own."""
    maintenance = Maintenance(SettingsStore(database))
    assert not (await maintenance.status()).enabled
    assert await maintenance.begin(actor="ann", reason="new disk")
    assert not await maintenance.begin(actor="bob", reason="as well")
    status = await maintenance.status()
    assert (status.enabled, status.changed_by) == (True, "ann")
    assert await maintenance.end(actor="ann", reason="disk is in")
    assert not (await maintenance.status()).enabled
    reasons = await owner.fetch("select reason from livewell_private.audit_entry order by id")
    assert [row["reason"] for row in reasons] == ["new disk", "disk is in"]
    settings = await Settings.read(database)
    assert settings.get("queue.enqueue_enabled")
    assert not settings.get("maintenance.refuse_uploads")
