"""What applying a file would do, one change at a time."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import asyncpg
from pydantic_core import from_json


@dataclass(frozen=True, kw_only=True)
class PlannedChange:
    """What applying changes of one thing: it is added, one field of it changes, or it is the same."""

    thing: str
    name: str
    change: str
    field: str | None
    old: Any
    new: Any


def planned_changes(rows: Iterable[asyncpg.Record]) -> list[PlannedChange]:
    """The plan that the database answered; what was and what would be come as JSON."""
    return [PlannedChange(**{**row, "old": _read(row["old"]), "new": _read(row["new"])}) for row in rows]


def _read(text: str | None) -> Any:
    return None if text is None else from_json(text)
