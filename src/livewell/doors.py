"""Doors that open when something is asked for: importing a room imports nothing of it yet.

A room's `__init__` says in an `if TYPE_CHECKING:` block where each of its names is, for readers and type checkers; its
`__getattr__ = opened(__name__)` imports a name from there when it is first used. So a command that reads one table
waits for one store, not for an HTTP client.
"""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


def opened(door: str) -> Callable[[str], Any]:
    """The `__getattr__` of a door."""

    def get(name: str) -> Any:
        where = _places(door).get(name)
        if where is None:
            raise AttributeError(f"module {door!r} has no attribute {name!r}")
        value = getattr(import_module(where[0]), where[1])
        setattr(sys.modules[door], name, value)
        return value

    return get


def load_facts() -> None:
    """Import the facts of every room, for an error whose room nobody has entered yet."""
    for errors in sorted(Path(__file__).parent.glob("*/errors.py")):
        import_module(f"livewell.{errors.parent.name}.errors")


@cache
def _places(door: str) -> dict[str, tuple[str, str]]:
    """The names of a door, each with its module and what it is called there."""
    source = Path(sys.modules[door].__file__ or "").read_bytes()
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for block in ast.parse(source).body
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
