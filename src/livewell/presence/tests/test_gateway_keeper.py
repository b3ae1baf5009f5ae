"""A gateway keeps its sessions, and opens them again when it was cut off for too long."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from livewell.kernel import Database, DatabaseOptions, DatabaseUnavailable
from livewell.presence import GatewayKeeper, Item, NotYourSession, Presence, PresenceStore, TooMany
from livewell.presence.tests.surface import PresenceSql
from livewell.registry import RegistryStore
from livewell.settings import InvalidSettingValue, SettingsStore
from livewell.testing import TcpProxy, make_type, until

LONG_AGO = "update livewell_private.gateway set last_seen = clock_timestamp() - interval '6 minutes'"
A, B = Item("quote", "A"), Item("quote", "B")


@pytest.fixture
def keeper(presence: PresenceSql, database: Database) -> GatewayKeeper:
    del presence
    return GatewayKeeper(PresenceStore(database), label="web")


async def test_a_keeper_renews_all_its_sessions(keeper: GatewayKeeper, presence: PresenceSql, owner: Database) -> None:
    """A round moves the gateway's row; without sessions there is nothing to renew."""
    await keeper.run_once()
    one, two = uuid4(), uuid4()
    assert await keeper.open([(one, "anna"), (two, "bert")]) == ["opened", "opened"]
    await keeper.subscribe([(one, A), (two, A)])
    await owner.execute("update livewell_private.gateway set last_seen = last_seen - interval '40 seconds'")
    before = await owner.fetchval("select last_seen from livewell_private.gateway")
    await keeper.run_once()
    moved = await owner.fetchval("select last_seen from livewell_private.gateway") - before
    assert moved >= timedelta(seconds=40)
    assert await presence.viewers() == {"A": 2}


async def test_a_keeper_renews_as_often_as_the_setting_says(keeper: GatewayKeeper, database: Database) -> None:
    """The pause between two rounds is `live.renew_every`, and who comes dwells for `live.dwell`; a round reads both."""
    await keeper.run_once()
    assert (keeper.interval, keeper.dwell) == (timedelta(seconds=10), timedelta(seconds=0.5))
    await SettingsStore(database).set_setting("live.renew_every", timedelta(seconds=8))
    await SettingsStore(database).set_setting("live.dwell", timedelta())
    await keeper.run_once()
    assert (keeper.interval, keeper.dwell) == (timedelta(seconds=8), timedelta())
    with pytest.raises(InvalidSettingValue):
        await SettingsStore(database).set_setting("live.gone_after", timedelta(seconds=8))


async def test_a_keeper_opens_its_sessions_again(keeper: GatewayKeeper, presence: PresenceSql, owner: Database) -> None:
    """Given up by the database, whether swept or not, everything is back under a new name, as it was."""
    one, two = uuid4(), uuid4()
    await keeper.open([(one, "anna"), (two, "bert")])
    await keeper.subscribe([(one, A), (one, B), (two, A)])
    await keeper.unsubscribe([(one, B)])
    for swept in (True, False):
        old = keeper.gateway
        await owner.execute(LONG_AGO)
        if swept:
            await owner.fetchval("select livewell_private.task_presence_sweep(clock_timestamp())")
            assert await presence.viewers() == {}
        await keeper.run_once()
        assert keeper.gateway != old
        assert await presence.viewers() == {"A": 2}
    await owner.fetchval("select livewell_private.task_presence_sweep(clock_timestamp())")
    assert await presence.viewers() == {"A": 2}
    assert await presence.is_exact()


