"""Faults on demand: which there are, and which call they befall.

Whether a fault with a share befalls a call depends on the seed, the fault, and how many calls for these keys came
before, not on what other keys did meanwhile: the same calls have the same faults, in whatever order they arrive.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from enum import StrEnum
from itertools import count
from typing import Any

from livewell.simulator.errors import InvalidFault
from livewell.simulator.walk import draw

EVERY_ENDPOINT = "*"


class FaultKind(StrEnum):
    """What can go wrong; `FAULTS` says each in a sentence."""

    SLOW = "slow"
    DRIP = "drip"
    HANG = "hang"
    HANG_IN_BODY = "hang_in_body"
    RESET = "reset"
    RESET_IN_BODY = "reset_in_body"
    THROTTLED = "throttled"
    THROTTLED_SECONDS = "throttled_seconds"
    THROTTLED_DATE = "throttled_date"
    THROTTLED_RESET = "throttled_reset"
    THROTTLED_RATELIMIT = "throttled_ratelimit"
    ERROR_500 = "error_500"
    ERROR_502 = "error_502"
    ERROR_503 = "error_503"
    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not_found"
    GONE = "gone"
    EMPTY = "empty"
    EMPTY_LIST = "empty_list"
    EMPTY_OBJECT = "empty_object"
    NULL = "null"
    ERROR_OBJECT = "error_object"
    TRUNCATED = "truncated"
    HTML = "html"
    BOM = "bom"
    INVALID_UTF8 = "invalid_utf8"
    NAN = "nan"
    INFINITY = "infinity"
    NESTED = "nested"
    LARGE = "large"
    DENSE = "dense"
    BOMB = "bomb"
    EMPTY_MEMBERS = "empty_members"
    BAD_GZIP = "bad_gzip"
    UNKNOWN_ENCODING = "unknown_encoding"
    RENAMED_FIELD = "renamed_field"
    MISSING_FIELD = "missing_field"
    NULL_FIELD = "null_field"
    EXTRA_FIELD = "extra_field"
    WRONG_TYPE = "wrong_type"
    ABSURD_VALUE = "absurd_value"
    OLD_DATA = "old_data"
    BAD_ROW = "bad_row"
    DUPLICATE_ROWS = "duplicate_rows"
    OTHER_KEY = "other_key"
    MISSING_KEY = "missing_key"
    NO_LENGTH = "no_length"
    CHUNKED = "chunked"
    TINY_CHUNKS = "tiny_chunks"
    CHUNK_EXTENSIONS = "chunk_extensions"
    ANNOUNCED = "announced"
    LENGTH_TOO_LONG = "length_too_long"
    LENGTH_TOO_SHORT = "length_too_short"
    LARGE_HEADERS = "large_headers"
    REDIRECT_SAME = "redirect_same"
    REDIRECT_OTHER = "redirect_other"
    REDIRECT_PRIVATE = "redirect_private"
    REDIRECT_LOOP = "redirect_loop"


FAULTS: dict[FaultKind, str] = {
    FaultKind.SLOW: "a pause of `seconds` before the answer",
    FaultKind.DRIP: "headers at once, then 16 bytes at a time with a pause of `seconds` between",
    FaultKind.HANG: "the request is read and never answered",
    FaultKind.HANG_IN_BODY: "headers and half of the body, then nothing",
    FaultKind.RESET: "the connection is reset instead of an answer",
    FaultKind.RESET_IN_BODY: "the connection is reset after half of the body",
    FaultKind.THROTTLED: "429 without a word on when to come back",
    FaultKind.THROTTLED_SECONDS: "429 with Retry-After in `seconds`",
    FaultKind.THROTTLED_DATE: "429 with Retry-After as a date, `seconds` from now",
    FaultKind.THROTTLED_RESET: "429 with X-RateLimit-Limit, -Remaining 0 and -Reset as a time in Unix seconds",
    FaultKind.THROTTLED_RATELIMIT: "429 with RateLimit-Policy and RateLimit",
    FaultKind.ERROR_500: "500 with a text",
    FaultKind.ERROR_502: "502 with an HTML page, as a proxy writes it",
    FaultKind.ERROR_503: "503 with Retry-After in `seconds`",
    FaultKind.UNAUTHORIZED: "401, as if the key had been withdrawn",
    FaultKind.NOT_FOUND: "404",
    FaultKind.GONE: "410",
    FaultKind.EMPTY: "200 without a body",
    FaultKind.EMPTY_LIST: "200 with `[]`",
    FaultKind.EMPTY_OBJECT: "200 with `{}`",
    FaultKind.NULL: "200 with `null`",
    FaultKind.ERROR_OBJECT: "200 with an error message as an object",
    FaultKind.TRUNCATED: "JSON that ends in the middle, with a Content-Length that agrees",
    FaultKind.HTML: "200 with an HTML page that apologises",
    FaultKind.BOM: "JSON after a byte order mark",
    FaultKind.INVALID_UTF8: "JSON with a byte that is no UTF-8 in a string",
    FaultKind.NAN: "a number is `NaN`",
    FaultKind.INFINITY: "a number is `Infinity`",
    FaultKind.NESTED: "arrays in arrays, `size` deep (100,000)",
    FaultKind.LARGE: "a body of `size` bytes (64 MB), uncompressed",
    FaultKind.DENSE: "an array of `[[[]]]`, `size` bytes of it (10 MB): a value for every two bytes",
    FaultKind.BOMB: "a small gzip body of `size` bytes when opened (256 MB), whatever encoding was asked for",
    FaultKind.EMPTY_MEMBERS: "a gzip body of `size` bytes (8 MB) in members that are empty, but for the last",
    FaultKind.BAD_GZIP: "Content-Encoding: gzip over something that is not",
    FaultKind.UNKNOWN_ENCODING: "Content-Encoding: x-made-up",
    FaultKind.RENAMED_FIELD: "`field` has another name",
    FaultKind.MISSING_FIELD: "`field` is left out",
    FaultKind.NULL_FIELD: "`field` is null",
    FaultKind.EXTRA_FIELD: "there is one more field",
    FaultKind.WRONG_TYPE: "`field`, a number, is a string, or the other way round",
    FaultKind.ABSURD_VALUE: "`field` is −1e300",
    FaultKind.OLD_DATA: "the state of three changes ago, with its source time",
    FaultKind.BAD_ROW: "the last row alone has a wrong type",
    FaultKind.DUPLICATE_ROWS: "each row twice",
    FaultKind.OTHER_KEY: "one more row, of a symbol nobody asked for",
    FaultKind.MISSING_KEY: "the last symbol asked for is left out",
    FaultKind.NO_LENGTH: "no Content-Length: the body ends with the connection",
    FaultKind.CHUNKED: "in chunks; well-behaved, but without Content-Length",
    FaultKind.TINY_CHUNKS: "in chunks of one byte, `size` of them (5,000,000), each five of framing",
    FaultKind.CHUNK_EXTENSIONS: "in chunks whose extensions are `size` bytes together (30 MB)",
    FaultKind.ANNOUNCED: "`size` bytes (30 MB) of `103 Early Hints` before the answer",
    FaultKind.LENGTH_TOO_LONG: "Content-Length promises more than comes",
    FaultKind.LENGTH_TOO_SHORT: "Content-Length promises less than comes",
    FaultKind.LARGE_HEADERS: "200 KB of headers",
    FaultKind.REDIRECT_SAME: "302 to an address of this server that answers",
    FaultKind.REDIRECT_OTHER: "302 to another host",
    FaultKind.REDIRECT_PRIVATE: "302 to http://169.254.169.254/, where clouds keep secrets",
    FaultKind.REDIRECT_LOOP: "302 to an address that leads to itself, for ever",
}

_numbers = count(1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault at an endpoint (`*`: at all): a share of its calls, or all; the first `count` of those, or all."""

    kind: FaultKind
    endpoint: str = EVERY_ENDPOINT
    share: float = 1.0
    count: int | None = None
    keys: frozenset[str] | None = None
    seconds: float = 5.0
    field: str | None = None
    size: int | None = None
    number: int = dataclasses.field(default_factory=lambda: next(_numbers))

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise InvalidFault(f"{self.share} is no share of calls", fix="write a number from 0 to 1")
        if self.count is not None and self.count < 1:
            raise InvalidFault("a fault happens at least once", fix="leave the count out for no limit")
        if not 0 <= self.seconds < math.inf or (self.size is not None and self.size < 0):
            raise InvalidFault("seconds and size are not negative")

    def concerns(self, endpoint: str, keys: Sequence[str]) -> bool:
        return self.endpoint in {endpoint, EVERY_ENDPOINT} and (self.keys is None or not self.keys.isdisjoint(keys))


