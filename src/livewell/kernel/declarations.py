"""`livewell.toml`: what a person declares in a file, read and judged whole before anything is done.

A room offers the tables it takes as a `Section`: `[word.name]`, the model of one such table, and what plans and applies
them. This module knows no section by name. Every problem of a file is found in one reading, each with its line, in the
words of the room it belongs to.
"""

import re
import tomllib
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Protocol, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from livewell.kernel.connection import Connection
from livewell.kernel.database import Caller
from livewell.kernel.errors import LivewellError
from livewell.kernel.planned_change import PlannedChange
from livewell.kernel.toml_lines import Path, lines_of

_PLACE = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")
_WORDS = {"model_type": "should be a table", "dict_type": "should be a table", "missing": "is missing"}


class TomlSyntax(LivewellError):
    """A file of declarations is not TOML."""

    code = "kernel.toml_syntax"


class UnknownSection(LivewellError):
    """A file of declarations has a section that no room takes."""

    code = "kernel.unknown_section"


class DeclarationsRefused(LivewellError):
    """A file of declarations has problems, each told with its line; nothing was applied."""

    code = "kernel.declarations_refused"

    def __init__(self, file: str, problems: Sequence["Problem"]) -> None:
        what = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
        super().__init__(f"{file} has {what}", detail="\n".join(map(str, problems)))
        self.problems = tuple(problems)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something wrong in a file: where, and the fact."""

    file: str
    line: int
    path: Path
    fact: LivewellError

    def __str__(self) -> str:
        where = f"{dotted(self.path)}: " if self.path else ""
        return f"{self.file}:{self.line}: {where}{self.fact}"


class Tables(Protocol):
    """The tables `[word.name]` of a file, as the room that takes them reads them."""

    @property
    def word(self) -> str:
        """The first word of its tables."""

    @property
    def model(self) -> type[BaseModel]:
        """One table; with `extra="forbid"`, so that what is misspelt is found."""

    @property
    def by_name(self) -> TypeAdapter[dict[str, Any]]:
        """All its tables by name."""

    @property
    def unknown_field(self) -> type[LivewellError]:
        """The room's fact for a field its tables do not have."""

    @property
    def invalid_field(self) -> type[LivewellError]:
        """The room's fact for a field that cannot be so."""


