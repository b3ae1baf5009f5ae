"""docs/coverage.md tells the truth: every capability has a row, and what a row names exists."""

import ast
import re
from dataclasses import dataclass

import pytest

from tests.house.project import DOCS, ROOT, tree

_STATES = {"built", "partly", "not built"}
_GROUPS = {"R": 9, "S": 7, "C": 7, "J": 11, "P": 6, "F": 8, "B": 8, "T": 8, "X": 6, "I": 1, "D": 5, "U": 2}
_GROUPS |= {"A": 1, "K": 1, "Z": 1, "O": 5, "G": 3, "E": 4}
IDS = [f"{group}{number}" for group, count in _GROUPS.items() for number in range(1, count + 1)]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One capability as the page states it."""

    id: str
    state: str
    files: str
    tests: str


def _rows() -> list[Row]:
    text = (DOCS / "coverage.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| ([A-Z]\d{1,2}) \|[^|]*\| ([^|]*) \|([^|]*)\|([^|]*)\|$", text, re.MULTILINE)
    return [Row(id=row[0], state=row[1].strip(), files=row[2], tests=row[3]) for row in found]


def _by_id(row: Row) -> str:
    return row.id


def test_every_capability_has_exactly_one_row() -> None:
    """The page has a row for each id of the requirements, and none twice."""
    assert sorted(row.id for row in _rows()) == sorted(IDS)


def test_what_is_partly_built_says_what_is_missing() -> None:
    """Each row in the state `partly` is explained, and no other."""
    text = (DOCS / "coverage.md").read_text(encoding="utf-8").partition("## What is partly built")[2]
    explained = re.findall(r"^\| ([A-Z]\d{1,2}) \|[^|]+\|[^|]+\|$", text, re.MULTILINE)
    assert sorted(explained) == sorted(row.id for row in _rows() if row.state == "partly")


@pytest.mark.parametrize("row", _rows(), ids=_by_id)
def test_a_row_has_a_state_and_what_it_claims_exists(row: Row) -> None:
    """A built row names files and tests that exist; a row not built names neither."""
    assert row.state in _STATES
    files, tests = re.findall(r"`([^`]+)`", row.files), re.findall(r"`([^`]+)`", row.tests)
    assert [name for name in files if not (ROOT / name).exists()] == []
    assert [name for name in tests if not _test_exists(name)] == []
    assert bool(files and tests) == (row.state != "not built"), "a row is covered by a file and a test, or not covered"


def _test_exists(name: str) -> bool:
    path, _, function = name.partition("::")
    if not (ROOT / path).is_file():
        return False
    defined = {
        node.name
        for node in ast.walk(tree(ROOT / path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    return not function or function in defined
