"""Walls in SQL: a room reads and calls another only downwards, and only by what that room offers."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.house.project import PACKAGE, without_comments

# From the cellar up: a room knows those before it.
ROOMS = (
    "kernel",
    "audit",
    "settings",
    "budgets",
    "jobs",
    "schedule",
    "registry",
    "access",
    "freshness",
    "presence",
    "fetching",
    "live",
)
# The tables of lower rooms that functions and views still read or write directly. Take lines away, never add one: a
# room offers what others need as a function or a view.
ALLOWED = Path(__file__).with_name("walls.toml")

_TABLE = re.compile(r"create (?:unlogged )?table livewell_private\.(\w+)")
_NAMED = re.compile(r"\blivewell(?:_private)?\.(\w+)")


def test_every_room_with_sql_has_its_level() -> None:
    """A room that the order does not know would have no walls."""
    assert {path.parent.name for path in PACKAGE.glob("*/sql")} == set(ROOMS)


def test_nothing_reads_or_calls_upwards() -> None:
    """No function, view or trigger names a table, function or view of a room above its own."""
    upwards = [
        f"{room}/{name} names {other} of {_rooms()[other]}"
        for room, name, others in _uses()
        for other in sorted(others)
        if ROOMS.index(_rooms()[other]) > ROOMS.index(room)
    ]
    assert not upwards, "\n".join(upwards)


def test_the_tables_of_a_lower_room_are_read_by_what_it_offers() -> None:
    """What still reads a lower room's table directly is listed, and the list only shrinks."""
    allowed = tomllib.loads(ALLOWED.read_text(encoding="utf-8"))
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for room, name, others in _uses():
        if strange := sorted(other for other in others & _tables().keys() if _rooms()[other] != room):
            found[room][name] = strange
    assert found == allowed, "take away what is gone; what is new belongs into a function or view of the lower room"


@cache
def _tables() -> dict[str, str]:
    """The room of each table."""
    return {
        table: path.relative_to(PACKAGE).parts[0]
        for path in PACKAGE.glob("*/sql/migrations/*.sql")
        for table in _TABLE.findall(path.read_text(encoding="utf-8"))
    }


@cache
def _rooms() -> dict[str, str]:
    """The room of everything in the schemas that has a name."""
    objects = [path for kind in ("functions", "views") for path in PACKAGE.glob(f"*/sql/{kind}/*.sql")]
    return _tables() | {path.stem: path.relative_to(PACKAGE).parts[0] for path in objects}


def _uses() -> Iterator[tuple[str, str, set[str]]]:
    """Each object's room and name, and the names of others in it."""
    for kind in ("functions", "views", "triggers"):
        for path in sorted(PACKAGE.glob(f"*/sql/{kind}/*.sql")):
            named = set(_NAMED.findall(without_comments(path.read_text(encoding="utf-8"))))
            yield (
                path.relative_to(PACKAGE).parts[0],
                path.stem,
                {name for name in named if name in _rooms()} - {path.stem},
            )
