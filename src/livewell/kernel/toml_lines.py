"""On which line of a TOML document each table, key and array element stands.

The standard library's parser says what a document holds, not where. This finder walks a document that parser has
accepted, so it need not judge it: it only follows keys, and steps over values.
"""

import re
import tomllib
from bisect import bisect_right
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]+")
_STRINGS = (
    re.compile(r'"""(?:\\.|[^\\])*?""""{0,2}', re.DOTALL),
    re.compile(r"'''.*?''''{0,2}", re.DOTALL),
    re.compile(r'"(?:\\.|[^"\\])*"'),
    re.compile(r"'[^']*'"),
)


def lines_of(text: str) -> dict[Path, int]:
    """The line of everything in a valid document, by its path; a table's is that of its own header if it has one."""
    finder = _Finder(text.replace("\r\n", "\n"))
    finder.document()
    return finder.lines


class _Finder:
    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self._text = text
        self._at = 0
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._lengths: dict[Path, int] = {}

    def document(self) -> None:
        table: Path = ()
        self._skip(_BLANK)
        while self._at < len(self._text):
            if self._text.startswith("[[", self._at):
                table = self._array_header()
            elif self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK)

    def _header(self) -> Path:
        line = self._line()
        self._at += 1
        path = self._resolved(self._key())
        self._at += 1
        self._mention(path, line)
        self.lines[path] = line
        return path

    def _array_header(self) -> Path:
        line = self._line()
        self._at += 2
        *parents, last = self._key()
        self._at += 2
        array = (*self._resolved(tuple(parents)), last)
        number = self._lengths.get(array, 0)
        self._lengths[array] = number + 1
        self._mention((*array, number), line)
        return (*array, number)

    def _resolved(self, key: tuple[str, ...]) -> Path:
        """A header below an array of tables means the newest table of that array."""
        path: Path = ()
        for part in key:
            path = (*path, part)
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
        return path

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = (*table, *self._key())
        self._at += 1
        self._skip(_SPACE)
        self._mention(path, line)
        self._value(path)

    def _key(self) -> tuple[str, ...]:
        """A dotted key, up to what follows it."""
        parts: list[str] = []
        while True:
            self._skip(_SPACE)
            if self._text[self._at] in "\"'":
                raw = self._string()
                parts.append(str(tomllib.loads(f"key = {raw}")["key"]))
            else:
                parts.append(self._take(_BARE_KEY))
            self._skip(_SPACE)
            if self._text[self._at] != ".":
                return tuple(parts)
            self._at += 1

    def _value(self, path: Path) -> None:
        match self._text[self._at]:
            case "[":
                self._array(path)
            case "{":
                self._inline_table(path)
            case '"' | "'":
                self._string()
            case _:
                self._take(_SCALAR)

    def _array(self, path: Path) -> None:
        self._at += 1
        number = 0
        while self._next() != "]":
            self._mention((*path, number), self._line())
            self._value((*path, number))
            number += 1
            self._step_over_comma()
        self._at += 1

    def _inline_table(self, path: Path) -> None:
        self._at += 1
        while self._next() != "}":
            self._pair(path)
            self._step_over_comma()
        self._at += 1

    def _next(self) -> str:
        self._skip(_BLANK)
        return self._text[self._at]

    def _step_over_comma(self) -> None:
        if self._next() == ",":
            self._at += 1

    def _string(self) -> str:
        for form in _STRINGS:
            if match := form.match(self._text, self._at):
                self._at = match.end()
                return match[0]
        raise ValueError(f"no string on line {self._line()}")

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise ValueError(f"nothing to read on line {self._line()}")
        self._at = match.end()
        return match[0]

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _mention(self, path: Path, line: int) -> None:
        """Where a path, and every table it passes through, is named first."""
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)

    def _line(self) -> int:
        return bisect_right(self._starts, self._at)
