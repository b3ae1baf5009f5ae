"""Counting anew every night, and the figures by the hour."""

from livewell.kernel import Database
from livewell.presence.tests.surface import MINUTE, NOON, PresenceSql


async def test_where_nothing_drifted_nothing_is_done(presence: PresenceSql) -> None:
    """The usual night: no repair, no warning; who looks at an item no longer is forgotten."""
    await presence.open((1, "anna"), (2, "bert"))
    await presence.subscribe((1, "A"), (2, "A"), (2, "B"))
    await presence.close(2)
    counted = await presence.task("presence_recount")
    assert counted == {
        "items_repaired": 0,
        "pairs_repaired": 0,
        "orphans_removed": 0,
        "forgotten": 2,
        "again_in": None,
    }
    assert "presence.viewers_drifted" not in await presence.warnings()
    assert await presence.viewers() == {"A": 1}


async def test_drift_is_repaired_and_reported(presence: PresenceSql, owner: Database) -> None:
    """Whatever was tampered with is as the subscriptions say again, and a warning tells how much it was."""
    await presence.open((1, "anna"), (2, "bert"), (3, "carl"))
    await presence.subscribe((1, "A"), (2, "A"), (3, "B"), (3, "C"))
    await owner.execute("update livewell_private.item set viewers = 7 where key = 'B'")
    await owner.execute("update livewell_private.viewer set sessions = 5 where user_id = 'anna'")
    await owner.execute("delete from livewell_private.viewer where user_id = 'bert'")
    await owner.execute(
        "insert into livewell_private.viewer select id, 'ghost', 1 from livewell_private.item where key = 'C'"
    )
    await owner.execute(
        "insert into livewell_private.subscription select gen_random_uuid(), id from livewell_private.item where"
        " key = 'A'"
    )
    assert not await presence.is_exact()
    counted = await presence.task("presence_recount")
    assert (counted["pairs_repaired"], counted["orphans_removed"]) == (3, 1)
    assert await presence.is_exact()
    assert await presence.viewers() == {"A": 2, "B": 1, "C": 1}
    assert "counted anew" in (await presence.warnings())["presence.viewers_drifted"]
    again = await presence.task("presence_recount")
    assert (again["items_repaired"], again["pairs_repaired"], again["orphans_removed"]) == (0, 0, 0)


async def test_a_subscription_to_nothing_goes(presence: PresenceSql, owner: Database) -> None:
    """A subscription whose item is gone is removed with its viewer, and told."""
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"), (1, "B"))
    await owner.execute("delete from livewell_private.item where key = 'B'")
    assert (await presence.task("presence_recount"))["orphans_removed"] == 1
    assert await owner.fetchval("select count(*) from livewell_private.viewer") == 1
    assert await presence.viewers() == {"A": 1}


async def test_the_recount_is_bounded(presence: PresenceSql, owner: Database) -> None:
    """A thousand repairs a run, and it asks to be run again at once while there are more."""
    await owner.execute(
        "insert into livewell_private.item (data_type, key, due_at, viewers)"
        " select 'quote', 'K' || n, now(), 3 from generate_series(1, 1100) as n"
    )
    first = await presence.task("presence_recount")
    assert (first["items_repaired"], first["again_in"]) == (1000, "0 seconds")
    second = await presence.task("presence_recount")
    assert (second["items_repaired"], second["again_in"]) == (100, None)
    assert await presence.is_exact()


async def test_figures_are_sampled_by_the_hour(presence: PresenceSql, owner: Database) -> None:
    """Items, distinct viewers and subscriptions of a type, on average and at most; old hours are forgotten."""
    await owner.execute(
        "insert into livewell_private.subscription_hour"
        " values ($1::timestamptz - interval '91 days', 'quote', 1, 1, 1, 1, 1, 1, 1)",
        NOON,
    )
    await presence.open((1, "anna"), (2, "anna"), (3, "bert"))
    await presence.subscribe((1, "A"), (2, "A"), (3, "B"))
    assert await presence.task("presence_hours", NOON + MINUTE) == {"types": 1, "forgotten": 1}
    await presence.close(3)
    await presence.task("presence_hours", NOON + 11 * MINUTE)
    rows = await owner.fetch("select * from livewell.subscription_hours")
    assert [tuple(row) for row in rows] == [(NOON, "quote", 2, 1.5, 2, 1.5, 2, 2.5, 3)]
