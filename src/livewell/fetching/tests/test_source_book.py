"""Which types a program can fetch, as they come, change and go."""

from typing import Any

import pytest
import pytest_asyncio
from pydantic_core import to_json

from livewell.fetching import Call, Fetcher, Model, SourceBook
from livewell.kernel import Database
from livewell.testing import make_endpoint, make_type

CALL = to_json({"path": "/notes/{key}"}).decode()
FIELDS = to_json({"text": {"type": "string"}}).decode()


class Note(Model):
    text: str


class NoteFetcher(Fetcher[Note]):
    """Found by its path."""

    async def fetch(self, call: Call) -> Any:
        return await call.get(f"/notes/{call.key}").items()


class Unmakeable(NoteFetcher):
    """A fetcher whose author forgot that nobody passes anything."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted


@pytest_asyncio.fixture
async def book(owner: Database) -> SourceBook:
    await make_endpoint(owner, "sim/notes")
    await owner.execute("update livewell_private.provider set base_url = 'https://notes.example' where name = 'sim'")
    return SourceBook(owner, {})


async def _names(book: SourceBook) -> list[str]:
    return sorted(source.data_type for source in await book.read())


async def test_types_come_change_and_go(book: SourceBook, owner: Database) -> None:
    """A declared call is served; what says nothing of it, is disabled or removed is not; a change is taken up."""
    await make_type(owner, "silent", endpoint="sim/notes")
    await make_type(owner, "note", endpoint="sim/notes", fetch_call=CALL, fields=FIELDS)
    (first,) = await book.read()
    assert (await book.read())[0] is first
    await owner.execute(
        "update livewell_private.endpoint set call_timeout = '3 seconds', updated_at = clock_timestamp()"
    )
    (second,) = await book.read()
    assert (first.limits.seconds, second.limits.seconds) == (10, 3)
    await owner.execute("update livewell_private.data_type set enabled = false, updated_at = clock_timestamp()")
    assert await _names(book) == []
    await owner.execute("update livewell_private.data_type set enabled = true, updated_at = clock_timestamp()")
    assert await _names(book) == ["note"]
    await owner.execute("delete from livewell_private.data_type where name = 'note'")
    assert await _names(book) == []


async def test_a_fetcher_by_its_path_is_served(book: SourceBook, owner: Database) -> None:
    """A type may name a class of the program's own, and needs no declared call."""
    await make_type(owner, "note", endpoint="sim/notes", model=f"{__name__}:NoteFetcher")
    assert await _names(book) == ["note"]


@pytest.mark.parametrize("by_path", [True, False])
@pytest.mark.usefixtures("book")
async def test_a_fetcher_that_cannot_be_made_stops_itself_alone(owner: Database, *, by_path: bool) -> None:
    """A class that fails when it is made leaves its type unserved, and the others as they were."""
    fetchers = {} if by_path else {"broken": Unmakeable}
    await make_type(owner, "broken", endpoint="sim/notes", model=f"{__name__}:Unmakeable" if by_path else None)
    await make_type(owner, "note", endpoint="sim/notes", fetch_call=CALL, fields=FIELDS)
    assert await _names(SourceBook(owner, fetchers)) == ["note"]
