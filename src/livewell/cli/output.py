"""Showing answers: tables and lines for people, one JSON document for machines, progress on standard error.

All that is printed goes through here, and what providers and users wrote goes through `shown_text`: it cannot colour,
move or turn round anything, nor pass for a line of ours.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import cache
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, TypeVar
from unicodedata import east_asian_width

from livewell.kernel import shown_decimal, shown_duration, shown_share, shown_size, shown_text

if TYPE_CHECKING:
    from rich.console import Console

# A pipe has no width; cutting what a script reads would be worse than a long line.
_PIPE_WIDTH = 1000
T = TypeVar("T")

_NOTHING = "–"
_SHARES = ("_share", "_use")


def say(line: str) -> None:
    sys.stdout.write(f"{shown_text(line, lines=True)}\n")


def note(line: str) -> None:
    """Something beside the answer."""
    sys.stderr.write(f"{shown_text(line, lines=True)}\n")


def alarm(line: str) -> None:
    """Something beside the answer that must not be overlooked."""
    from rich.text import Text

    console(stderr=True).print(Text(f"MISSING: {line}", style="bold red"), soft_wrap=True)


def show_json(value: Any) -> None:
    """Print dataclasses, rows and lists as one document."""
    from pydantic_core import to_json

    say(to_json(value, indent=2).decode())


def show_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows under their columns; figures to the right."""
    rows = list(rows)
    right = [_are_figures([row[number] for row in rows]) for number in range(len(columns))]
    _print(columns, [[shown(value) for value in row] for row in rows], right)


def show_list(things: Sequence[T], columns: Sequence[str], row: Callable[[T], Sequence[Any]], *, as_json: bool) -> None:
    """Print things of one sort: each as a row of a table, or all as one document."""
    if as_json:
        show_json(things)
    else:
        show_table(columns, [row(thing) for thing in things])


def show_one(thing: Any, *, as_json: bool) -> None:
    """Print one dataclass: a line per field, or a document."""
    if as_json:
        show_json(thing)
    else:
        show_record(asdict(thing))


def show_record(record: Mapping[str, Any]) -> None:
    """Print one thing, a line per field; what is not set is left out."""
    rows = [[name, shown_field(name, value)] for name, value in record.items() if value is not None]
    _print(None, rows, [False, False])


def _print(columns: Sequence[str] | None, rows: Sequence[Sequence[str]], right: Sequence[bool]) -> None:
    """Lines of columns; where a terminal is too narrow for them, a table that folds what is long."""
    lines = _lines([columns, *rows] if columns else rows, right)
    wide = max((_cells(line) for line in lines), default=0)
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        sys.stdout.writelines(f"{line}\n" for line in lines)
    elif wide > get_terminal_size().columns or any("\n" in cell for row in rows for cell in row):
        _print_folded(columns, rows, right)
    else:
        bold = sys.stdout.isatty() and columns is not None
        sys.stdout.writelines(
            f"\x1b[1m{line}\x1b[0m\n" if bold and number == 0 else f"{line}\n" for number, line in enumerate(lines)
        )


def _lines(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> list[str]:
    widths = [max((_cells(row[number]) for row in rows), default=0) for number in range(len(right))]
    return [
        "  ".join(
            f"{' ' * (width - _cells(cell))}{cell}" if to_the_right else f"{cell}{' ' * (width - _cells(cell))}"
            for cell, width, to_the_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in rows
    ]


def _cells(text: str) -> int:
    """How many places a text takes on a terminal; most text takes one for each character."""
    return len(text) if text.isascii() else sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _print_folded(columns: Sequence[str] | None, rows: Sequence[Sequence[str]], right: Sequence[bool]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=columns is not None, header_style="bold", padding=(0, 2, 0, 0))
    for number, column in enumerate(columns or [""] * len(right)):
        # The first column names the row: cut in two it could not be copied.
        table.add_column(column, overflow="fold", no_wrap=number == 0, justify="right" if right[number] else "left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


def _are_figures(values: Sequence[Any]) -> bool:
    given = [value for value in values if value is not None]
    return bool(given) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in given)


def console(*, stderr: bool = False) -> "Console":
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    return _plain_console()(file=stream, width=width, highlight=False, markup=False, emoji=False)


@cache
def _plain_console() -> "type[Console]":
    """Rich's console, but control characters in a text are shown, not done."""
    from rich.console import Console
    from rich.segment import Segment

    class PlainConsole(Console):
        def render(self, renderable: Any, options: Any = None) -> "Iterator[Segment]":
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(shown_text(segment.text, lines=True), segment.style)

    return PlainConsole


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error where somebody watches; the callable takes how much is done, of how much."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    err = console(stderr=True)
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def shown(value: Any) -> str:
    """A value as people read it."""
    match value:
        case None:
            return _NOTHING
        case bool():
            return "yes" if value else "no"
        case datetime():
            return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"
        case timedelta():
            return shown_duration(value)
        case float():
            return shown_decimal(value)
        case list() | tuple() | set() | frozenset():
            return ", ".join(shown(part) for part in value) or _NOTHING
        case dict():
            return shown_text(shown_json(value))
        case _:
            return shown_text(str(value))


def given(value: T | None, show: Callable[[T], str]) -> str | None:
    """What is there as `show` shows it."""
    return None if value is None else show(value)


def shown_field(name: str, value: Any) -> str:
    """A value as people read it under its name, which says what a bare number is."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and name.endswith("bytes"):
        return shown_size(value)
    if number and name.endswith(_SHARES):
        return shown_share(value)
    return shown(value)


def shown_json(value: Any) -> str:
    from pydantic_core import to_json

    return to_json(value).decode()


def counted(number: int, thing: str, things: str | None = None) -> str:
    """`1 job`, `2 jobs`."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"
