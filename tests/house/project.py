"""What the house rules look at: the rooms, the tracked files, the SQL files, the pages."""

import ast
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "livewell"
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


@cache
def rooms() -> tuple[Path, ...]:
    """The folder of every room, the shared test room included."""
    return tuple(sorted(path.parent for path in PACKAGE.glob("*/__init__.py")))


@cache
def tracked() -> tuple[Path, ...]:
    """Every file that is, or is about to be, part of the project."""
    return tuple(path for path in sorted(_listed_by_git() or _found_in_tree()) if path.is_file())


def _listed_by_git() -> set[Path]:
    """What git knows or would add; nothing where there is no git, or no repository."""
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return set()
    return {ROOT / name for name in listed.split("\0") if name}


def _found_in_tree() -> set[Path]:
    """Every file outside the folders that .gitignore names."""
    ignored = {".git"} | {
        line.strip().strip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    }
    return {path for path in ROOT.rglob("*") if not ignored & set(path.relative_to(ROOT).parts)}


def python_files(*folders: str) -> list[Path]:
    wanted = tuple(str(ROOT / folder) for folder in folders)
    return [path for path in tracked() if path.suffix == ".py" and str(path).startswith(wanted)]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def place(path: Path) -> str:
    """A path as people write it: from the project's root."""
    return path.relative_to(ROOT).as_posix()


def without_comments(sql: str) -> str:
    return _COMMENT.sub("", sql)


@dataclass(frozen=True, kw_only=True)
class SqlFunction:
    """One function file: its header, and the statement that makes it."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def header(self) -> list[str]:
        """The comment lines before the statement."""
        lines = self.text.splitlines()
        end = next((n for n, line in enumerate(lines) if not line.startswith("--")), len(lines))
        return [line.removeprefix("--").strip() for line in lines[:end]]

    @property
    def audience(self) -> frozenset[str]:
        """The roles its `for:` line names."""
        named = [line.removeprefix("for:") for line in self.header if line.startswith("for:")]
        return frozenset(role.strip() for role in ",".join(named).split(",") if role.strip())

    @property
    def owner(self) -> str:
        """The role it belongs to; one that touches what is not Livewell's says which."""
        named = [line.removeprefix("runs as:").strip() for line in self.header if line.startswith("runs as:")]
        return named[0] if named else "livewell_owner"

    @property
    def is_foreign(self) -> bool:
        return self.owner != "livewell_owner"

    @property
    def statement(self) -> str:
        return without_comments(self.text)

    @property
    def calls(self) -> frozenset[str]:
        """Names in our schema that the body mentions as calls."""
        return frozenset(re.findall(r"livewell(?:_private)?\.(\w+)\s*\(", self.statement)) - {self.name}


@cache
def sql_functions() -> tuple[SqlFunction, ...]:
    files = sorted(PACKAGE.glob("*/sql/functions/*.sql"))
    return tuple(SqlFunction(path=path, text=path.read_text(encoding="utf-8")) for path in files)


@cache
def migrations() -> tuple[Path, ...]:
    return tuple(sorted(PACKAGE.glob("*/sql/migrations/*.sql"), key=lambda path: path.name))


def pages() -> Iterator[Path]:
    """Every page of the manual, and those at the root."""
    yield from sorted(DOCS.rglob("*.md"))
    yield from sorted(ROOT.glob("*.md"))
