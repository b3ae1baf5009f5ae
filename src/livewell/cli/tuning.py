"""Assignments as people type them for a provider or an endpoint, in the words of the file or of the table."""

from collections.abc import Mapping, Sequence
from typing import Any

from livewell.cli.errors import Misused
from livewell.cli.inputs import assignments
from livewell.kernel import parse_size

_SIZES = {"quota_bytes", "expected_bytes", "max_bytes"}


def tuned(words: Sequence[str], columns: Mapping[str, str]) -> dict[str, Any]:
    """NAME=VALUE pairs as columns; `requests.per_minute` and `requests_per_minute` are the same."""
    changes: dict[str, Any] = {}
    for name, value in assignments(words).items():
        column = columns.get(name, name)
        changes[column] = _size(value) if column in _SIZES and value else value
    return changes


def _size(text: str) -> int | str:
    if text == "unlimited" or text.isdigit():
        return text
    try:
        return parse_size(text)
    except ValueError as error:
        raise Misused(f"{text!r} is not a size", fix="write a number of bytes, or 500 kB, 10 MB, 20 GB") from error
