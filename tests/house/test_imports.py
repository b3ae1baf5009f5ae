"""Rooms know each other by their front door only; import-linter keeps the order, this keeps the door."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.project import PACKAGE, place, python_files, rooms, tree

_DEPTHS = ("sql", "store.py")
_OTHER_DRIVERS = {"psycopg", "psycopg2", "pg8000", "aiopg", "sqlalchemy"}


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module a file imports, by its full name, with the line."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield node.lineno, module
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def _room_of(path: Path) -> str | None:
    if not path.is_relative_to(PACKAGE) or path.parent == PACKAGE:
        return None
    return path.relative_to(PACKAGE).parts[0]


def _behind_a_door(module: str, path: Path) -> bool:
    parts = module.split(".")
    if len(parts) < 3 or parts[0] != "livewell" or parts[1] == _room_of(path):
        return False
    if parts[2] == "tests" and "tests" in path.parts:
        return False
    inner = PACKAGE.joinpath(*parts[1:])
    return inner.is_dir() or inner.with_suffix(".py").exists()


def test_nothing_imports_past_the_door_of_a_room() -> None:
    """`livewell.jobs` is for everybody above jobs, `livewell.jobs.store` for jobs alone, its tests' tools for tests."""
    past = [
        f"{place(path)}:{line} imports {module}"
        for path in python_files("src", "tests", "benchmarks", "conftest.py")
        for line, module in _imports(path)
        if _behind_a_door(module, path)
    ]
    assert not past, "\n".join(past)


def test_no_import_is_relative() -> None:
    """A full name can be searched for; a relative one hides which room it enters."""
    relative = [
        f"{place(path)}:{node.lineno}"
        for path in python_files("src", "tests", "benchmarks")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and node.level > 0
    ]
    assert not relative, "\n".join(relative)


def test_there_is_one_driver() -> None:
    """The product talks to PostgreSQL through asyncpg alone, so that one pool and one set of errors is all there is."""
    others = [
        f"{place(path)}:{line} imports {module}"
        for path in python_files("src")
        for line, module in _imports(path)
        if module.split(".")[0] in _OTHER_DRIVERS
    ]
    assert not others, "\n".join(others)


def test_the_doors_hold_no_sql() -> None:
    """The command line is thin: it has no `sql/` folder and no store."""
    thick = [room.name for room in rooms() if room.name == "cli" and any((room / name).exists() for name in _DEPTHS)]
    assert not thick, "\n".join(thick)


def test_all_that_commands_print_goes_through_one_place() -> None:
    """`cli/output.py` shows what cannot be seen in a text; whoever wrote to a terminal past it would not."""
    folder = PACKAGE / "cli"
    past_it = re.compile(
        r"\bprint\(|(stdout|stderr)\.(write|writelines|buffer\.write)\(|\bConsole\(|\b(typer|click)\.(echo|secho)\("
    )
    found = [
        f"{file.name}: {line.strip()}"
        for file in sorted(folder.glob("*.py"))
        if file.name != "output.py"
        for line in file.read_text().splitlines()
        if past_it.search(line.replace("screen.print(", "").replace("_print(", ""))
    ]
    assert found == []
