"""Lines of a TOML document: everything the parser finds is found, on the line where it stands."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.kernel.toml_lines import Path, lines_of

NAMES = st.one_of(
    st.text("abz09_-", min_size=1, max_size=4),
    st.text("ab .\"'\\#[]{}=,é\n\t", max_size=5),
)


class Writer:
    """Writes a document in which every scalar says the line it is on: the oracle is in the document itself."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self.text = ""

    @property
    def line(self) -> int:
        return self.text.count("\n") + 1

    def document(self) -> None:
        self._pairs("p")
        for number in range(self._draw(st.integers(0, 4))):
            self._noise()
            parts = [f"t{number}", *self._draw(st.lists(NAMES, max_size=2))]
            if self._draw(st.booleans()):
                self.text += f"[{self._key(parts)}]{self._tail()}"
                self._pairs("k")
                continue
            for _ in range(self._draw(st.integers(1, 3))):
                self.text += f"[[ {self._key(parts)} ]]{self._tail()}"
                self._pairs("k")
                self.text += f"[{self._key([*parts, 'below'])}]\n"
                self._pairs("b")

    def _pairs(self, prefix: str) -> None:
        for number in range(self._draw(st.integers(0, 4))):
            self._noise()
            self.text += f"{self._key([f'{prefix}{number}', *self._draw(st.lists(NAMES, max_size=2))])} = "
            self._value(depth=2, multiline=True)
            self.text += self._tail()

    def _key(self, parts: list[str]) -> str:
        return self._draw(st.sampled_from([".", " . "])).join(map(self._part, parts))

    def _part(self, name: str) -> str:
        if (
            name
            and all(char.isascii() and (char.isalnum() or char in "_-") for char in name)
            and self._draw(st.booleans())
        ):
            return name
        if self._draw(st.booleans()) and not set(name) & {"'", "\n"}:
            return f"'{name}'"
        escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        return f'"{escaped}"'

    def _value(self, *, depth: int, multiline: bool) -> None:
        forms = ["number", "basic", "literal", "long", "raw"] if multiline else ["number", "basic", "literal"]
        form = self._draw(st.sampled_from([*forms, *(["array", "table"] if depth else [])]))
        here = self.line
        match form:
            case "number":
                self.text += str(here)
            case "basic":
                self.text += f'"{here} \\" \\\\ # ] }} \'"'
            case "literal":
                self.text += f"'{here} \\ # \" ]'"
            case "long":
                self.text += f'"""{here} "" \\\\\n[no.table]\nk = 1 # " \\""""' + self._more('"')
            case "raw":
                self.text += f"'''{here} ''\n[[no.array]]\n\\'''" + self._more("'")
            case "array":
                self._array(depth - 1, multiline=multiline)
            case "table":
                self._inline(depth - 1)

    def _array(self, depth: int, *, multiline: bool) -> None:
        gap = self._draw(st.sampled_from(["", " ", "\n", " # ]\n  "])) if multiline else ""
        self.text += f"[{gap}"
        for _ in range(self._draw(st.integers(0, 3))):
            self._value(depth=depth, multiline=multiline)
            self.text += f"{gap},{gap}"
        self.text += "]"

    def _inline(self, depth: int) -> None:
        self.text += "{ "
        for number in range(self._draw(st.integers(0, 3))):
            self.text += (
                f"{', ' if number else ''}{self._key([f'i{number}', *self._draw(st.lists(NAMES, max_size=1))])}= "
            )
            self._value(depth=depth, multiline=False)
        self.text += " }"

    def _more(self, quote: str) -> str:
        """A long string may end with quotes of its own before those that close it."""
        return quote * self._draw(st.integers(0, 2))

    def _noise(self) -> None:
        self.text += self._draw(st.sampled_from(["", "\n", "# [x]\n", "  \t\n", "\t"]))

    def _tail(self) -> str:
        return self._draw(st.sampled_from(["\n", " # a = 1\n", "\n\n"]))


@st.composite
def documents(draw: st.DrawFn) -> str:
    writer = Writer(draw)
    writer.document()
    return writer.text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def _scalars(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    match value:
        case dict():
            for key, below in value.items():
                yield from _scalars(below, (*path, key))
        case list():
            for number, below in enumerate(value):
                yield from _scalars(below, (*path, number))
        case _:
            yield path, value


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield (*path, key)
        yield from _paths(below, (*path, key))


@given(documents())
def test_everything_is_found_on_its_line(text: str) -> None:
    """What the parser finds is found, nothing else is, and each scalar stands on the line that it names."""
    document = tomllib.loads(text)
    lines = lines_of(text)
    assert set(lines) == set(_paths(document))
    for path, value in _scalars(document):
        said = value if isinstance(value, int) else int(value.split()[0])
        assert lines[path] == said, (path, text)


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("[a.b]\nx = 1\n\n[a]\ny = 2\n", ("a",), 4),
        ("[a.b]\nx = 1\n", ("a",), 1),
        ("a.b.c = 1\na.b.d = 2\n", ("a", "b"), 1),
        ('[provider."x y".endpoint.z]\nrequests = {\tper_minute = 1 }\n', ("provider", "x y", "endpoint", "z"), 1),
        ("[[a]]\nx = 1\n[[a]]\nx = 2\n[a.b]\nc = 3\n", ("a", 1, "b", "c"), 6),
        ("t = 1979-05-27 07:32:00 # date\nu = 2\n", ("u",), 2),
    ],
)
def test_a_table_stands_where_its_header_is(text: str, path: Path, line: int) -> None:
    """A header of its own wins over being named on the way to another."""
    assert lines_of(text)[path] == line
