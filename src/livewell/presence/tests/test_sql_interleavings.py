"""Real connections against each other: no deadlock, no drift, one hot item always among what they ask for."""

import asyncio
import random
from contextlib import AsyncExitStack, suppress

import pytest

from livewell.kernel import Connection, Database, DatabaseOptions, connect
from livewell.presence import GatewayGone
from livewell.presence.tests.surface import GONE_AFTER, MINUTE, NOON, PresenceSql, session_id
from livewell.testing import until, wait_long

RIVALS = 8
CALLS = 60
SESSIONS = range(1, 25)
KEYS = [f"K{n}" for n in range(12)]


def user_of(session: int) -> str:
    return f"u{session % 6}"


async def rival(connection: Connection, owner: Database, number: int) -> None:
    """A connection that does anything to anybody; a failure of a call is a failure of the test."""
    chance = random.Random(number)
    presence = PresenceSql(connection, owner)
    for step in range(CALLS):
        now = NOON + step * MINUTE / 10
        sessions = chance.sample(SESSIONS, 6)
        pairs = [(session, chance.choice(KEYS)) for session in sessions] + [(chance.choice(sessions), "HOT")]
        chance.shuffle(pairs)
        # By whoever has it, or, late, by one that may have had it.
        caller = chance.choice([None, f"g{number}"])
        match chance.randrange(13):
            case 0 | 1:
                gateway = chance.choice([None, f"g{number}"])
                with suppress(GatewayGone):
                    await presence.open(*((n, user_of(n)) for n in sessions), gateway=gateway, now=now)
            case 2 | 3 | 4 | 5:
                await presence.subscribe(*pairs, now=now, gateway=caller)
            case 6 | 7:
                await presence.unsubscribe(*pairs, now=now, gateway=caller)
            case 8:
                await presence.close(*sessions[:2], now=now, gateway=caller)
            case 9 | 10 | 11:
                keys = [*chance.sample(KEYS, 3), "HOT"]
                with suppress(GatewayGone):
                    await presence.resume(sessions[0], user_of(sessions[0]), *keys, gateway=f"g{number}", now=now)
                    await presence.renew_gateway(f"g{number}", now)
            case _:
                await connection.fetchval("select livewell.renew_sessions($1, $2)", [], now)
                await owner.fetchval(
                    "select livewell_private.task_presence_sweep($1)", now + chance.choice([0, 1]) * GONE_AFTER
                )


async def test_rivals_neither_deadlock_nor_miscount(owner: Database, database_url: str) -> None:
    """Eight connections open, resume, subscribe, unsubscribe, close and sweep the same sessions; counts are exact."""
    presence = PresenceSql(owner, owner)
    await presence.quote()
    await presence.open(*((n, user_of(n)) for n in SESSIONS))
    async with AsyncExitStack() as stack:
        connections = []
        for _ in range(RIVALS):
            connection = await connect(DatabaseOptions(url=database_url))
            stack.push_async_callback(connection.close)
            connections.append(connection)
        await asyncio.gather(*(rival(connection, owner, n) for n, connection in enumerate(connections)))
    assert await presence.is_exact()
    assert await owner.fetchval("select deadlocks from pg_stat_database where datname = current_database()") == 0
    counted = await presence.task("presence_recount")
    assert (counted["items_repaired"], counted["pairs_repaired"], counted["orphans_removed"]) == (0, 0, 0)


async def test_two_sessions_of_a_user_come_at_once(owner: Database, database_url: str) -> None:
    """The second waits for the first to commit, and the user is counted once, whoever ends first."""
    presence = PresenceSql(owner, owner)
    await presence.quote()
    await presence.open((1, "anna"), (2, "anna"))
    one, two = [await connect(DatabaseOptions(url=database_url)) for _ in range(2)]
    try:
        async with one.transaction():
            await PresenceSql(one, owner).subscribe((1, "A"))
            second = asyncio.create_task(PresenceSql(two, owner).subscribe((2, "A")))
        assert await second == ["subscribed"]
        assert await presence.viewers() == {"A": 1}
        async with one.transaction():
            await PresenceSql(one, owner).unsubscribe((1, "A"))
            second = asyncio.create_task(PresenceSql(two, owner).unsubscribe((2, "A")))
        assert await second == ["unsubscribed"]
        assert await presence.viewers() == {}
    finally:
        await one.close()
        await two.close()


