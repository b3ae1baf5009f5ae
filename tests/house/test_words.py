"""Words: the glossary has names of the product; nothing names a machine or a workplace, or is left to be done later."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from livewell.kernel import Database
from tests.house.project import REFERENCE, ROOT, pages, place, python_files, tracked, tree

_TEXT = {".py", ".sql", ".md", ".toml", ".yml", ".json", ".txt", ".sh", ".html", ".css", ".js", ".ts", ""}
_NAMED = re.compile(r"`((?:src|tests|docs|benchmarks|schema|requirements)/[\w./-]+)(?:::\w+)?`")
_UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")
_MACHINE = re.compile(r"/(?:ro" + r"ot|wo" + r"rk|ho" + r"me)/[\w.]|/Us" + r"ers/\w|C:\\\\Us" + r"ers")
_INDEX = re.compile(
    r"https?://[^\s/]*(?:py" + r"pi|artif" + r"actory|nex" + r"us|dev" + r"pi|npm" + r"js)[^\s/]*", re.IGNORECASE
)
_WORD = re.compile(r"^\| \*\*([^*]+)\*\* \| .+ \| `([\w.]+)` \|$", re.MULTILINE)
_IN_SQL = """
select array_agg(c.relname) || array_agg(c.relname || '.' || a.attname) as names
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
 where c.relnamespace::regnamespace::text like 'livewell%' and c.relkind in ('r', 'p', 'v', 'c')
 union all
select array_agg(p.proname) from pg_proc p where p.pronamespace::regnamespace::text like 'livewell%'
 union all
select array_agg(r.rolname) from pg_roles r where r.rolname like 'livewell%'
"""


def _found(pattern: re.Pattern[str], *, besides: frozenset[str] = frozenset()) -> list[str]:
    return [
        f"{place(path)}:{number}: {line.strip()[:100]}"
        for path in _texts()
        if place(path) not in besides
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]


def _texts() -> list[Path]:
    return [path for path in tracked() if path.suffix in _TEXT and path.is_relative_to(ROOT)]


def test_nothing_is_left_for_later() -> None:
    """What is unfinished is an issue or a row of coverage.md, not a mark in the code."""
    _nothing(_found(_UNFINISHED))


def test_no_file_names_a_folder_of_one_machine() -> None:
    """A home folder in a file is a command that works for one person."""
    _nothing(_found(_MACHINE))


def test_no_file_names_a_package_index() -> None:
    """Where packages come from is the installer's configuration, never the project's."""
    _nothing(_found(_INDEX))


def test_every_file_a_page_names_exists() -> None:
    """A page that points to a file that was moved sends its reader nowhere."""
    lost = [
        f"{place(page)}: {name}"
        for page in pages()
        for name in _NAMED.findall(page.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
    ]
    _nothing(lost)


async def test_a_word_of_the_glossary_is_a_name_of_the_product(owner: Database) -> None:
    """What a word is said to live in is there, and is named by it: a glossary of words nobody uses would mislead."""
    there = {name for row in await owner.fetch(_IN_SQL) for name in row["names"]}
    there |= {name for path in python_files("src") if "tests" not in path.parts for name in _names(tree(path))}
    words = _WORD.findall((REFERENCE / "glossary.md").read_text(encoding="utf-8"))
    assert len({word for word, _ in words}) == len(words) > 70
    assert {lives_in for _, lives_in in words} <= there
    assert [(word, lives_in) for word, lives_in in words if not _is_named_by(word, lives_in)] == []


def test_a_loop_names_what_it_goes_through() -> None:
    """`for job in jobs`, not `for one in jobs`: who reads the middle of a loop need not look for its beginning."""
    loops = (ast.For, ast.AsyncFor, ast.comprehension)
    unnamed = [
        place(path)
        for path in python_files("src", "tests", "benchmarks")
        for node in ast.walk(tree(path))
        if isinstance(node, loops)
        and any(isinstance(part, ast.Name) and part.id == "one" for part in ast.walk(node.target))
    ]
    _nothing(unnamed)


def _names(node: ast.AST, within: str = "") -> Iterator[str]:
    """Functions, classes and assigned names of a module, and the parts of its classes as `Class.part`."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.ClassDef):
            yield part.name
            yield from _names(part, f"{part.name}.")
        elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{within}{part.name}"
        elif isinstance(part, ast.Assign | ast.AnnAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            yield from (f"{within}{target.id}" for target in targets if isinstance(target, ast.Name))


def _is_named_by(word: str, lives_in: str) -> bool:
    """`dead letter` lives in `Dead`, `waiting for` in `job.waiting_for`: some word of it is in the name."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", lives_in).lower()
    return any(part in name for part in word.lower().split() if part not in {"the", "for"})


def _nothing(found: list[str]) -> None:
    assert not found, "\n".join(found)
