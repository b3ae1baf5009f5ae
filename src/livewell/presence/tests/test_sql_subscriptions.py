"""Subscribing and unsubscribing, and what the items are told."""

import pytest

from livewell.freshness import InvalidKey, UnknownType
from livewell.kernel import Database
from livewell.presence import InvalidPresence
from livewell.presence.tests.surface import MINUTE, NOON, PresenceSql, session_id
from livewell.testing import make_type


async def test_viewers_are_distinct_users(presence: PresenceSql) -> None:
    """Two sessions of one user are one viewer, until the last of them leaves."""
    await presence.open((1, "anna"), (2, "anna"), (3, "bert"))
    assert await presence.subscribe((1, "A"), (2, "A"), (3, "A"), (3, "B")) == ["subscribed"] * 4
    assert await presence.viewers() == {"A": 2, "B": 1}
    await presence.unsubscribe((1, "A"))
    assert await presence.viewers() == {"A": 2, "B": 1}
    await presence.close(2)
    assert await presence.viewers() == {"A": 1, "B": 1}
    assert await presence.is_exact()


async def test_subscribing_and_unsubscribing_are_idempotent(presence: PresenceSql) -> None:
    """Said twice, in one batch or two, it counts once; each row is told what became of it."""
    await presence.open((1, "anna"))
    assert await presence.subscribe((1, "A"), (1, "A"), (1, "B")) == ["subscribed", "already", "subscribed"]
    assert await presence.subscribe((1, "A"), (7, "A")) == ["already", "gone"]
    assert await presence.viewers() == {"A": 1, "B": 1}
    assert await presence.unsubscribe((1, "A"), (1, "C"), (7, "A")) == ["unsubscribed", "not_there", "not_there"]
    assert await presence.unsubscribe((1, "A")) == ["not_there"]
    assert await presence.viewers() == {"B": 1}
    await presence.unsubscribe((1, "B"), (1, "B"))
    assert await presence.viewers() == {}
    assert await presence.is_exact()


async def test_a_batch_with_a_wrong_type_or_key_is_refused_whole(presence: PresenceSql, owner: Database) -> None:
    """One of them is enough; nothing is subscribed and no item made."""
    await presence.open((1, "anna"))
    with pytest.raises(InvalidKey):
        await presence.subscribe((1, "A"), (1, "two words"))
    ids, keys = [session_id(1)] * 2, ["A", "B"]
    with pytest.raises(UnknownType):
        await presence.caller.fetchval("select outcomes from livewell.subscribe($1, '{quote,quotes}', $2)", ids, keys)
    with pytest.raises(InvalidPresence):
        await presence.caller.fetchval("select outcomes from livewell.subscribe($1, '{quote}', $2)", ids, keys)
    assert await owner.fetchval("select count(*) from livewell_private.item") == 0
    assert await presence.caller.fetchval("select outcomes from livewell.subscribe('{}', '{}', '{}')") == []


async def test_a_session_looks_at_so_many_items(presence: PresenceSql, database: Database) -> None:
    """What it holds already and what comes before in the batch counts; the rest is told so, others are not affected."""
    await database.execute("select livewell.set_setting('presence.items_per_session', '3')")
    await presence.open((1, "anna"), (2, "bert"))
    await presence.subscribe((1, "A"))
    assert await presence.subscribe((1, "A"), (1, "B"), (1, "C"), (2, "D"), (1, "D"), (1, "E")) == [
        *("already", "subscribed", "subscribed", "subscribed", "too_many", "too_many"),
    ]
    assert await presence.viewers() == {"A": 1, "B": 1, "C": 1, "D": 1}
    await presence.unsubscribe((1, "A"))
    assert await presence.subscribe((1, "E"), (1, "F")) == ["subscribed", "too_many"]


async def test_the_first_viewer_makes_an_item_due(presence: PresenceSql, owner: Database) -> None:
    """It is watched from then on; when the last leaves it is not watched any more."""
    await presence.open((1, "anna"), (2, "bert"))
    await presence.subscribe((1, "A"), now=NOON)
    await presence.subscribe((2, "A"), now=NOON + MINUTE)
    row = await owner.fetchrow("select watched_since, watched from livewell_private.item")
    assert tuple(row or ()) == (NOON, True)
    await presence.close(1, 2)
    row = await owner.fetchrow("select watched_since, watched from livewell_private.item")
    assert tuple(row or ()) == (None, False)


async def test_who_comes_does_not_wait_for_the_next_tick(presence: PresenceSql, owner: Database) -> None:
    """A missing item is queued by the very call that subscribes to it, ahead of all that waits; a fresh one is not."""
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"))
    rows = await owner.fetch("select dedupe_key, priority, payload ->> 'cause' as cause from livewell_private.job_live")
    assert [tuple(row) for row in rows] == [("refresh/quote/A", 1000, "subscribe")]
    await owner.execute("delete from livewell_private.job_live")
    await owner.execute("update livewell_private.item set expires_at = $1", NOON + MINUTE)
    await presence.open((2, "bert"))
    await presence.subscribe((2, "A"))
    assert await owner.fetchval("select count(*) from livewell_private.job_live") == 0


async def test_a_check_that_fails_ends_no_subscription(presence: PresenceSql, owner: Database) -> None:
    """The viewer is counted all the same, and somebody is told."""
    await owner.execute(
        "create or replace function livewell_private.assess_items(p_item_ids bigint[], p_now timestamptz)"
        " returns livewell_private.assessment[] language plpgsql as $$ begin raise exception 'broken'; end $$"
    )
    await presence.open((1, "anna"))
    assert await presence.subscribe((1, "A")) == ["subscribed"]
    assert await presence.viewers() == {"A": 1}
    assert "broken" in (await presence.warnings())["freshness.check_failed"]


async def test_types_do_not_mix(presence: PresenceSql, owner: Database) -> None:
    """The same key of two types is two items."""
    await make_type(owner, "news")
    await presence.open((1, "anna"))
    await presence.caller.fetchval(
        "select outcomes from livewell.subscribe($1, '{quote,news}', '{A,A}', $2)", [session_id(1), session_id(1)], NOON
    )
    await presence.unsubscribe((1, "A"))
    rows = await owner.fetch("select data_type, viewers from livewell_private.item order by 1")
    assert [tuple(row) for row in rows] == [("news", 1), ("quote", 0)]
