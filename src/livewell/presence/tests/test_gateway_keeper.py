"""A gateway keeps its sessions, and opens them again when it was cut off for too long."""

from datetime import timedelta
from uuid import uuid4

import pytest

from livewell.kernel import Database
from livewell.presence import GatewayKeeper, Item, NotYourSession, Presence, PresenceStore, TooMany
from livewell.presence.tests.surface import PresenceSql

LONG_AGO = "update livewell.gateway set last_seen = clock_timestamp() - interval '6 minutes'"
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
    await owner.execute("update livewell.gateway set last_seen = last_seen - interval '4 minutes'")
    before = await owner.fetchval("select last_seen from livewell.gateway")
    await keeper.run_once()
    moved = await owner.fetchval("select last_seen from livewell.gateway") - before
    assert moved >= timedelta(minutes=4)
    assert await presence.viewers() == {"A": 2}


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
            await owner.fetchval("select livewell.task_presence_sweep(clock_timestamp())")
            assert await presence.viewers() == {}
        await keeper.run_once()
        assert keeper.gateway != old
        assert await presence.viewers() == {"A": 2}
    await owner.fetchval("select livewell.task_presence_sweep(clock_timestamp())")
    assert await presence.viewers() == {"A": 2}
    assert await presence.is_exact()


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
        assert await keeper.subscribe([(one, B)]) == ["subscribed"]
    assert (await presence.viewers())["A"] == 1
    assert await presence.is_exact()


async def test_a_keeper_stops_cleanly(keeper: GatewayKeeper, presence: PresenceSql, owner: Database) -> None:
    """Nobody is there any more, and nothing is left for the sweeper."""
    sessions = [(uuid4(), f"u{n}") for n in range(3)]
    await keeper.open(sessions)
    await keeper.subscribe([(session, A) for session, _ in sessions])
    assert await keeper.close([sessions[0][0]]) == 1
    assert await presence.viewers() == {"A": 2}
    await keeper.stop()
    assert await presence.viewers() == {}
    assert await owner.fetchval("select count(*) from livewell.gateway") == 0


async def test_sessions_one_by_one(presence: PresenceSql, database: Database) -> None:
    """Open, subscribe, renew, unsubscribe and close, as a program that answers HTTP calls them; refusals are facts."""
    one = Presence(database)
    session = await one.open("anna")
    assert await one.open("anna", session) == session
    assert await one.subscribe(session, [A, ("quote", "B")]) == ["subscribed", "subscribed"]
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
