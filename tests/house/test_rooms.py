"""Rooms have their shape, so that who knows one knows them all."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from tests.house.project import PACKAGE, place, python_files, rooms, tree

_FOLDERS = {"sql", "page", "tests", "__pycache__"}
_SQL_FOLDERS = {"migrations", "functions", "views", "triggers"}
_VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc", "core"}
_QUERY = re.compile(r"^-- name: (\w+)\n(?:-- .*\n)*?-- .*\.\n", re.MULTILINE)
_QUERY_NAME = re.compile(r"^-- name: (\w+)", re.MULTILINE)


def _room_names() -> list[str]:
    return [room.name for room in rooms()]


@pytest.mark.parametrize("room", _room_names())
def test_a_room_has_only_the_files_of_a_room(room: str) -> None:
    """A room is a flat folder of Python files, with `sql/`, `page/` and `tests/` beside them and nothing else."""
    folder = PACKAGE / room
    strangers = [
        path.name
        for path in folder.iterdir()
        if (path.is_dir() and path.name not in _FOLDERS) or (path.is_file() and path.suffix not in {".py", ".typed"})
    ]
    assert not strangers, f"{room} has what a room does not have: {strangers}"


@pytest.mark.parametrize("room", _room_names())
def test_the_sql_of_a_room_lies_where_the_migrator_looks(room: str) -> None:
    """`sql/` holds queries.sql and the folders the migrator knows; a file anywhere else would never be applied."""
    sql = PACKAGE / room / "sql"
    if not sql.exists():
        return
    allowed = {sql / "queries.sql"} | {path for folder in _SQL_FOLDERS for path in (sql / folder).glob("*.sql")}
    strangers = [place(path) for path in sql.rglob("*") if path.is_file() and path not in allowed]
    assert not strangers


@pytest.mark.parametrize("room", _room_names())
def test_a_room_begins_with_its_design_note(room: str) -> None:
    """The docstring of a room's `__init__` says what it owns and how it fails: at least a title and a paragraph."""
    note = ast.get_docstring(tree(PACKAGE / room / "__init__.py")) or ""
    assert len(note.split("\n\n")) >= 2, f"livewell.{room} has no design note"


@pytest.mark.parametrize("room", _room_names())
def test_what_a_room_offers_is_listed(room: str) -> None:
    """A room's `__init__` states what others may import as `__all__`, sorted, every name bound there."""
    module = tree(PACKAGE / room / "__init__.py")
    offered = _assigned_list(module, "__all__")
    bound = _bound_names(module)
    assert offered is not None, f"livewell.{room} does not say what others may import"
    assert [name for name in offered if name not in bound] == []


@pytest.mark.parametrize("room", _room_names())
def test_what_a_room_offers_can_be_had(room: str) -> None:
    """Every name a room offers is there when it is asked for, and none that it does not offer."""
    door = importlib.import_module(f"livewell.{room}")
    assert [name for name in door.__all__ if not hasattr(door, name)] == []
    assert not hasattr(door, "something_it_does_not_offer")


@pytest.mark.parametrize("room", _room_names())
def test_every_query_is_used_and_every_used_query_exists(room: str) -> None:
    """`sql/queries.sql` and the room's Python agree, so that no statement is dead and none is looked up in vain."""
    queries = PACKAGE / room / "sql" / "queries.sql"
    named = set(_QUERY_NAME.findall(queries.read_text(encoding="utf-8"))) if queries.exists() else set()
    used = {name for path in (PACKAGE / room).glob("*.py") for _, name in _lookups(path)}
    assert named == used


@pytest.mark.parametrize("room", _room_names())
def test_a_store_has_one_method_per_query(room: str) -> None:
    """In `store.py` a method bears the name of the one query it carries, and queries are used nowhere else."""
    store = PACKAGE / room / "store.py"
    if not store.exists():
        return
    assert [(function, query) for function, query in _lookups(store) if function.strip("_") != query] == []
    elsewhere = {path.name for path in (PACKAGE / room).glob("*.py") if path != store and _lookups(path)}
    assert elsewhere == set()


@pytest.mark.parametrize("room", _room_names())
def test_every_query_says_what_it_is_for(room: str) -> None:
    """Each named statement carries one sentence under its name."""
    queries = PACKAGE / room / "sql" / "queries.sql"
    text = queries.read_text(encoding="utf-8") if queries.exists() else ""
    assert set(_QUERY_NAME.findall(text)) == set(_QUERY.findall(text))


def test_no_file_has_a_name_that_says_nothing() -> None:
    """Files named for a concept; `utils` and its kin hide one that has no name yet."""
    vague = [place(path) for path in python_files("src", "tests", "benchmarks") if path.stem in _VAGUE]
    assert not vague, "\n".join(vague)


def test_every_test_states_its_rule() -> None:
    """Each test function has a docstring, and it is a sentence."""
    silent = [
        f"{place(path)}::{node.name}"
        for path in python_files("src", "tests")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and path.name.startswith("test_")
        and not (ast.get_docstring(node) or "").rstrip().endswith((".", "?", "!"))
    ]
    assert not silent, "\n".join(silent)


def _assigned_list(module: ast.Module, name: str) -> list[str] | None:
    for node in module.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            value = ast.literal_eval(node.value)
            return [str(item) for item in value]
    return None


def _bound_names(module: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in [*module.body, *_for_type_checkers(module)]:
        if isinstance(node, ast.ImportFrom | ast.Import):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def _for_type_checkers(module: ast.Module) -> list[ast.stmt]:
    """The body of `if TYPE_CHECKING:`, where a door says what is where."""
    blocks = (node for node in module.body if isinstance(node, ast.If))
    return [node for block in blocks if ast.unparse(block.test) == "TYPE_CHECKING" for node in block.body]


def _lookups(path: Path) -> list[tuple[str, str]]:
    """Queries looked up by name (`QUERIES["list_jobs"]`), each with the function that does it."""
    return [
        (function.name, str(ast.literal_eval(node.slice)))
        for function in ast.walk(tree(path))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript) and _is_query_lookup(node)
    ]


def _is_query_lookup(node: ast.Subscript) -> bool:
    return (
        isinstance(node.value, ast.Name)
        and node.value.id.strip("_").upper() in {"QUERIES", "SQL"}
        and isinstance(node.slice, ast.Constant)
    )


def _nothing(found: list[str]) -> None:
    assert not found, "\n".join(found)
