"""What a client is still to be told: one slot per item, the newest wins."""

import asyncio
from typing import Any
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from livewell.access import ANONYMOUS, ReadClass
from livewell.live.client import LiveClient
from livewell.live.frames import CloseCode
from livewell.live.views import HeldItem, Part, View
from livewell.presence import Item

PUBLIC = ReadClass("livewell_anon", "{}", "0123456789ab")


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def a_client(clock: Clock) -> LiveClient:
    return LiveClient(session=uuid4(), principal=ANONYMOUS, credential=None, now=clock)


def a_view(key: str) -> View:
    return View(HeldItem(Item("quote", key), 1), PUBLIC)


async def told(client: LiveClient) -> list[dict[str, Any]]:
    async with asyncio.timeout(5):
        message = await client.next()
    assert message is not None
    frames: list[dict[str, Any]] = from_json(message)
    return frames


async def test_the_newest_version_wins() -> None:
    """A client that did not read while an item changed three times is told the third, once."""
    client, view = a_client(Clock()), a_view("AAPL")
    for version in (1, 2, 3):
        view.take(version, str(version), visible=True)
        client.tell(view, Part.ROW)
    (row,) = await told(client)
    assert (row["value"], row["version"]) == (3, "3.0123456789ab")


async def test_an_age_is_as_it_is_when_it_is_sent() -> None:
    """What waited a second for a slow client is told a second older, and with a second less to be fresh."""
    clock = Clock()
    client, view = a_client(clock), a_view("AAPL")
    view.held.fetched, view.held.fresh_until = clock.now - 2, clock.now + 3
    view.take(1, "1", visible=True)
    client.tell(view, Part.ROW)
    first = (await told(client))[0]
    client.tell(view, Part.ROW)
    clock.now += 1
    second = (await told(client))[0]
    assert [(row["age"], row["fresh"]) for row in (first, second)] == [(2000, 3000), (3000, 2000)]


async def test_who_does_not_see_a_row_is_told_nothing_of_it() -> None:
    """Neither value nor age nor state of a row go to a class that does not see it."""
    clock = Clock()
    client, view = a_client(clock), a_view("AAPL")
    view.held.fetched = clock.now
    view.held.condition = view.held.condition._replace(state="refreshing")
    view.take(1, '"secret"', visible=False)
    client.tell(view, Part.ROW | Part.AGE | Part.STATE)
    row, state = await told(client)
    assert (row["value"], row["age"], row["fresh"], state["is"]) == (None, None, None, "idle")


async def test_nothing_is_told_after_the_goodbye() -> None:
    """A goodbye is the last message, and what was still to be told is dropped for it."""
    client, view = a_client(Clock()), a_view("AAPL")
    client.tell(view, Part.ROW)
    client.end(CloseCode.GOING_AWAY, "bye", 100)
    client.tell_text("other", "{}")
    first = await told(client)
    assert first[0] == {"frame": "bye", "code": 4000, "reason": "bye", "come_back": 100}
    assert await client.next() is None


async def test_nothing_is_told_while_rights_are_in_doubt() -> None:
    """Who is held back is told what there is once rights were looked at, and the newest of it."""
    client, view = a_client(Clock()), a_view("AAPL")
    client.is_held_back = True
    view.take(1, "1", visible=True)
    client.tell(view, Part.ROW)
    waiting = asyncio.ensure_future(client.next())
    await asyncio.sleep(0)
    assert not waiting.done()
    view.take(2, None, visible=False)
    client.let_go_on()
    frames = from_json(await waiting or "")
    assert [frame["value"] for frame in frames] == [None]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([Part.ROW, Part.AGE, Part.STATE, None])), max_size=30))
async def test_every_interleaving_ends_with_the_newest(steps: list[tuple[int, Part | None]]) -> None:
    """Whatever is told and taken in which order, the last row a client has of an item is its newest."""
    client = a_client(Clock())
    views = [a_view(str(number)) for number in range(4)]
    has: dict[str, Any] = {}
    version = 0

    async def take() -> None:
        if client.is_due:
            for frame in await told(client):
                if frame["frame"] == "row":
                    has[frame["key"]] = frame["value"]

    for number, part in steps:
        if part is None:
            await take()
        else:
            if part is Part.ROW:
                version += 1
                views[number].take(version, str(version), visible=True)
            client.tell(views[number], part)
    await take()
    assert has == {view.held.item.key: int(view.value) for view in views if view.value is not None}


async def test_a_large_value_is_fetched_by_get() -> None:
    """A value over 256 kB is not in its frame."""
    client, view = a_client(Clock()), a_view("AAPL")
    view.take(1, f'"{"x" * 300_000}"', visible=True)
    client.tell(view, Part.ROW)
    (row,) = await told(client)
    assert ("value" in row, row["large"]) == (False, True)
