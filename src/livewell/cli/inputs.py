"""Reading what people type: durations, times, payloads, assignments; refused in one line that names the fix."""

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic_core import from_json

from livewell.cli.errors import FileUnavailable, Misused
from livewell.kernel import HOW_TO_WRITE, LivewellError, parse_duration

_EXAMPLE = """write an object, '{"month": "2026-11"}', or @FILE, or - for standard input"""


class Named(Protocol):
    """Something people know by its name."""

    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=Named)


def near(word: str, known: Iterable[str]) -> str | None:
    """The question "did you mean …?", when there is something near."""
    close = get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]}?" if close else None


def named(name: str, things: Iterable[N], unknown: type[LivewellError], said: str, listing: str) -> N:
    """The thing of that name, or the fact that there is none, with what was probably meant."""
    by_name = {thing.name: thing for thing in things}
    if name not in by_name:
        raise unknown(f"{said} {name}", fix=near(name, by_name) or f"livewell {listing} list")
    return by_name[name]


def known(words: Sequence[str] | None, choices: Sequence[str], what: str) -> list[str] | None:
    """Words that must be among the choices."""
    for word in words or ():
        if word not in choices:
            question = near(word, choices)
            listed = f"one of {', '.join(choices)}"
            raise Misused(f"unknown {what} {word!r}", fix=f"{question} {listed}" if question else listed)
    return list(words) if words else None


def duration(text: str | None) -> timedelta | None:
    """A length of time as people write it: 90s, 10m, 1h30m, 2d."""
    if text is None:
        return None
    try:
        return parse_duration(text)
    except ValueError as error:
        raise Misused(f"{text!r} is not a duration", fix=HOW_TO_WRITE) from error


def moment(text: str | None) -> datetime | None:
    """A point in time in ISO 8601; without a zone it is this machine's."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError) as error:
        raise Misused(f"{text!r} is not a time", fix="write 2026-11-20T18:30 or 2026-11-20T18:30Z") from error


def pause_end(until: str | None, length: str | None) -> datetime | None:
    """When a pause ends, by `--until` or `--for`; None: when it is ended by hand."""
    if until and length:
        raise Misused("--until and --for exclude each other", fix="give one of them")
    pause = duration(length)
    return moment(until) if pause is None else datetime.now(UTC) + pause


def payload(text: str) -> dict[str, Any]:
    """A JSON object from the command line, a file (@FILE) or standard input (-)."""
    value = _json(_text_of(text), "the payload")
    if not isinstance(value, dict):
        raise Misused("the payload is not a JSON object", fix=_EXAMPLE)
    return value


def document(text: str, what: str, *, example: str) -> Any:
    """Any JSON from the command line, a file (@FILE) or standard input (-)."""
    return _json(_text_of(text), what, example)


def assignments(words: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE pairs; an empty value is null, a payload schema is JSON or @FILE."""
    changes: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise Misused(f"{word!r} does not assign anything", fix="write NAME=VALUE, or NAME= for the default")
        if value and name == "payload_schema":
            changes[name] = _json(_text_of(value), name)
        else:
            changes[name] = value or None
    return changes


def task_changes(words: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE pairs of a task; durations as people write them, an empty value is null."""
    durations = {"every", "jitter", "backoff_min", "backoff_max", "lease", "time_limit", "late_after"}
    return {
        name: value if value is None or name not in durations else duration(value)
        for name, value in assignments(words).items()
    }


def shares(words: Sequence[str] | None) -> dict[str, float]:
    """Groups with their shares: `ai=3`, or `ai` for a share of one."""
    found: dict[str, float] = {}
    for word in words or ():
        name, equals, share = word.partition("=")
        try:
            found[name] = float(share) if equals else 1.0
        except ValueError:
            found[name] = 0.0
        if not name or not 0 < found[name] < float("inf"):
            raise Misused(f"{word!r} is not a group with a share", fix="write NAME, or NAME=SHARE with a share above 0")
    return found


def _text_of(word: str) -> str | bytes:
    if word == "-":
        return sys.stdin.buffer.read()
    if not word.startswith("@"):
        return word
    try:
        return Path(word[1:]).read_bytes()
    except OSError as error:
        raise FileUnavailable(f"cannot read {word[1:]}: {error.strerror}") from error


def _json(text: str | bytes, what: str, example: str = _EXAMPLE) -> Any:
    try:
        return from_json(text)
    except ValueError as error:
        raise Misused(f"{what} is not JSON: {error}", fix=example) from error