class Section(Tables, Protocol):
    """Tables of a file that are applied to the database."""

    async def apply(
        self, connection: "Connection", declared: Mapping[str, Any], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        """Make everything as declared, or only say what that would change; in the transaction of the connection."""

    async def undeclared(self, caller: "Caller | Connection", declared: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The things, with their names, that are there and not declared; they are left alone."""

    def summary(self, change: PlannedChange) -> str:
        """What is said of a thing that is added, beside its name."""

    def told_of(self, fact: LivewellError) -> "Sequence[tuple[Path, LivewellError]]":
        """The tables a refusal is about, each with its own part of it; none when the refusal does not say."""


@dataclass(frozen=True, kw_only=True)
class Declarations:
    """A file that was read without a problem: its tables by section and name, and where each stands."""

    file: str
    sections: Mapping[str, Mapping[str, Any]]
    lines: Mapping[Path, int]

    def problem(self, path: Path, fact: LivewellError) -> Problem:
        """A fact that turned out later, told at its line."""
        return Problem(file=self.file, line=_line(self.lines, path), path=path, fact=fact)


def told_at(path: Path | None, fact: LivewellError) -> list[tuple[Path, LivewellError]]:
    """A refusal that is about one table, in the words that are left when its place is known."""
    if path is None:
        return []
    return [(path, type(fact)(fact.message.removeprefix(f"{fact.detail}: "), fix=fact.fix))]


def read_declarations(content: bytes, file: str, sections: Sequence[Tables]) -> Declarations:
    """Read a file of declarations; DeclarationsRefused has all its problems."""
    document, lines = _parsed(content, file)
    by_word = {section.word: section for section in sections}
    declared: dict[str, Mapping[str, Any]] = {}
    problems: list[Problem] = []
    for word, tables in document.items():
        section = by_word.get(word)
        if section is None:
            unknown = UnknownSection(f'unknown section "{word}"', fix=_meant(word, by_word))
            problems.append(Problem(file=file, line=_line(lines, (word,)), path=(), fact=unknown))
            continue
        try:
            declared[word] = section.by_name.validate_python(tables)
        except ValidationError as error:
            for path, table, fact in _facts(section, error):
                problems.append(Problem(file=file, line=_line(lines, path), path=table, fact=fact))
    if problems:
        raise DeclarationsRefused(file, sorted(problems, key=lambda problem: problem.line))
    return Declarations(file=file, sections=declared, lines=lines)


def dotted(path: Path) -> str:
    """A path as TOML writes it; a part that is no bare key is quoted."""
    return ".".join(part if re.fullmatch(r"[\w-]+", part) else f'"{part}"' for part in map(str, path))


def _parsed(content: bytes, file: str) -> tuple[dict[str, Any], dict[Path, int]]:
    try:
        text = content.decode()
        return tomllib.loads(text), lines_of(text)
    except UnicodeDecodeError as error:
        line, reason = content.count(b"\n", 0, error.start) + 1, "not UTF-8"
    except RecursionError:
        line, reason = 1, "nested too deeply"
    except tomllib.TOMLDecodeError as error:
        line, reason = _place(str(error), content)
    problem = Problem(file=file, line=line, path=(), fact=TomlSyntax(reason))
    raise DeclarationsRefused(file, [problem])


def _place(message: str, content: bytes) -> tuple[int, str]:
    match = _PLACE.search(message)
    reason = message[: match.start()] if match else message
    last = max(1, len(content.splitlines()))
    return (int(match["line"]) if match and match["line"] else last), f"{reason[:1].lower()}{reason[1:]}"


def _facts(section: Tables, error: ValidationError) -> Iterator[tuple[Path, Path, LivewellError]]:
    """Each problem with its path, and the path of the table it is told of."""
    for found in error.errors(include_url=False):
        path = (section.word, *(part for part in found["loc"] if part != "[key]"))
        name = str(path[-1])
        if found["type"] == "extra_forbidden":
            known = _fields(section.model, path[2:-1])
            yield path, path[:-1], section.unknown_field(f'unknown field "{name}"', fix=_meant(name, known))
        elif found["type"] == "value_error" and isinstance(found["input"], dict):
            yield path, path, section.invalid_field(_words(found))
        else:
            yield path, path[:-1], section.invalid_field(_told(name, found))


def _told(field: str, found: ErrorDetails) -> str:
    words = _words(found)
    # Text is never repeated: somebody may have put a key where its place belongs.
    got = f", not {found['input']}" if isinstance(found["input"], int | float) else ""
    return f"{field} {words}{got}" if words.startswith(("should", "is missing")) else f"{field}: {words}"


def _words(found: ErrorDetails) -> str:
    words = _WORDS.get(found["type"]) or found["msg"].removeprefix("Value error, ")
    return re.sub(r"^Input should", "should", words)


def _meant(word: str, known: Sequence[str] | Mapping[str, object]) -> str:
    near = get_close_matches(word, list(known), n=1)
    return f'did you mean "{near[0]}"?' if near else f"one of {', '.join(known)}"


def _fields(model: type[BaseModel], path: Path) -> list[str]:
    """The fields of the model found by following a path from another."""
    here: Any = model
    for part in path:
        here = _plain(get_args(here)[1] if get_origin(here) is dict else here.model_fields[part].annotation)
    return [field.alias or name for name, field in here.model_fields.items()]


def _plain(annotation: Any) -> Any:
    """A type without what wraps it."""
    while get_origin(annotation) in {Annotated, Union, types.UnionType}:
        annotation = next(option for option in get_args(annotation) if option is not type(None))
    return annotation


def _line(lines: Mapping[Path, int], path: Path) -> int:
    """The line of a path, or of what is around it: a missing field stands nowhere itself."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)
