"""The demonstration on a database that another version of it left."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager

import pytest

from livewell.app import Livewell
from livewell.demo.stage import Stage, Watch
from livewell.kernel import CheckReport, Database, MigrationEdited, check

EDITED = "update livewell_private.migration set checksum = 'another' where number = 60"


class Lines:
    """A screen that keeps what it is told while things are made ready."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def prepare(self, done: int, of: int, what: str) -> None:
        """Steps pass by; only what is told stays to be read."""

    def entitle(self, title: str, hints: Sequence[str] = ()) -> None:
        raise AssertionError(title, hints)

    def tell(self, line: str) -> None:
        self.lines.append(line)

    def lose(self, reason: str) -> None:
        raise AssertionError(reason)


def _watching(_app: Livewell, _is_victim: Callable[[str], bool]) -> AbstractAsyncContextManager[Watch]:
    raise AssertionError("it only prepares")


async def test_what_another_version_left_is_dropped_and_made_anew(owner: Database, owner_url: str) -> None:
    """In its own folder the demonstration begins anew, and says so."""
    screen = Lines()
    await owner.execute("create schema livewell_demo; create table livewell_demo.quotes (symbol text)")
    await owner.execute(EDITED)
    stage = Stage(seconds=1, database_url=None, screen=screen, watching=_watching)
    await stage.make_schema(owner_url)
    assert await check(owner_url) == CheckReport(pending=(), drift=())
    assert await owner.fetchval("select to_regclass('livewell_demo.quotes')") is None
    assert any("another version" in line for line in screen.lines)


async def test_a_database_that_was_named_is_never_dropped(owner: Database, owner_url: str) -> None:
    """What is the user's stays, and the fact says what to do."""
    await owner.execute(EDITED)
    stage = Stage(seconds=1, database_url=owner_url, screen=Lines(), watching=_watching)
    with pytest.raises(MigrationEdited):
        await stage.make_schema(owner_url)
    assert await owner.fetchval("select count(*) from livewell.settings") > 0
