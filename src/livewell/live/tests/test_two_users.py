"""Two users at one gateway, in any order of what they, the application and those who give rights do."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.kernel import Database
from livewell.live.tests.test_rights import make_notes, write
from livewell.testing import ServedApi, Viewer, effort, make_access_key, until, viewing

USERS = ("ada", "bob")
KEYS = ("1", "2")
STEP = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(KEYS), st.sampled_from(USERS)),
    st.tuples(st.just("watch"), st.sampled_from(KEYS), st.sampled_from(USERS)),
    st.tuples(st.just("drop"), st.sampled_from(KEYS), st.sampled_from(USERS)),
    st.tuples(st.just("leave"), st.sampled_from(KEYS), st.sampled_from(USERS)),
    st.tuples(st.just("doubt"), st.sampled_from(KEYS), st.sampled_from(USERS)),
)


class _Person:
    """A user with one connection at a time, who comes back with session and versions."""

    def __init__(self, name: str, key: str, address: str) -> None:
        self.name = name
        self.key = key
        self.address = address
        self.stack = AsyncExitStack()
        self.viewer: Viewer | None = None
        self.wanted: set[str] = set()
        self.told: list[dict[str, Any]] = []

    async def come(self) -> Viewer:
        if self.viewer is None:
            self.viewer = await self.stack.enter_async_context(viewing(self.address))
            await self.viewer.hello(*(("note", key) for key in sorted(self.wanted)), token=self.key)
        return self.viewer

    async def leave(self) -> None:
        if self.viewer is not None:
            self.told += self.viewer.all
        await self.stack.aclose()
        self.stack, self.viewer = AsyncExitStack(), None


@pytest.fixture
def counter() -> list[int]:
    """Which words were written last, over all examples."""
    return [0]


@effort(100)
@given(steps=st.lists(STEP, min_size=4, max_size=14))
async def test_nobody_gets_the_others_row_and_nobody_misses_the_last(
    served: ServedApi, owner: Database, counter: list[int], steps: list[tuple[str, str, str]]
) -> None:
    """However they watch, leave and come back while rows change hands, each sees the own rows only, and the last."""
    if counter[0] == 0:
        await make_notes(owner)
    people = {
        name: _Person(name, (await make_access_key(owner, user=name)).key.reveal(), served.address) for name in USERS
    }
    example = counter[0] = counter[0] + 1
    try:
        for step, key, name in steps:
            counter[0] += 1
            # Each example begins with nothing stored.
            await _take(step, f"{example}-{key}", people[name], owner, counter[0])
        for person in people.values():
            await _ends_with_the_last(person, owner)
    finally:
        await asyncio.gather(*(person.leave() for person in people.values()))
    for person in people.values():
        authors = {frame["value"]["author"] for frame in person.told if frame.get("value")}
        assert authors <= {person.name}


async def _take(step: str, key: str, person: _Person, owner: Database, number: int) -> None:
    match step:
        case "write":
            await write(owner, key, person.name, str(number))
        case "watch":
            viewer = await person.come()
            person.wanted.add(key)
            await viewer.watch(("note", key))
        case "drop":
            person.wanted.discard(key)
            if person.viewer is not None:
                await person.viewer.drop(("note", key))
        case "leave":
            await person.leave()
        case "doubt":
            await owner.execute("select livewell.rights_changed($1)", person.name)


async def _ends_with_the_last(person: _Person, owner: Database) -> None:
    """Whoever looks sees, in the end, what the table has of its own, and nothing else."""
    viewer = await person.come()
    # What was refused while it was another's is asked for once more.
    await viewer.watch(*(("note", key) for key in person.wanted))
    rows = await owner.fetch("select id, words from notes.note where author = $1", person.name)
    own = {row["id"]: row["words"] for row in rows if row["id"] in person.wanted}

    async def sees() -> bool:
        await viewer.drain()
        seen = {key: row["value"]["words"] for (_, key), row in viewer.rows.items() if row["value"] is not None}
        return {key: words for key, words in seen.items() if key in person.wanted} == own

    await until(sees, f"{person.name} sees {own}")
