"""Judging: what an answer is worth to each key that was asked for. Every key gets exactly one outcome.

An answer is read whole. One bad row refuses its key and no other; a bad row of which the key is unknown refuses all
keys it might belong to. Rows of keys nobody asked for are warned about, and refuse an answer for a single key, which is
then somebody else's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.message import Message
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel
from pydantic_core import from_json, to_json

from livewell.budgets import RateFacts
from livewell.fetching.client import Reply
from livewell.fetching.rows import RowReader
from livewell.fetching.types import (
    Fetched,
    FetchFailed,
    FetchOutcome,
    FetchThrottled,
    Gone,
    JsonObject,
    Refused,
    Unchanged,
)
from livewell.registry import path_text

TOO_EARLY = timedelta(days=1)
# Bytes that a list or an object, and a value in one, take in Python, however short they are written.
_CONTAINER, _SCALAR = 150, 50
_READ_PER_BYTE = 8
_WORDS = {401: "the API key is not accepted", 403: "the API key may not ask for this"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Warned:
    """Something odd about an answer that was survived."""

    code: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What a type says about its answers."""

    reader: RowReader
    rows: Literal["one", "many"] = "one"
    absent: Literal["refuse", "gone"] = "refuse"


@dataclass(kw_only=True, slots=True)
class Verdict:
    """The outcome of each key, how many rows were its, and what was odd."""

    outcomes: dict[str, FetchOutcome] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    warnings: list[Warned] = field(default_factory=list)


def judge_status(reply: Reply, rate: RateFacts, *, keys: int) -> FetchOutcome | None:
    """The outcome an answer has by its status alone; None when it is to be read."""
    status = reply.status or 0
    match status:
        case _ if reply.problem is not None and status != 429:  # noqa: PLR2004 - it is throttled all the same
            return reply.problem
        case 200:
            return None
        case 304:
            return Unchanged(
                why="not_modified", etag=reply.headers.get("ETag"), last_modified=reply.headers.get("Last-Modified")
            )
        case 429:
            wait = rate.retry_after
            return FetchThrottled(seconds=None if wait is None else wait.total_seconds(), message="HTTP 429")
        case 404 | 410 if keys == 1:
            return Gone(message=f"HTTP {status}")
        case 401 | 403:
            return FetchFailed(reason="unauthorized", message=f"HTTP {status}: {_WORDS[status]}", status=status)
        case 204:
            return Refused(reason="empty", message="HTTP 204: no content")
        case _:
            return FetchFailed(reason="status", message=f"HTTP {status}", status=status)


