"""Reading is at once, spending after a short dwell: who leaves within it has caused no refresh."""

from datetime import timedelta

import pytest

from livewell.kernel import Database
from livewell.presence import InvalidPresence
from livewell.presence.tests.surface import MINUTE, NOON, SECOND, PresenceSql, session_id
from livewell.testing import idle_in_transaction

DWELL = timedelta(seconds=0.5)
ASK = "select livewell.ask_for_items($1, $2, $3, $4)"


async def waiting(owner: Database) -> dict[str, tuple[int, str]]:
    rows = await owner.fetch(
        "select payload ->> 'key' as key, priority, payload ->> 'cause' as cause from livewell.jobs"
        " where state = 'pending'"
    )
    return {row["key"]: (row["priority"], row["cause"]) for row in rows}


async def tick(owner: Database, after: timedelta) -> None:
    await owner.execute("select livewell_private.task_check($1)", NOON + after)


async def ask(presence: PresenceSql, *keys: str, gateway: str | None = None, session: int = 1) -> int:
    ids = [
        await presence.owner.fetchval("select id from livewell_private.item where key = $1", key) or 0 for key in keys
    ]
    return int(await presence.caller.fetchval(ASK, [session_id(session)] * len(ids), ids, NOON + DWELL, gateway))


async def test_who_leaves_right_away_has_spent_nothing(presence: PresenceSql, owner: Database) -> None:
    """While somebody dwells nothing is queued, by the call or by a tick; once it has left, nothing ever is."""
    await presence.open((1, "anna"), gateway="g")
    assert await presence.subscribe((1, "A"), dwell=DWELL, gateway="g") == ["subscribed"]
    assert await presence.viewers() == {"A": 1}
    await tick(owner, DWELL - timedelta(milliseconds=1))
    assert await waiting(owner) == {}
    await presence.unsubscribe((1, "A"), now=NOON + DWELL / 2)
    await tick(owner, MINUTE)
    assert await owner.fetchval("select count(*) from livewell.jobs") == 0


async def test_who_stays_is_served_by_the_next_tick(presence: PresenceSql, owner: Database) -> None:
    """Whatever becomes of its gateway: what it looks at is due when its dwell is over, also what was due before."""
    await presence.open((1, "anna"), (2, "bert"))
    await presence.subscribe((1, "A"), now=NOON - MINUTE)
    await presence.unsubscribe((1, "A"), now=NOON - MINUTE)
    await presence.subscribe((1, "A"), (2, "B"), dwell=DWELL)
    await tick(owner, timedelta())
    assert await waiting(owner) == {}
    await tick(owner, DWELL)
    assert await waiting(owner) == {"A": (1, "missing"), "B": (1, "missing")}


async def test_who_stayed_asks_ahead_of_all_that_waits(presence: PresenceSql, owner: Database) -> None:
    """Asked for after its dwell, an item is as if it had been subscribed to just then: first, in the user's name."""
    await presence.open((1, "anna"), gateway="g")
    await presence.subscribe((1, "A"), (1, "B"), dwell=DWELL, gateway="g")
    await tick(owner, DWELL)
    assert await ask(presence, "A", "B", gateway="g") == 2
    assert {key: priority for key, (priority, _) in (await waiting(owner)).items()} == {"A": 1000, "B": 500}
    asked = "select array_agg(distinct payload ->> 'asked_by') from livewell.jobs"
    assert await owner.fetchval(asked) == ["anna"]


async def test_only_who_looks_may_ask(presence: PresenceSql, owner: Database, owner_url: str) -> None:
    """Who has left, whose session is another gateway's, what is not there and what is held are passed over."""
    await presence.open((1, "anna"), gateway="g")
    await presence.subscribe((1, "A"), (1, "B"), dwell=DWELL)
    await presence.unsubscribe((1, "B"))
    assert await ask(presence, "B", "NONE", gateway="g") == 0
    assert await ask(presence, "A", gateway="h") == 0
    assert await ask(presence, "A", session=2) == 0
    assert await presence.caller.fetchval(ASK, [], [], NOON, None) == 0
    with pytest.raises(InvalidPresence):
        await presence.caller.fetchval(ASK, [session_id(1)], [], NOON, None)
    async with idle_in_transaction(owner_url, "update livewell_private.item set viewers = viewers where key = 'A'"):
        assert await ask(presence, "A", gateway="g") == 0
    assert await waiting(owner) == {}
    assert await ask(presence, "A", gateway="g") == 1
    assert set(await waiting(owner)) == {"A"}


async def test_dwelling_holds_up_nobody_else(presence: PresenceSql, owner: Database) -> None:
    """What somebody looks at already keeps its time, and who comes without dwelling is served at once."""
    await presence.open((1, "anna"), (2, "bert"))
    await presence.subscribe((1, "A"))
    due = "select due_at from livewell_private.item where key = 'A'"
    before = await owner.fetchval(due)
    await presence.subscribe((2, "A"), (2, "B"), dwell=DWELL)
    assert await owner.fetchval(due) == before
    await presence.subscribe((1, "B"), now=NOON + DWELL / 2)
    assert set(await waiting(owner)) == {"A", "B"}


async def test_a_failed_refresh_is_not_hurried_by_who_dwells(presence: PresenceSql, owner: Database) -> None:
    """What waits because its refresh failed waits for its time."""
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"), dwell=DWELL)
    await presence.unsubscribe((1, "A"))
    failed = "update livewell_private.item set failed_refreshes = 1, decision = 'refresh_failed', due_at = $1"
    await owner.execute(failed, NOON + MINUTE)
    await presence.subscribe((1, "A"), dwell=DWELL)
    assert await owner.fetchval("select due_at from livewell_private.item") == NOON + MINUTE


@pytest.mark.parametrize("dwell", [-SECOND, 61 * SECOND, None])
async def test_a_dwell_that_is_none_is_refused(presence: PresenceSql, owner: Database, dwell: timedelta | None) -> None:
    """Nothing is subscribed for it."""
    await presence.open((1, "anna"), gateway="g")
    with pytest.raises(InvalidPresence, match="dwell"):
        await presence.subscribe((1, "A"), dwell=dwell)  # type: ignore[arg-type]
    with pytest.raises(InvalidPresence, match="dwell"):
        await presence.caller.fetch(
            "select * from livewell.resume('h', $1, 'anna', '{quote}', '{A}', $2, $3)", session_id(1), NOON, dwell
        )
    assert await owner.fetchval("select count(*) from livewell_private.item") == 0
