"""Reading what people write, in a file or on the command line: lengths of time, sizes, names.

What cannot be read is a ValueError whose text says what would be right.
"""

import re
from collections.abc import Iterable
from datetime import timedelta
from difflib import get_close_matches

_UNITS = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), timedelta(milliseconds=1)),
    **dict.fromkeys(("s", "sec", "second", "seconds"), timedelta(seconds=1)),
    **dict.fromkeys(("m", "min", "minute", "minutes"), timedelta(minutes=1)),
    **dict.fromkeys(("h", "hour", "hours"), timedelta(hours=1)),
    **dict.fromkeys(("d", "day", "days"), timedelta(days=1)),
    **dict.fromkeys(("w", "week", "weeks"), timedelta(weeks=1)),
}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)\s*")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)i?b", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def duration_of(text: str) -> timedelta:
    """A length of time as people write it: 90s, 10m, 1h30m, 30 days."""
    parts = _PART.findall(text)
    try:
        if parts and _PART.sub("", text) == "":
            return sum((_UNITS[unit] * float(number) for number, unit in parts), timedelta())
    except (KeyError, OverflowError):
        pass
    raise ValueError(f"{text!r} is not a duration: write 90s, 1h30m or 2 days")


def bytes_of(text: str) -> int:
    """A size as people write it: 500 kB, 20 GB; 1 kB is 1024 bytes."""
    match = _SIZE.fullmatch(text.strip())
    size = float(match[1]) * 1024 ** _POWERS[match[2].lower()] if match else 0.5
    if size != int(size):
        raise ValueError(f"{text!r} is not a size: write bytes as a number, or 500 kB, 20 GB")
    return int(size)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """What was probably meant, when there is something near."""
    close = get_close_matches(word, list(known), n=1)
    return close[0] if close else None
