"""Opening, renewing, closing and sweeping sessions and gateways."""

import pytest

from livewell.kernel import Database
from livewell.presence import GatewayGone, InvalidPresence
from livewell.presence.tests.surface import GATEWAY_GONE_AFTER, GONE_AFTER, MINUTE, NOON, SECOND, PresenceSql


async def test_opening_twice_is_opening_once(presence: PresenceSql) -> None:
    """A session that is open stays so, with what it looks at; another user's is taken."""
    assert await presence.open((1, "anna"), (2, "bert")) == ["opened", "opened"]
    await presence.subscribe((1, "A"))
    assert await presence.open((1, "anna"), (2, "anna"), (3, "anna")) == ["open", "taken", "opened"]
    assert await presence.viewers() == {"A": 1}


async def test_a_batch_that_cannot_be_is_refused_whole(presence: PresenceSql, owner: Database) -> None:
    """Users that are none, a gateway that is none, and arrays of different lengths open nothing."""
    for sessions in ([(1, "anna"), (2, "")], [(1, "anna"), (2, "x" * 201)]):
        with pytest.raises(InvalidPresence):
            await presence.open(*sessions)
    with pytest.raises(InvalidPresence):
        await presence.open((1, "anna"), gateway="two words")
    with pytest.raises(InvalidPresence):
        await presence.caller.fetchval("select livewell.open_sessions('{}', '{a}')")
    assert await owner.fetchval("select count(*) from livewell_private.session") == 0


async def test_a_user_has_so_many_sessions(presence: PresenceSql, database: Database) -> None:
    """The limit is the user's, over batches and within one; others open theirs."""
    await database.execute("select livewell.set_setting('presence.sessions_per_user', '2')")
    assert await presence.open((1, "anna")) == ["opened"]
    assert await presence.open((2, "anna"), (3, "anna"), (4, "bert")) == ["opened", "too_many", "opened"]
    await presence.close(1)
    assert await presence.open((3, "anna")) == ["opened"]


async def test_a_session_that_is_renewed_lives(presence: PresenceSql) -> None:
    """Heartbeats move its end; what was not renewed in time is gone, and renewing it says so."""
    await presence.open((1, "anna"), (2, "bert"))
    await presence.subscribe((1, "A"), (2, "A"))
    assert await presence.renew(1, 3, now=NOON + 4 * MINUTE) == ["renewed", "gone"]
    assert await presence.sweep(NOON + GONE_AFTER - SECOND) == 0
    assert await presence.sweep(NOON + GONE_AFTER) == 1
    assert await presence.renew(1, 2, now=NOON + GONE_AFTER) == ["renewed", "gone"]
    assert await presence.viewers() == {"A": 1}


async def test_gone_is_gone_before_the_sweeper_comes(presence: PresenceSql) -> None:
    """A session past its time neither renews nor subscribes; opened again it looks at nothing."""
    late = NOON + GONE_AFTER
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"))
    assert await presence.renew(1, now=late) == ["gone"]
    assert await presence.subscribe((1, "B"), now=late) == ["gone"]
    assert await presence.open((1, "anna"), now=late) == ["opened"]
    assert await presence.viewers() == {}
    assert await presence.is_exact()


async def test_only_a_heartbeat_moves_last_seen(presence: PresenceSql) -> None:
    """Subscribing and unsubscribing do not keep a session alive."""
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"), now=NOON + 3 * MINUTE)
    await presence.unsubscribe((1, "A"), now=NOON + 4 * MINUTE)
    assert await presence.sweep(NOON + GONE_AFTER) == 1


async def test_a_gateway_keeps_all_its_sessions(presence: PresenceSql, owner: Database) -> None:
    """One row is renewed for all of them, and no session is written."""
    await presence.open((1, "anna"), (2, "bert"), gateway="g")
    before = await owner.fetch("select id, xmin::text from livewell_private.session order by id")
    assert await presence.renew_gateway("g", NOON + 40 * SECOND)
    assert await presence.sweep(NOON + 80 * SECOND) == 0
    assert await owner.fetch("select id, xmin::text from livewell_private.session order by id") == before
    assert await presence.renew(1, now=NOON + 80 * SECOND) == ["renewed"]


async def test_a_gateway_past_its_time_does_not_come_back_by_halves(presence: PresenceSql, owner: Database) -> None:
    """Swept in parts, it is gone from the first part on: not renewed, not opened at, until all of it is gone."""
    late = NOON + GATEWAY_GONE_AFTER
    await presence.open(*((n, f"u{n}") for n in range(1, 4)), gateway="g")
    await presence.subscribe((1, "A"), (2, "A"), (3, "A"))
    assert not await presence.renew_gateway("g", late)
    taken = "livewell_private.drop_sessions(livewell_private.give_up_gateway('g', 2, $1), $1)"
    assert await owner.fetchval(f"select {taken}", late) == 2
    assert not await presence.renew_gateway("g", NOON)
    with pytest.raises(GatewayGone):
        await presence.open((9, "eve"), gateway="g", now=late)
    assert await presence.sweep(late) == 1
    assert await presence.viewers() == {}
    assert await presence.open((9, "eve"), gateway="g", now=late) == ["opened"]


async def test_a_gateway_that_is_renewed_at_the_last_moment_is_not_swept(
    presence: PresenceSql, owner: Database
) -> None:
    """What the sweeper saw as gone is looked at again on the locked row."""
    await presence.open((1, "anna"), gateway="g")
    await presence.renew_gateway("g", NOON + 40 * SECOND)
    assert await owner.fetchval("select livewell_private.give_up_gateway('g', 10, $1)", NOON + MINUTE) == []
    assert await presence.renew_gateway("g", NOON + MINUTE)


async def test_a_gateway_closes_cleanly(presence: PresenceSql, owner: Database) -> None:
    """A thousand sessions a call, the answer says how many are left, and nothing of it can be renewed meanwhile."""
    sessions = [(n, f"u{n}") for n in range(1, 1202)]
    await presence.open(*sessions, gateway="g")
    await presence.subscribe(*((n, "A") for n, _ in sessions))
    assert await presence.viewers() == {"A": 1201}
    assert await presence.close_gateway("g") == 201
    assert not await presence.renew_gateway("g")
    assert await presence.close_gateway("g") == 0
    assert await presence.viewers() == {}
    assert await owner.fetchval("select count(*) from livewell_private.gateway") == 0


async def test_the_sweeper_takes_the_longest_gone_first_and_some_at_a_time(
    presence: PresenceSql, owner: Database
) -> None:
    """A run is bounded, and asks to be run again at once while there is more."""
    await owner.execute(
        "insert into livewell_private.session (id, user_id, last_seen)"
        " select gen_random_uuid(), 'u' || n, $1::timestamptz - n * interval '1 second'"
        " from generate_series(0, 5009) as n",
        NOON,
    )
    first = await presence.task("presence_sweep", NOON + GONE_AFTER)
    assert (first["swept"], first["again_in"]) == (5000, "0 seconds")
    newest = await owner.fetchval("select min(last_seen) from livewell_private.session")
    assert newest == NOON - 9 * SECOND
    second = await presence.task("presence_sweep", NOON + GONE_AFTER)
    assert (second["swept"], second["again_in"]) == (10, None)
