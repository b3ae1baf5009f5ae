"""Presence while a stranger is idle in a transaction: a batch of many users never waits for one row."""

import asyncpg
import pytest

from livewell.kernel import Database
from livewell.presence import PresenceBusy
from livewell.presence.tests.surface import GONE_AFTER, NOON, SECOND, PresenceSql, session_id
from livewell.testing import idle_in_transaction

HOLD_A = "update livewell_private.item set viewers = viewers where key = 'A'"
WATCH_A = '[{"type": "quote", "key": "A"}]'
LATER = NOON + GONE_AFTER + SECOND


def hold_session(number: int) -> str:
    return f"update livewell_private.session set last_seen = last_seen where id = '{session_id(number)}'"


async def test_a_held_item_is_busy_for_its_own_viewers(presence: PresenceSql, owner_url: str) -> None:
    """Subscribing to what somebody holds is answered busy, alone; asked again when it is free, it is subscribed."""
    await presence.open((1, "anna"), (2, "bert"), (3, "carl"), gateway="g")
    await presence.subscribe((3, "A"))
    async with idle_in_transaction(owner_url, HOLD_A):
        assert await presence.subscribe((1, "A"), (1, "B"), (2, "B")) == ["busy", "subscribed", "subscribed"]
        assert await presence.unsubscribe((3, "A"), (2, "B")) == ["busy", "unsubscribed"]
    assert await presence.subscribe((1, "A")) == ["subscribed"]
    assert await presence.unsubscribe((3, "A")) == ["unsubscribed"]
    assert await presence.viewers() == {"A": 1, "B": 1}
    assert await presence.is_exact()


async def test_a_held_session_is_busy_alone(presence: PresenceSql, owner_url: str) -> None:
    """What a gateway does for many users goes on beside the session that one of them holds; it is not gone."""
    await presence.open((1, "anna"), (2, "bert"))
    async with idle_in_transaction(owner_url, hold_session(1)):
        assert await presence.subscribe((1, "A"), (2, "A")) == ["busy", "subscribed"]
        assert await presence.renew(1, 2) == ["busy", "renewed"]
        assert await presence.open((1, "anna"), (3, "carl"), (1, "bert")) == ["busy", "opened", "taken"]
        assert await presence.unsubscribe((1, "A"), (2, "A")) == ["busy", "unsubscribed"]


async def test_a_session_that_somebody_is_opening(presence: PresenceSql, owner: Database, owner_url: str) -> None:
    """A session id in somebody's open transaction is busy; the others of the batch are opened."""
    opening = f"insert into livewell_private.session (id, user_id, last_seen) values ('{session_id(2)}', 'anna', now())"
    async with idle_in_transaction(owner_url, opening):
        answers = await presence.open(*((number, f"u{number}") for number in range(1, 21)))
    assert answers == ["busy" if number == 2 else "opened" for number in range(1, 21)]
    assert await presence.open((2, "u2")) == ["opened"]


async def test_a_closed_session_that_is_held_is_swept(presence: PresenceSql, owner: Database, owner_url: str) -> None:
    """Closing does not wait either: what is held is ended by the sweeper when it is free."""
    await presence.open((1, "anna"), (2, "bert"), gateway="g")
    await presence.subscribe((1, "A"), (2, "A"))
    async with idle_in_transaction(owner_url, hold_session(1)):
        await presence.close(1, 2)
        await presence.task("presence_sweep", now=NOON + SECOND)
        assert await presence.viewers() == {"A": 1}
    await presence.task("presence_sweep", now=NOON + SECOND)
    assert await presence.viewers() == {}
    assert await owner.fetchval("select count(*) from livewell_private.session") == 0
    assert await owner.fetchval("select count(*) from livewell_private.session_leaving") == 0


async def test_opened_again_before_the_sweeper_came(presence: PresenceSql, owner: Database, owner_url: str) -> None:
    """A session that was closed while it was held, and is opened again, is new, and not swept."""
    await presence.open((1, "anna"), gateway="g")
    await presence.subscribe((1, "A"))
    async with idle_in_transaction(owner_url, hold_session(1)):
        await presence.close(1)
    assert await presence.open((1, "anna"), gateway="g") == ["opened"]
    await presence.subscribe((1, "B"))
    await presence.task("presence_sweep", now=NOON + SECOND)
    assert await presence.viewers() == {"B": 1}


async def test_the_sweeper_goes_round_what_is_held(presence: PresenceSql, owner: Database, owner_url: str) -> None:
    """A session that is gone leaves what is free; what it looks at and somebody holds is undone when that is free."""
    await presence.open((1, "anna"), (2, "bert"))
    await presence.subscribe((1, "A"), (1, "B"), (2, "B"))
    async with idle_in_transaction(owner_url, HOLD_A):
        swept = await presence.task("presence_sweep", now=LATER)
        assert swept["swept"] == 1
        assert await presence.viewers() == {"A": 1}
        assert await presence.renew(1, now=LATER) == ["gone"]
        assert await presence.open((1, "anna"), now=LATER) == ["busy"]
    await presence.task("presence_sweep", now=LATER + SECOND)
    assert await presence.viewers() == {}
    assert await presence.is_exact()


async def test_the_recount_goes_round_what_is_held(presence: PresenceSql, owner: Database, owner_url: str) -> None:
    """Counts that had drifted are repaired but for those somebody holds, which are repaired the next time."""
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"), (1, "B"))
    await owner.execute("update livewell_private.viewer set sessions = 5; update livewell_private.item set viewers = 7")
    async with idle_in_transaction(owner_url, HOLD_A):
        await presence.task("presence_recount")
        assert await presence.viewers() == {"A": 7, "B": 1}
    await presence.task("presence_recount")
    assert await presence.viewers() == {"A": 1, "B": 1}
    assert await presence.is_exact()


async def test_a_user_is_told_that_it_is_busy(presence: PresenceSql, owner: Database, owner_url: str) -> None:
    """A user who would watch what somebody holds waits for two seconds and is told; nothing was changed."""
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"))
    async with idle_in_transaction(owner_url, HOLD_A), idle_in_transaction(owner_url, user="bert") as bert:
        with pytest.raises(asyncpg.PostgresError, match="in a transaction that stays open") as refused:
            await bert.execute("select livewell.watch($1, $2::text::jsonb)", session_id(9), WATCH_A)
    assert refused.value.sqlstate == PresenceBusy.sqlstate
    assert await presence.viewers() == {"A": 1}
