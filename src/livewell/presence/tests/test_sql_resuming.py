"""A session belongs to the gateway that resumed it last, and looks at exactly what was said then."""

import pytest

from livewell.freshness import InvalidKey, UnknownType
from livewell.kernel import Database
from livewell.presence import GatewayGone, InvalidPresence
from livewell.presence.tests.surface import GATEWAY_GONE_AFTER, GONE_AFTER, NOON, SECOND, PresenceSql, session_id
from livewell.testing import idle_in_transaction

RESUME = "select * from livewell.resume($1, $2, $3, $4, $5, $6)"


def hold_session(number: int) -> str:
    return f"update livewell_private.session set last_seen = last_seen where id = '{session_id(number)}'"


async def gateways(owner: Database) -> dict[int, str | None]:
    rows = await owner.fetch("select id, gateway from livewell_private.session")
    return {row["id"].int: row["gateway"] for row in rows}


async def test_a_late_close_ends_nothing_of_another(presence: PresenceSql, owner: Database) -> None:
    """The old gateway finds out late that its connection is dead; the session was resumed elsewhere, and stays."""
    await presence.open((1, "anna"), (2, "bert"), gateway="old")
    await presence.subscribe((1, "A"), (2, "A"))
    assert await presence.resume(1, "anna", "A", gateway="new") == ("open", ["already"])
    assert await presence.close(1, 2, gateway="old") == 1
    assert await presence.viewers() == {"A": 1}
    assert await gateways(owner) == {1: "new"}
    assert await presence.close(1, gateway="new") == 1
    assert await presence.is_exact()


async def test_a_late_reopen_takes_nothing_back(presence: PresenceSql, owner: Database) -> None:
    """A gateway that was given up opens its sessions again, but for those that somebody else has by now."""
    late = NOON + GATEWAY_GONE_AFTER
    await presence.open((1, "anna"), (2, "bert"), (3, "carl"), gateway="old")
    assert await presence.resume(1, "anna", "A", gateway="new", now=NOON + SECOND) == ("open", ["subscribed"])
    await presence.renew_gateway("new", late)
    await presence.open((3, "carl"), now=late)
    answers = await presence.open((1, "anna"), (2, "bert"), (3, "carl"), gateway="old2", now=late)
    assert answers == ["elsewhere", "opened", "elsewhere"]
    assert await gateways(owner) == {1: "new", 2: "old2", 3: None}
    assert await presence.viewers() == {"A": 1}
    # When the other is gone as well, whoever opens it has it.
    later = late + GATEWAY_GONE_AFTER
    assert await presence.renew_gateway("old2", later - SECOND)
    assert await presence.open((1, "anna"), gateway="old2", now=later) == ["opened"]
    assert await presence.viewers() == {}


async def test_calls_of_a_gateway_touch_only_its_own(presence: PresenceSql) -> None:
    """Late subscribes are answered gone and late unsubscribes not_there; without a gateway named, whoever has it."""
    await presence.open((1, "anna"), gateway="old")
    await presence.open((2, "bert"))
    await presence.resume(1, "anna", "A", gateway="new")
    assert await presence.subscribe((1, "B"), (2, "B"), gateway="old") == ["gone", "gone"]
    assert await presence.unsubscribe((1, "A"), gateway="old") == ["not_there"]
    assert await presence.viewers() == {"A": 1}
    assert await presence.subscribe((1, "B"), gateway="new") == ["subscribed"]
    assert await presence.unsubscribe((1, "A"), gateway="new") == ["unsubscribed"]
    assert await presence.unsubscribe((1, "B")) == ["unsubscribed"]
    assert await presence.viewers() == {}


async def test_a_resumed_list_is_exact(presence: PresenceSql, owner: Database) -> None:
    """What is not in the list is let go, what is new is looked at, and each item is told as it is known."""
    await presence.open((1, "anna"), (2, "bert"), gateway="old")
    await presence.subscribe((1, "A"), (1, "B"), (2, "B"))
    await owner.execute("update livewell_private.item set version = 7, fetched_at = $1 where key = 'B'", NOON)
    asked = ("new", session_id(1), "anna", ["quote"] * 3, ["B", "C", "B"], NOON)
    (row,) = await presence.caller.fetch(RESUME, *asked)
    assert (row["session_outcome"], row["outcomes"]) == ("open", ["already", "subscribed", "already"])
    ids = {row["key"]: row["id"] for row in await owner.fetch("select id, key from livewell_private.item")}
    assert row["items"] == [ids["B"], ids["C"], ids["B"]]
    assert (row["versions"], row["fetched_at"]) == ([7, 0, 7], [NOON, None, NOON])
    assert (row["left_types"], row["left_keys"]) == ([], [])
    assert await presence.viewers() == {"B": 2, "C": 1}
    assert await gateways(owner) == {1: "new", 2: "old"}
    assert await presence.resume(1, "anna", gateway="new") == ("open", [])
    assert await presence.viewers() == {"B": 1}
    assert await presence.is_exact()


