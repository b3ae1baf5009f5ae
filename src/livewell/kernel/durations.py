"""Lengths of time as people write them, the same on the command line, in files and in declarations."""

import re
from datetime import timedelta

_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_WORDS = {
    **{unit: unit for unit in _UNITS},
    "millisecond": "ms",
    "sec": "s",
    "second": "s",
    "min": "m",
    "minute": "m",
    "hour": "h",
    "day": "d",
    "week": "w",
}
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*,?")

HOW_TO_WRITE = "write 500ms, 90s, 10m, 1h30m or 2d"


def parse_duration(text: str) -> timedelta:
    """90s, 10m, 1h30m, 2d, 10 minutes; a `ValueError` for anything else, a bare number included."""
    total, end = timedelta(), 0
    try:
        for part in _PART.finditer(text.lower()):
            if part.start() != end:
                break
            total += float(part[1]) * _UNITS[_unit(part[2])]
            end = part.end()
    except (KeyError, OverflowError):
        end = 0
    if not end or text[end:].strip():
        raise ValueError(f"{text!r} is not a duration; {HOW_TO_WRITE}")
    return total


def _unit(word: str) -> str:
    return _WORDS[word] if word in _WORDS else _WORDS[word.removesuffix("s")]
