"""What the values of rate-limit headers say: counts, waits, moments, and structured fields (RFC 9651).

Every reading either answers a value or raises `Unreadable` with a reason of one word; nothing a server sends raises
anything else. Numbers are those a limit can have: whole, not negative, no larger than PostgreSQL's integer; waits are
not longer than a month, since whoever asks for more is wrong or lying.
"""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import NamedTuple

LONGEST_WAIT = timedelta(days=31)
LARGEST_COUNT = 2**31 - 1
_LONGEST_VALUE = 4096
_EPOCH_SECONDS = 1e9
_EPOCH_MILLISECONDS = 1e12

_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?")
_SPAN = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)(d|h|ms|m|us|µs|ns|s)")
_SPANS = re.compile(rf"(?:{_SPAN.pattern})+")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9:.,]+([Zz]|[+-][0-9:]+)?")
_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}

_ITEM = re.compile(
    r'"(?P<string>(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"'
    r"|(?P<number>-?[0-9]{1,15}(?:\.[0-9]{1,3})?)"
    r"|(?P<token>[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*)"
    r"|:(?P<bytes>[A-Za-z0-9+/=]*):"
    r"|\?(?P<boolean>[01])"
)
_PARAMETER = re.compile(r" *; *(?P<key>[a-z*][a-z0-9_.*-]*)")
_KEY = re.compile(r"[a-z*][a-z0-9_.*-]*")
_EQUALS = re.compile("=")
_COMMA = re.compile(r"[ \t]*,[ \t]*")


class Unreadable(Exception):
    """A value that says nothing; `reason` is one word for the log."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Item(NamedTuple):
    """A member of a structured field: its value as text, and its parameters."""

    value: str
    parameters: dict[str, str]


def read_count(text: str) -> int:
    """A whole number that a limit or what is left of it can be."""
    number = _number(text)
    if number < 0:
        raise Unreadable("negative")
    if number != int(number):
        raise Unreadable("fraction")
    if number > LARGEST_COUNT:
        raise Unreadable("absurd")
    return int(number)


def read_wait(text: str, now: datetime) -> timedelta:
    """How long to wait: seconds, a span (`1m30s`), or a moment (epoch by its size, RFC 3339, HTTP date)."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return _wait_of_number(float(text), now)
    if _SPANS.fullmatch(text):
        return _bounded(sum(float(count) * _SECONDS[unit] for count, unit in _SPAN.findall(text)))
    return _bounded((read_moment(text) - now).total_seconds())


def read_moment(text: str) -> datetime:
    """A moment as RFC 3339 or as one of the three forms of an HTTP date."""
    text = text.strip()
    if len(text) > _LONGEST_VALUE:
        raise Unreadable("malformed")
    try:
        read = datetime.fromisoformat(text.upper()) if _TIMESTAMP.fullmatch(text) else parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        raise Unreadable("malformed") from None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def read_list(text: str) -> list[Item]:
    """The items of a structured list; one that is malformed anywhere says nothing at all."""
    return [item for _, item in _members(text, keyed=False)]


def read_dictionary(text: str) -> dict[str, str]:
    """The members of a structured dictionary, without their parameters."""
    return {key: item.value for key, item in _members(text, keyed=True)}


def _number(text: str) -> float:
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        raise Unreadable("malformed")
    return float(text)


def _wait_of_number(number: float, now: datetime) -> timedelta:
    if number < 0:
        raise Unreadable("negative")
    if number < _EPOCH_SECONDS:
        return _bounded(number)
    seconds = number / 1000 if number >= _EPOCH_MILLISECONDS else number
    return _bounded(seconds - now.timestamp())


def _bounded(seconds: float) -> timedelta:
    if seconds < 0:
        raise Unreadable("past")
    if seconds > LONGEST_WAIT.total_seconds():
        raise Unreadable("absurd")
    return timedelta(seconds=seconds)


def _members(text: str, *, keyed: bool) -> list[tuple[str, Item]]:
    text = text.strip()
    if len(text) > _LONGEST_VALUE:
        raise Unreadable("malformed")
    members: list[tuple[str, Item]] = []
    at = 0
    while at < len(text):
        if members:
            at = _end_of(_COMMA, text, at)
        key = ""
        if keyed:
            end = _end_of(_KEY, text, at)
            key, at = text[at:end], _end_of(_EQUALS, text, end)
        item, at = _item(text, at)
        members.append((key, item))
    if not members:
        raise Unreadable("empty")
    return members


def _item(text: str, at: int) -> tuple[Item, int]:
    value, at = _bare(text, at)
    parameters: dict[str, str] = {}
    while found := _PARAMETER.match(text, at):
        at = found.end()
        parameters[found["key"]] = "?1"
        if text.startswith("=", at):
            parameters[found["key"]], at = _bare(text, at + 1)
    return Item(value, parameters), at


def _bare(text: str, at: int) -> tuple[str, int]:
    found = _ITEM.match(text, at)
    if found is None:
        raise Unreadable("malformed")
    value = next(group for group in found.groups() if group is not None)
    return value, found.end()


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    if found is None:
        raise Unreadable("malformed")
    return found.end()
