"""Showing answers: tables and lines for people, one JSON document for machines, progress on standard error."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# A pipe has no width; cutting what a script reads would be worse than a long line.
_PIPE_WIDTH = 1000
_NOTHING = "–"


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def note(line: str) -> None:
    """Something beside the answer."""
    sys.stderr.write(f"{line}\n")


def show_json(value: Any) -> None:
    """Print dataclasses, rows and lists as one document."""
    from pydantic_core import to_json

    say(to_json(value, indent=2).decode())


def show_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows under their columns; figures to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    rows = list(rows)
    for number, column in enumerate(columns):
        figures = _are_figures([row[number] for row in rows])
        # The first column names the row: cut in two it could not be copied.
        table.add_column(column, overflow="fold", no_wrap=number == 0, justify="right" if figures else "left")
    for row in rows:
        table.add_row(*(Text(shown(value)) for value in row))
    _print(table)


def show_record(record: Mapping[str, Any]) -> None:
    """Print one thing, a line per field; what is not set is left out."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in record.items():
        if value is not None:
            table.add_row(name, Text(shown(value)))
    _print(table)


def _print(table: "Table") -> None:
    """A terminal gets the table as it is; lines for a pipe end where their text ends."""
    screen = console()
    if screen.is_terminal:
        screen.print(table)
        return
    with screen.capture() as captured:
        screen.print(table)
    for line in captured.get().splitlines():
        say(line.rstrip())


def _are_figures(values: Sequence[Any]) -> bool:
    given = [value for value in values if value is not None]
    return bool(given) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in given)


def console(*, stderr: bool = False) -> "Console":
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    return Console(file=stream, width=width, highlight=False)


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
            return f"{value:g}"
        case list() | tuple() | set() | frozenset():
            return ", ".join(shown(one) for one in value) or _NOTHING
        case dict():
            return shown_json(value)
        case _:
            return str(value)


def shown_json(value: Any) -> str:
    from pydantic_core import to_json

    return to_json(value).decode()


def shown_duration(value: timedelta) -> str:
    """A duration as the command line takes it: 1h30m."""
    left = abs(value)
    text = ""
    for unit, length in (("d", timedelta(days=1)), ("h", timedelta(hours=1)), ("m", timedelta(minutes=1))):
        count, left = divmod(left, length)
        text += f"{count}{unit}" if count else ""
    if left or not text:
        text += f"{left.total_seconds():g}s"
    return f"-{text}" if value < timedelta() else text


def shown_bytes(size: int | None) -> str | None:
    """A size in the largest unit that leaves a figure before the point."""
    if size is None:
        return None
    left, units = float(size), ["B", "kB", "MB", "GB", "TB"]
    while left >= 1024 and len(units) > 1:  # noqa: PLR2004 - as sizes are read
        left, units = left / 1024, units[1:]
    return f"{left:.4g} {units[0]}"


def counted(number: int, thing: str, things: str | None = None) -> str:
    """`1 job`, `2 jobs`."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"
