"""Amounts as people read them, the same everywhere: `10 s`, `1 h 30 min`, `50 MB`, `98.7 %`, `1,234`.

No amount is negative (what is not there yet has no length), none is in scientific notation, and round values are exact:
what is printed may be typed (`durations.py`, `sizes.py`) and means the same.

And text as a terminal may have it: what moves a cursor, colours or turns round what follows is shown, not done.
"""

import re
from datetime import timedelta
from decimal import Decimal

_SECOND = timedelta(seconds=1)
_PARTS = (("d", timedelta(days=1)), ("h", timedelta(hours=1)), ("min", timedelta(minutes=1)))
_SIZES = ("B", "kB", "MB", "GB", "TB")
_STEP = 1024
_LEAST_SHARE = 0.0005
_LEAST_NUMBER = 0.01
# Controls (also those of eight bits), what sets the direction of writing, separators of lines, halves of characters.
_UNSEEN = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\ud800-\\udfff]"
)
_UNSEEN_BUT_LINES = re.compile(_UNSEEN.pattern.replace("\\x00-\\x1f", "\\x00-\\x08\\x0b-\\x1f"))
# An interval as PostgreSQL writes one.
_INTERVAL = re.compile(r"(?:(-?\d+) days? ?)?(?:(\d+):(\d\d):(\d\d(?:\.\d+)?))?")


def shown_text(text: str, *, lines: bool = False) -> str:
    """A text with what cannot be seen written out as JSON writes it; ends of lines and tabs stay where asked for."""
    return (_UNSEEN_BUT_LINES if lines else _UNSEEN).sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def shown_duration(value: timedelta) -> str:
    """A length of time to the millisecond, below a second to the microsecond; a negative one is none."""
    if value < _SECOND:
        milliseconds = max(value, timedelta()) / timedelta(milliseconds=1)
        return f"{_plain(milliseconds, 3)} ms" if milliseconds else "0 s"
    left, parts = timedelta(milliseconds=round(value / timedelta(milliseconds=1))), []
    for unit, length in _PARTS:
        count, left = divmod(left, length)
        if count:
            parts.append(f"{count} {unit}")
    if left:
        parts.append(f"{_plain(left / _SECOND, 3)} s")
    return " ".join(parts)


def shown_size(size: float) -> str:
    """A number of bytes in the largest unit that leaves a figure before the point; 1 kB is 1024 bytes."""
    left, units = max(0.0, float(size)), list(_SIZES)
    while len(units) > 1 and float(_plain(left, 1)) >= _STEP:
        left, units = left / _STEP, units[1:]
    return f"{_plain(left, 0 if units[0] == 'B' else 1)} {units[0]}"


def shown_share(share: float) -> str:
    """A share in percent; one that is nearly nothing or nearly all does not pass for it."""
    if 0 < share < _LEAST_SHARE:
        return "< 0.1 %"
    if 1 - _LEAST_SHARE <= share < 1:
        return "> 99.9 %"
    return f"{_plain(max(0.0, share) * 100, 1)} %"


def shown_number(value: float) -> str:
    """A figure or an average, to the hundredth."""
    if 0 < value < _LEAST_NUMBER:
        return f"< {_LEAST_NUMBER}"
    return _plain(value, 2) if abs(value) < 1000 else f"{value:,.0f}"  # noqa: PLR2004 - thousands get commas


def shown_decimal(value: float) -> str:
    """A number as it was given, every digit of it, without an exponent."""
    text = f"{Decimal(str(value)):f}"
    return text.removesuffix(".0")


def interval_of(text: str) -> timedelta | None:
    """The length of time that PostgreSQL wrote; None when it is none, or one of months."""
    match = _INTERVAL.fullmatch(text) if text else None
    if match is None:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def shown_interval(text: str) -> str:
    """What PostgreSQL wrote as a length of time, as people read it; any other text as it is."""
    length = interval_of(text)
    return text if length is None else shown_duration(length)


def _plain(value: float, digits: int) -> str:
    """A decimal without an exponent and without zeros at its end."""
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