async def test_a_refresh_of_what_is_no_longer_looked_at_is_let_go(presence: PresenceSql, owner: Database) -> None:
    """Resuming with another list spends nothing on the old one."""
    await presence.resume(1, "anna", "A", gateway="g")
    await presence.resume(1, "anna", "B", gateway="g")
    waiting = "select array_agg(payload ->> 'key') from livewell.jobs where state = 'pending'"
    assert await owner.fetchval(waiting) == ["B"]


async def test_what_is_not_there_is_opened(presence: PresenceSql, database: Database) -> None:
    """A session that is gone, or was never there, is opened with its list, within what a user may have."""
    assert await presence.resume(1, "anna", "A", gateway="g") == ("opened", ["subscribed"])
    late = NOON + GATEWAY_GONE_AFTER
    assert await presence.resume(1, "anna", "B", gateway="h", now=late) == ("opened", ["subscribed"])
    assert await presence.viewers() == {"B": 1}
    await database.execute("select livewell.set_setting('presence.sessions_per_user', '1')")
    assert await presence.resume(2, "anna", "C", gateway="h", now=late) == ("too_many", [])
    await database.execute("select livewell.set_setting('presence.items_per_session', '1')")
    assert await presence.resume(1, "anna", "D", "E", gateway="h", now=late) == ("open", ["subscribed", "too_many"])
    assert await presence.viewers() == {"D": 1}


async def test_a_session_of_another_user_is_not_resumed(presence: PresenceSql, owner: Database) -> None:
    """Who knows its id does not have it: nothing is done, and no item made."""
    await presence.open((1, "anna"), gateway="g")
    await presence.subscribe((1, "A"))
    assert await presence.resume(1, "eve", "X", gateway="h") == ("taken", [])
    assert await gateways(owner) == {1: "g"}
    assert await presence.viewers() == {"A": 1}
    assert await owner.fetchval("select count(*) from livewell_private.item") == 1


async def test_resuming_everywhere_is_one_viewer(presence: PresenceSql, owner: Database) -> None:
    """A client that resumes its session at ten gateways is one session of one user, wherever it was last."""
    for number in range(10):
        await presence.resume(1, "anna", "A", "B", gateway=f"g{number}")
    assert await presence.viewers() == {"A": 1, "B": 1}
    assert await gateways(owner) == {1: "g9"}
    for number in range(9):
        assert await presence.close_gateway(f"g{number}") == 0
    assert await presence.viewers() == {"A": 1, "B": 1}
    assert await presence.is_exact()


async def test_what_cannot_be_resumed_changes_nothing(presence: PresenceSql, owner: Database) -> None:
    """A wrong key or type, no gateway, one that is gone, no user, lists of two lengths: refused whole, as it was."""
    await presence.open((1, "anna"), gateway="old")
    await presence.subscribe((1, "A"))
    with pytest.raises(InvalidKey):
        await presence.resume(1, "anna", "B", "two words", gateway="new")
    one = session_id(1)
    for arguments, fault in [
        (("new", one, "anna", ["quotes"], ["B"]), UnknownType),
        (("two words", one, "anna", ["quote"], ["B"]), InvalidPresence),
        (("new", None, "anna", ["quote"], ["B"]), InvalidPresence),
        (("new", one, "", ["quote"], ["B"]), InvalidPresence),
        (("new", one, None, ["quote"], ["B"]), InvalidPresence),
        (("new", one, "anna", ["quote"], ["B", "C"]), InvalidPresence),
        (("new", one, "anna", None, None), InvalidPresence),
    ]:
        with pytest.raises(fault):
            await presence.caller.fetch(RESUME, *arguments, NOON)
    with pytest.raises(GatewayGone):
        await presence.resume(1, "anna", "B", gateway="old", now=NOON + GATEWAY_GONE_AFTER)
    assert await gateways(owner) == {1: "old"}
    assert await presence.viewers() == {"A": 1}


async def test_a_session_that_somebody_holds_is_busy(presence: PresenceSql, owner: Database, owner_url: str) -> None:
    """Resuming does not wait for a stranger: the session stays where it is, and is asked for again."""
    await presence.open((1, "anna"), gateway="old")
    async with idle_in_transaction(owner_url, hold_session(1)):
        assert await presence.resume(1, "anna", "A", gateway="new") == ("busy", [])
    assert await presence.resume(1, "anna", "A", gateway="new") == ("open", ["subscribed"])


