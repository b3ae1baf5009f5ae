"""Named SQL from files: each statement in a room's `sql/queries.sql` has a name and a sentence.

    -- name: list_jobs
    -- Jobs by state and kind, newest first.
    select …

A room's `store.py` loads its file once and has one method per name.
"""

import re
from importlib import resources

_NAME = re.compile(r"^-- name: (?P<name>[a-z][a-z0-9_]*)\s*$", re.MULTILINE)


class Queries:
    """The named statements of one room."""

    def __init__(self, statements: dict[str, str]) -> None:
        self._statements = statements

    @classmethod
    def of(cls, package: str) -> "Queries":
        """Load `sql/queries.sql` of a room, by the room's package name."""
        return cls.parse(resources.files(package).joinpath("sql/queries.sql").read_text(encoding="utf-8"))

    @classmethod
    def parse(cls, text: str) -> "Queries":
        heads = list(_NAME.finditer(text))
        ends = [head.start() for head in heads[1:]] + [len(text)]
        statements = {
            head["name"]: text[head.end() : end].strip().rstrip(";") for head, end in zip(heads, ends, strict=True)
        }
        if len(statements) != len(heads):
            raise ValueError("a query name is used twice")
        return cls(statements)

    def __getitem__(self, name: str) -> str:
        return self._statements[name]

    def names(self) -> list[str]:
        return sorted(self._statements)
