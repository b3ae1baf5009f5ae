"""Faults in the rows of an answer: well-formed JSON that is not what it should be."""

from collections.abc import Callable, Sequence
from typing import Any

from livewell.simulator.faults import Fault, FaultKind

Row = dict[str, Any]
Spoiler = Callable[[list[Row], Fault], list[Row]]

_STRANGER = "ZZZZ.X"
_UNTOUCHED = {"symbol"}


def spoiled_rows(rows: Sequence[Row], fault: Fault) -> list[Row]:
    """The rows with the fault in them; as they are when the fault is not one of rows."""
    spoil = _SPOILERS.get(fault.kind)
    return spoil(list(rows), fault) if spoil is not None and rows else list(rows)


def _each(change: Callable[[Row, str], Row]) -> Spoiler:
    return lambda rows, fault: [change(row, field_of(row, fault)) for row in rows]


def field_of(row: Row, fault: Fault) -> str:
    """The field the fault names, else the first number of the row that is no part of its key."""
    if fault.field is not None and fault.field in row:
        return fault.field
    named = [name for name in row if name not in {*_UNTOUCHED, "calendarYear"}]
    numbers = [name for name in named if isinstance(row[name], int | float) and not isinstance(row[name], bool)]
    return (numbers or named)[0]


def _renamed(row: Row, name: str) -> Row:
    return {(f"{key}Value" if key == name else key): value for key, value in row.items()}


def _without(row: Row, name: str) -> Row:
    return {key: value for key, value in row.items() if key != name}


def _retyped(row: Row, name: str) -> Row:
    value = row[name]
    return {**row, name: len(value) if isinstance(value, str) else str(value)}


def _last_is_bad(rows: list[Row], fault: Fault) -> list[Row]:
    return [*rows[:-1], _retyped(rows[-1], field_of(rows[-1], fault))]


def _without_last_key(rows: list[Row], _: Fault) -> list[Row]:
    last = rows[-1]["symbol"]
    return [row for row in rows if row["symbol"] != last]


_FIELD_SPOILERS: dict[FaultKind, Spoiler] = {
    FaultKind.RENAMED_FIELD: _each(_renamed),
    FaultKind.MISSING_FIELD: _each(_without),
    FaultKind.NULL_FIELD: _each(lambda row, name: {**row, name: None}),
    FaultKind.EXTRA_FIELD: _each(lambda row, _: {**row, "surprise": "new in version 4"}),
    FaultKind.WRONG_TYPE: _each(_retyped),
    FaultKind.ABSURD_VALUE: _each(lambda row, name: {**row, name: -1e300}),
}
_SPOILERS: dict[FaultKind, Spoiler] = {
    **_FIELD_SPOILERS,
    FaultKind.BAD_ROW: _last_is_bad,
    FaultKind.DUPLICATE_ROWS: lambda rows, _: [row for row in rows for _ in range(2)],
    FaultKind.OTHER_KEY: lambda rows, _: [*rows, {**rows[-1], "symbol": _STRANGER}],
    FaultKind.MISSING_KEY: _without_last_key,
}

FIELD_FAULTS = frozenset(_FIELD_SPOILERS)
ROW_FAULTS = frozenset(_SPOILERS) | {FaultKind.OLD_DATA}
