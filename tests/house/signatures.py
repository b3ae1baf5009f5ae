"""Write the signatures of all public functions into the SQL reference: `python -m tests.house.signatures`."""

import re
import textwrap
from collections.abc import Iterator

from tests.house.project import PACKAGE, REFERENCE, SqlFunction, sql_functions

PAGE = REFERENCE / "sql.md"
HEADING = "## Signatures\n"
_INTRODUCTION = """
Every function that is not internal, by room, with the roles that may call it. This section is written from the function
files by `python -m tests.house.signatures`.
"""
_SIGNATURE = re.compile(r"create or replace function livewell\.(.*?)\n?\s*\blanguage\b", re.IGNORECASE | re.DOTALL)
_WIDTH = 116


def signatures() -> str:
    """The section as the function files have it."""
    rooms: dict[str, list[SqlFunction]] = {}
    for function in sql_functions():
        if function.audience != {"internal"}:
            rooms.setdefault(function.path.relative_to(PACKAGE).parts[0], []).append(function)
    return "\n".join([HEADING + _INTRODUCTION, *(_room(room, rooms[room]) for room in sorted(rooms))])


def _room(room: str, functions: list[SqlFunction]) -> str:
    lines = [line for function in functions for line in _signature(function)]
    return "\n".join([f"### {room.capitalize()}: signatures", "", "```text", *lines, "```", ""])


def _signature(function: SqlFunction) -> Iterator[str]:
    match = _SIGNATURE.search(function.statement)
    assert match is not None, function.name
    words = re.sub(r"\( | (?=\))", lambda blank: blank[0].strip(), " ".join(match[1].split()))
    yield from textwrap.wrap(words, _WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    yield f"    -- {', '.join(sorted(function.audience))}"


def write() -> None:
    """Put the section in the place of the one that is there."""
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    PAGE.write_text(before + signatures(), encoding="utf-8")


if __name__ == "__main__":
    write()