async def test_what_somebody_holds_is_let_go_later(presence: PresenceSql, owner: Database, owner_url: str) -> None:
    """An item in a stranger's transaction holds up no other: what is left of the old list is named."""
    await presence.open((1, "anna"), gateway="old")
    await presence.subscribe((1, "A"), (1, "B"))
    asked = ("new", session_id(1), "anna", ["quote"] * 2, ["C", "D"], NOON)
    async with idle_in_transaction(owner_url, "update livewell_private.item set viewers = viewers where key = 'A'"):
        (row,) = await presence.caller.fetch(RESUME, *asked)
        assert (row["session_outcome"], row["outcomes"]) == ("open", ["subscribed", "subscribed"])
        assert (row["left_types"], row["left_keys"]) == (["quote"], ["A"])
    assert await presence.viewers() == {"A": 1, "C": 1, "D": 1}
    assert await presence.unsubscribe((1, "A"), gateway="new") == ["unsubscribed"]
    assert await presence.is_exact()


@pytest.mark.parametrize("is_swept", [True, False])
async def test_a_close_that_found_it_held_ends_nothing_of_another(
    presence: PresenceSql, owner: Database, owner_url: str, *, is_swept: bool
) -> None:
    """What the sweeper is to end for a gateway it ends only while it is that gateway's, and never when it came back."""
    await presence.open((1, "anna"), (2, "bert"), gateway="old")
    await presence.subscribe((1, "A"), (2, "A"))
    await presence.resume(1, "anna", "A", gateway="new")
    async with idle_in_transaction(owner_url, hold_session(1)), idle_in_transaction(owner_url, hold_session(2)):
        await presence.close(1, 2, gateway="old")
    if is_swept:
        assert await presence.sweep(NOON + SECOND) == 1
        assert await gateways(owner) == {1: "new"}
    assert await presence.resume(1, "anna", "A", gateway="old") == ("open", ["already"])
    assert await presence.sweep(NOON + SECOND) == (0 if is_swept else 1)
    assert await gateways(owner) == {1: "old"}
    assert await presence.viewers() == {"A": 1}
    assert await owner.fetchval("select count(*) from livewell_private.session_leaving") == 0


async def test_resumed_after_its_own_gateway_closed_it(presence: PresenceSql, owner: Database, owner_url: str) -> None:
    """It was closed, though somebody held it: resumed, it is new, and not swept."""
    await presence.open((1, "anna"), gateway="old")
    await presence.subscribe((1, "A"))
    async with idle_in_transaction(owner_url, hold_session(1)):
        await presence.close(1, gateway="old")
    assert await presence.resume(1, "anna", "B", gateway="new") == ("opened", ["subscribed"])
    assert await presence.sweep(NOON + SECOND) == 0
    assert await presence.viewers() == {"B": 1}


async def test_a_gateway_is_gone_sooner_than_who_has_none(presence: PresenceSql, owner: Database) -> None:
    """Its sessions count for 45 seconds, one without a gateway for five minutes, and the setting decides."""
    await presence.open((1, "anna"), gateway="g")
    await presence.open((2, "bert"))
    await presence.subscribe((1, "A"), (2, "A"))
    assert await presence.sweep(NOON + GATEWAY_GONE_AFTER - SECOND) == 0
    assert await presence.subscribe((1, "B"), now=NOON + GATEWAY_GONE_AFTER) == ["gone"]
    assert await presence.sweep(NOON + GATEWAY_GONE_AFTER) == 1
    assert await presence.viewers() == {"A": 1}
    assert await presence.sweep(NOON + GONE_AFTER - SECOND) == 0
    assert await presence.sweep(NOON + GONE_AFTER) == 1
    await owner.execute("select livewell.set_setting('live.gone_after', '20 seconds')")
    await presence.open((1, "anna"), gateway="g")
    assert not await presence.renew_gateway("g", NOON + 20 * SECOND)


async def test_the_sweeper_comes_in_time(owner: Database) -> None:
    """What a gateway that died had stops counting within a minute."""
    every = await owner.fetchval("select every from livewell_private.task where name = 'presence_sweep'")
    assert every + GATEWAY_GONE_AFTER < 60 * SECOND


async def test_a_session_is_resumed_without_a_gateway(presence: PresenceSql) -> None:
    """Who renews by itself names no gateway: its list is exact, and asking twice is asking once."""
    await presence.open((1, "anna"), gateway="old")
    await presence.subscribe((1, "A"), gateway="old")
    for _ in range(2):
        assert (await presence.resume(1, "anna", "B", gateway=None))[0] == "open"
    assert await presence.owner.fetchval("select gateway is null from livewell_private.session")
    assert await presence.viewers() == {"B": 1}
