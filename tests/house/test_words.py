"""What is written here stands for itself: no machine, no address of a workplace, nothing left for later."""

import re
from pathlib import Path

from tests.house.project import ROOT, pages, place, tracked

_TEXT = {".py", ".sql", ".md", ".toml", ".yml", ".json", ".txt", ".sh", ".html", ".css", ".js", ".ts", ""}
_NAMED = re.compile(r"`((?:src|tests|docs|benchmarks|schema|requirements)/[\w./-]+)(?:::\w+)?`")
_UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")
_MACHINE = re.compile(r"/(?:ro" + r"ot|wo" + r"rk|ho" + r"me)/[\w.]|/Us" + r"ers/\w|C:\\\\Us" + r"ers")
_INDEX = re.compile(
    r"https?://[^\s/]*(?:py" + r"pi|artif" + r"actory|nex" + r"us|dev" + r"pi|npm" + r"js)[^\s/]*", re.IGNORECASE
)


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


def _nothing(found: list[str]) -> None:
    assert not found, "\n".join(found)