async def test_two_gateways_resume_a_session_at_once(owner: Database, database_url: str) -> None:
    """One comes after the other: the session is the last one's, with its list, and nobody waits for good."""
    presence = PresenceSql(owner, owner)
    await presence.quote()
    await presence.open((1, "anna"), gateway="old")
    await presence.subscribe((1, "C"), (1, "D"))
    await wait_long(owner, "lock_sessions")
    async with AsyncExitStack() as stack:
        one, two, three = [await connect(DatabaseOptions(url=database_url)) for _ in range(3)]
        for connection in (one, two, three):
            stack.push_async_callback(connection.close)
        async with one.transaction():
            assert (await PresenceSql(one, owner).resume(1, "anna", "B", "A", gateway="g"))[0] == "open"
            second = asyncio.create_task(PresenceSql(two, owner).resume(1, "anna", "D", "B", gateway="h"))
            await until(lambda: _waits(owner, two), "the second waits")
            late = asyncio.create_task(PresenceSql(three, owner).close(1, gateway="old"))
            await until(lambda: _waits(owner, three), "the late close waits")
        async with asyncio.timeout(10):
            assert await second == ("open", ["subscribed", "already"])
            assert await late == 0
    assert await presence.viewers() == {"B": 1, "D": 1}
    assert await owner.fetchval("select gateway from livewell_private.session") == "h"
    assert await presence.is_exact()


async def test_resuming_takes_items_in_order(owner: Database, database_url: str) -> None:
    """Old and new items are locked together: two clients that swap their lists wait for each other in no circle."""
    presence = PresenceSql(owner, owner)
    await presence.quote()
    await presence.open((1, "anna"), (2, "bert"), gateway="g")
    await presence.subscribe((1, "A"), (2, "B"))
    await wait_long(owner, "lock_items")
    keys = ["A", "B"]
    async with AsyncExitStack() as stack:
        one, two = [await connect(DatabaseOptions(url=database_url)) for _ in range(2)]
        stack.push_async_callback(one.close)
        stack.push_async_callback(two.close)
        for turn in range(20):
            first, second = keys[turn % 2], keys[(turn + 1) % 2]
            async with asyncio.timeout(10):
                answers = await asyncio.gather(
                    PresenceSql(one, owner).resume(1, "anna", second, gateway="g"),
                    PresenceSql(two, owner).resume(2, "bert", first, gateway="g"),
                )
            assert list(answers) == [("open", ["subscribed"])] * 2
    assert await presence.viewers() == {"A": 1, "B": 1}


@pytest.mark.parametrize("what", ["open", "close"])
async def test_a_session_opened_anew_meanwhile_is_not_taken_late(owner: Database, database_url: str, what: str) -> None:
    """Who waited for a session that ended and came back leaves it alone: taking it after later ones could deadlock."""
    later = NOON + GONE_AFTER
    unlocked = "select count(*) from (select from livewell_private.session where id = $1 for update skip locked) as s"
    presence = PresenceSql(owner, owner)
    await presence.open((1, "anna"))
    await wait_long(owner, "lock_sessions")
    async with AsyncExitStack() as stack:
        first, second = [await connect(DatabaseOptions(url=database_url)) for _ in range(2)]
        stack.push_async_callback(first.close)
        stack.push_async_callback(second.close)
        async with second.transaction():
            waiter = PresenceSql(second, owner)
            async with first.transaction():
                assert await PresenceSql(first, owner).open((1, "anna"), now=later) == ["opened"]
                waiting = asyncio.create_task(
                    waiter.open((1, "anna"), now=later) if what == "open" else waiter.close(1, now=later)
                )
                await until(lambda: _waits(owner, second), "it waits")
            assert await waiting == (["open"] if what == "open" else 0)
            assert await owner.fetchval(unlocked, session_id(1)) == 1


async def _waits(owner: Database, connection: Connection) -> bool:
    statement = "select cardinality(pg_blocking_pids($1)) > 0"
    return bool(await owner.fetchval(statement, connection.get_server_pid()))