async def test_what_was_brought_back_by_halves_is_brought_back_later(
    presence: PresenceSql, owner: Database, database_url: str, tcp_proxy: TcpProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection lost between opening the sessions and what they look at costs a round, and no viewer."""
    monkeypatch.setattr("livewell.presence.gateway_keeper._BATCH", 1)
    async with await Database.open(DatabaseOptions(url=tcp_proxy.through(database_url))) as database:
        keeper = GatewayKeeper(PresenceStore(database))
        one, two = uuid4(), uuid4()
        await keeper.open([(one, "anna"), (two, "bert")])
        await keeper.subscribe([(one, A), (two, A)])
        await owner.execute(LONG_AGO)
        await owner.fetchval("select livewell_private.task_presence_sweep(clock_timestamp())")
        tcp_proxy.cut_before("subscribe")
        with pytest.raises(DatabaseUnavailable):
            await keeper.run_once()
        assert await presence.viewers() == {}
        name = keeper.gateway
        await keeper.run_once()
        assert await presence.viewers() == {"A": 2}
        await keeper.run_once()
        assert keeper.gateway == name


async def test_who_leaves_meanwhile_is_not_brought_back(
    keeper: GatewayKeeper, presence: PresenceSql, owner: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session that is closed while all are opened again stays closed."""
    monkeypatch.setattr("livewell.presence.gateway_keeper._BATCH", 1)
    stays, leaves = uuid4(), uuid4()
    await keeper.open([(stays, "anna"), (leaves, "bert")])
    await keeper.subscribe([(stays, A), (leaves, A)])
    await owner.execute(LONG_AGO)
    await owner.fetchval("select livewell_private.task_presence_sweep(clock_timestamp())")
    waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    async with owner.connection() as other:
        block = other.transaction()
        await block.start()
        await other.execute("lock table livewell_private.gateway in access exclusive mode")
        reopening = asyncio.create_task(keeper.run_once())
        await until(lambda: owner.fetchval(waiting), "the gateway waits to open the first session")
        closing = asyncio.create_task(keeper.close([leaves]))
        # Who does not wait for the others to be opened has left by then, and too early.
        await asyncio.wait([closing], timeout=0.3)
        await block.rollback()
    await asyncio.gather(reopening, closing)
    assert await presence.viewers() == {"A": 1}
    assert await owner.fetchval("select array_agg(id) from livewell_private.session") == [stays]


async def test_what_cannot_be_looked_at_any_more_holds_up_nothing(
    keeper: GatewayKeeper, presence: PresenceSql, owner: Database
) -> None:
    """A type that went while the gateway was cut off leaves the viewers of the others as they were."""
    await make_type(owner, "note")
    one = uuid4()
    await keeper.open([(one, "anna")])
    await keeper.subscribe([(one, A), (one, Item("note", "N")), (one, B)])
    await owner.execute(LONG_AGO)
    await owner.fetchval("select livewell_private.task_presence_sweep(clock_timestamp())")
    await RegistryStore(owner).remove_type("note", force=True, reason=None, actor="tests")
    await keeper.run_once()
    assert await presence.viewers() == {"A": 1, "B": 1}


@pytest.mark.parametrize("first", ["open", "subscribe"])
async def test_whoever_notices_first_brings_all_back(
    keeper: GatewayKeeper, presence: PresenceSql, owner: Database, first: str
) -> None:
    """A call between two renewals that meets a gateway past its time opens everything again, then does its own work."""
    one, two = uuid4(), uuid4()
    await keeper.open([(one, "anna")])
    await keeper.subscribe([(one, A)])
    await owner.execute(LONG_AGO)
    if first == "open":
        assert await keeper.open([(two, "bert")]) == ["opened"]
    else:
        assert [answer.outcome for answer in await keeper.subscribe([(one, B)])] == ["subscribed"]
    assert (await presence.viewers())["A"] == 1
    assert await presence.is_exact()


async def test_a_keeper_stops_cleanly(keeper: GatewayKeeper, presence: PresenceSql, owner: Database) -> None:
    """Nobody is there any more, and nothing is left for the sweeper."""
    sessions = [(uuid4(), f"u{n}") for n in range(3)]
    await keeper.open(sessions)
    await keeper.subscribe([(session, A) for session, _ in sessions])
    await keeper.close([sessions[0][0]])
    assert await presence.viewers() == {"A": 2}
    await keeper.stop()
    assert await presence.viewers() == {}
    assert await owner.fetchval("select count(*) from livewell_private.gateway") == 0


async def test_sessions_one_by_one(presence: PresenceSql, database: Database) -> None:
    """Open, subscribe, renew, unsubscribe and close, as a program that answers HTTP calls them; refusals are facts."""
    one = Presence(database)
    session = await one.open("anna")
    assert await one.open("anna", session) == session
    answers = await one.subscribe(session, [A, ("quote", "B")])
    assert [answer.outcome for answer in answers] == ["subscribed", "subscribed"]
    assert await one.heartbeat_interval() == timedelta(minutes=1)
    assert await one.renew(session)
    assert await one.unsubscribe(session, [B]) == ["unsubscribed"]
    assert await presence.viewers() == {"A": 1}
    with pytest.raises(NotYourSession):
        await one.open("eve", session)
    await database.execute("select livewell.set_setting('presence.sessions_per_user', '1')")
    with pytest.raises(TooMany):
        await one.open("anna")
    assert await one.close(session)
    assert not await one.renew(session)
    assert await presence.viewers() == {}
