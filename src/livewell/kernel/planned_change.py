"""What applying a file would do, one change at a time."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class PlannedChange:
    """What applying changes of one thing: it is added, one field of it changes, or it is the same."""

    thing: str
    name: str
    change: str
    field: str | None
    old: Any
    new: Any