def read_document(reply: Reply, *, max_bytes: int, content_type: str | None = None) -> "Any | Refused":
    """The JSON of an answer, or why there is none."""
    if not reply.body.strip():
        return Refused(reason="empty", message="HTTP 200 with an empty body")
    kind, charset = _content_type(reply.headers.get("Content-Type", ""))
    if (kind and kind != (content_type or kind)) or (content_type is None and kind and not _is_json(kind)):
        return Refused(reason="wrong_type", message=f"Content-Type {kind[:80]!r}, not JSON")
    if charset not in {"", "utf-8", "utf8", "us-ascii"}:
        return Refused(reason="encoding", message=f"charset {charset[:40]!r}, not UTF-8")
    if (size := _size_as_read(reply.body)) > _READ_PER_BYTE * max_bytes:
        return Refused(
            reason="too_large", message=f"about {size:,} bytes when read, of {_READ_PER_BYTE} x {max_bytes:,}"
        )
    try:
        return from_json(reply.body, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        return Refused(reason="not_json", message=str(error)[:200])


def _size_as_read(body: bytes) -> int:
    """About what a document takes as Python has it, told by its marks, which is quick; reading takes time by that too.

    Marks within strings count as well: what is nearly all text has few.
    """
    containers = body.count(b"[") + body.count(b"{")
    return containers * _CONTAINER + body.count(b",") * _SCALAR


@lru_cache(maxsize=256)
def _content_type(said: str) -> tuple[str, str]:
    if not said:
        return "", ""
    header = Message()
    header["Content-Type"] = said
    return header.get_content_type().lower(), str(header.get_content_charset("") or "").lower()


def _is_json(kind: str) -> bool:
    return kind in {"application/json", "text/json"} or kind.endswith("+json")


def judge_rows(keys: Sequence[str], rows: Sequence[Any], rules: Rules, *, now: datetime) -> Verdict:
    """The outcome of each key by the rows of an answer."""
    verdict = Verdict()
    owned, strays = _by_key(keys, rows, rules.reader)
    if strays.unasked:
        verdict.warnings.append(
            Warned(code="unasked_rows", message=f"{strays.unasked} rows of keys that were not asked for")
        )
    for key in keys:
        found = owned[key]
        verdict.rows[key] = len(found)
        verdict.outcomes[key] = (
            judge_key(found, rules, now) if found else _judge_absent(strays, rules, single=len(keys) == 1)
        )
        if len(keys) == 1 and strays.unasked and found:
            verdict.outcomes[key] = Refused(
                reason="wrong_key", message="rows of other keys are among those of this one"
            )
    return verdict


@dataclass(kw_only=True, slots=True)
class _Strays:
    """Rows of keys that were not asked for, or of no key."""

    unasked: int = 0
    nameless: int = 0


def _by_key(keys: Sequence[str], rows: Sequence[Any], reader: RowReader) -> tuple[dict[str, list[Any]], _Strays]:
    owned: dict[str, list[Any]] = {key: [] for key in keys}
    strays = _Strays()
    for row in rows:
        if reader.key_steps is None:
            owned[keys[0]].append(row)
            continue
        content = row.model_dump(by_alias=True) if isinstance(row, BaseModel) else row
        key = reader.key_of(content) if isinstance(content, Mapping) else None
        if key is None:
            strays.nameless += 1
        elif key in owned:
            owned[key].append(row)
        else:
            strays.unasked += 1
    return owned, strays


def _judge_absent(strays: _Strays, rules: Rules, *, single: bool) -> FetchOutcome:
    if strays.nameless:
        where = path_text(rules.reader.key_steps or ())
        return Refused(reason="schema", message=f"a row without {where}: whose is it?")
    if single and strays.unasked:
        return Refused(reason="wrong_key", message="the answer is about another key")
    if rules.absent == "gone":
        return Gone(message="the answer has no row of it")
    if strays.unasked:
        return Refused(reason="missing_key", message="the answer has no row of it")
    return Refused(reason="missing_key" if not single else "empty", message="the answer has no row of it")


def judge_key(found: Sequence[Any], rules: Rules, now: datetime) -> FetchOutcome:
    """The outcome of a key by all rows of it."""
    reader = rules.reader
    rows: list[JsonObject] = []
    for row in found:
        if not isinstance(row, Mapping | BaseModel):
            return Refused(reason="schema", message=f"a row that is no object but {type(row).__name__}")
        parsed = reader.read(row)
        if isinstance(parsed, Refused):
            return parsed
        rows.append(parsed)
    if _repeats(rows, rules):
        return Refused(reason="duplicate_rows", message=f"{len(rows)} rows, of which some are the same")
    if reader.lacks_time(rows):
        return Refused(reason="missing_source_time", message=f"{reader.source_time} is missing")
    time = reader.time_of(rows)
    if time is not None and time > now + TOO_EARLY:
        return Refused(reason="bounds", message=f"{reader.source_time} is in the future: {time.isoformat()}")
    return Fetched(
        rows=rows,
        source_time=time,
        content_hash=reader.hash_of(rows),
        volatile=reader.volatile,
        many=rules.rows == "many",
    )


def _repeats(rows: Sequence[JsonObject], rules: Rules) -> bool:
    if rules.rows == "one":
        return len(rows) > 1
    return len({to_json(row) for row in rows}) < len(rows)


def share_out(total: int, weights: Sequence[int]) -> list[int]:
    """Share a number out in proportion to weights, without a rest; equally when all weights are zero."""
    if not weights:
        return []
    if not any(weights):
        weights = [1] * len(weights)
    whole, shares, given, seen = sum(weights), [], 0, 0
    for weight in weights:
        seen += weight
        share = total * seen // whole - given
        shares.append(share)
        given += share
    return shares