class FaultPlan:
    """The faults that are set, and how often each has happened."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._faults: list[Fault] = []
        self._happened: Counter[int] = Counter()
        self._calls: Counter[tuple[str, str]] = Counter()

    @property
    def faults(self) -> tuple[Fault, ...]:
        return tuple(self._faults)

    def add(self, fault: Fault) -> None:
        self._faults.append(fault)

    def clear(self, endpoint: str | None = None) -> None:
        """Take back all faults, or those that were set for one endpoint."""
        self._faults = [fault for fault in self._faults if endpoint is not None and fault.endpoint != endpoint]

    def happened(self, fault: Fault) -> int:
        return self._happened[fault.number]

    def draw(self, endpoint: str, keys: Sequence[str]) -> Fault | None:
        """The fault that befalls this call, the first that was set going first."""
        if not self._faults:
            return None
        asked = ",".join(keys)
        self._calls[endpoint, asked] += 1
        nth = self._calls[endpoint, asked]
        for place, fault in enumerate(self._faults):
            if self._befalls(fault, place, endpoint, keys, nth):
                self._happened[fault.number] += 1
                return fault
        return None

    def _befalls(self, fault: Fault, place: int, endpoint: str, keys: Sequence[str], nth: int) -> bool:
        if not fault.concerns(endpoint, keys):
            return False
        if fault.count is not None and self._happened[fault.number] >= fault.count:
            return False
        return fault.share >= 1 or draw(self._seed, "fault", place, fault.kind, endpoint, *keys, nth) < fault.share


def parse_kind(text: str) -> FaultKind:
    """A kind by its name; anything else is refused with what was probably meant."""
    try:
        return FaultKind(text)
    except ValueError as error:
        close = get_close_matches(text, list(FaultKind), n=1)
        fix = f"did you mean {close[0]}?" if close else f"one of {', '.join(FaultKind)}"
        raise InvalidFault(f"unknown fault {text!r}", fix=fix) from error


def parse_fault(text: str) -> Fault:
    """A fault as the command line has it: `quote=empty:0.01`, `quote=slow:x3:seconds=2`, `*=reset`."""
    endpoint, equals, rest = text.partition("=")
    name, *terms = rest.split(":")
    if not equals or not endpoint or not name:
        raise InvalidFault(f"{text!r} is not a fault", fix="write ENDPOINT=KIND[:SHARE][:xCOUNT][:NAME=VALUE]")
    given: dict[str, Any] = {"kind": parse_kind(name), "endpoint": endpoint}
    for term in terms:
        given |= _term(term)
    return Fault(**given)


def _term(term: str) -> dict[str, Any]:
    name, equals, value = term.partition("=")
    try:
        if not equals:
            return {"count": int(term[1:])} if term.startswith("x") else {"share": float(term)}
        match name:
            case "seconds":
                return {"seconds": float(value)}
            case "size":
                return {"size": int(value)}
            case "field":
                return {"field": value}
            case "keys":
                return {"keys": frozenset(value.split(","))}
    except ValueError:
        pass
    raise InvalidFault(
        f"{term!r} says nothing about a fault", fix="write 0.01, x3, seconds=2, size=1000 or field=price"
    )
