"""Limits that the pretend provider enforces and reports, in every window of their length, by its own clock.

Every arrival is remembered for the length of the window, so that the fullest window there ever was is known exactly,
whether or not a limit is set.
"""

from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import format_datetime
from enum import StrEnum
from functools import lru_cache
from math import ceil

from livewell.simulator.errors import InvalidLimit

MINUTE = timedelta(minutes=1)

Headers = list[tuple[str, str]]


class Reporting(StrEnum):
    """Which headers tell a caller what is left."""

    PLAIN = "plain"
    STANDARD = "standard"
    BOTH = "both"
    NONE = "none"


class RetryAfter(StrEnum):
    """How a refusal says when to come back."""

    SECONDS = "seconds"
    DATE = "date"
    NONE = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """What an endpoint allows in any window of its length, and at once; None is no limit."""

    requests: int | None = None
    tokens: int | None = None
    concurrent: int | None = None
    window: timedelta = MINUTE
    reporting: Reporting = Reporting.PLAIN
    retry_after: RetryAfter = RetryAfter.SECONDS

    def __post_init__(self) -> None:
        sizes = (self.requests, self.tokens, self.concurrent)
        if any(size is not None and size <= 0 for size in sizes) or self.window <= timedelta():
            raise InvalidLimit("a limit is above zero", fix="leave it out for no limit")

    @property
    def is_none(self) -> bool:
        return self.requests is None and self.tokens is None and self.concurrent is None


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Whether a call may pass, what is left after it, and in how many seconds there is more."""

    allowed: bool
    requests_left: int | None
    tokens_left: int | None
    reset: float


class Window:
    """Amounts of the last so many seconds, and the most there ever were."""

    def __init__(self, length: float) -> None:
        self._length = length
        self._entries: deque[tuple[float, int]] = deque()
        self.total = 0
        self.worst = 0

    def add(self, at: float, amount: int = 1) -> None:
        self.forget(at)
        self._entries.append((at, amount))
        self.total += amount
        self.worst = max(self.worst, self.total)

    def forget(self, now: float) -> None:
        """Drop what lies a whole window back."""
        while self._entries and self._entries[0][0] <= now - self._length:
            self.total -= self._entries.popleft()[1]

    def frees(self, now: float, amount: int) -> float:
        """In how many seconds so much will have left the window."""
        freed = 0
        for at, size in self._entries:
            freed += size
            if freed >= amount:
                return at + self._length - now
        return 0.0 if not self._entries else self._entries[-1][0] + self._length - now


class Limiter:
    """One endpoint's limit at work."""

    def __init__(self, limit: Limit | None = None) -> None:
        self.limit = limit or Limit()
        length = self.limit.window.total_seconds()
        self._requests, self._tokens, self.arrivals = Window(length), Window(length), Window(length)
        self.in_flight = 0
        self.most_in_flight = 0
        self.over_limit = 0

    def arrive(self, now: float, tokens: int = 0) -> Verdict:
        """Judge a call as it comes in; one that is refused uses up nothing."""
        self.arrivals.add(now)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self._requests.forget(now)
        self._tokens.forget(now)
        waits = self._waits(now, tokens)
        if waits:
            self.over_limit += 1
            return self._verdict(allowed=False, reset=max(waits))
        self._requests.add(now)
        self._tokens.add(now, tokens)
        return self._verdict(allowed=True, reset=self._requests.frees(now, 1))

    def leave(self) -> None:
        self.in_flight -= 1

    def _waits(self, now: float, tokens: int) -> list[float]:
        limit, waits = self.limit, []
        if limit.requests is not None and self._requests.total >= limit.requests:
            waits.append(self._requests.frees(now, self._requests.total - limit.requests + 1))
        if limit.tokens is not None and self._tokens.total + tokens > limit.tokens:
            waits.append(self._tokens.frees(now, self._tokens.total + tokens - limit.tokens))
        if limit.concurrent is not None and self.in_flight > limit.concurrent:
            waits.append(1.0)
        return waits

    def _verdict(self, *, allowed: bool, reset: float) -> Verdict:
        return Verdict(
            allowed=allowed,
            requests_left=_left(self.limit.requests, self._requests.total),
            tokens_left=_left(self.limit.tokens, self._tokens.total),
            reset=reset,
        )


def rate_headers(limit: Limit, verdict: Verdict, wall: datetime) -> Headers:
    """What an answer tells of a limit, in the forms that were asked for."""
    if limit.is_none:
        return []
    headers: Headers = []
    if limit.reporting in {Reporting.PLAIN, Reporting.BOTH}:
        headers += _plain("requests", limit.requests, verdict.requests_left, verdict.reset)
        headers += _plain("tokens", limit.tokens, verdict.tokens_left, verdict.reset)
    if limit.reporting in {Reporting.STANDARD, Reporting.BOTH}:
        headers += _standard(limit, verdict)
    if not verdict.allowed:
        headers += retry_headers(limit.retry_after, verdict.reset, wall)
    return headers


def retry_headers(form: RetryAfter, seconds: float, wall: datetime) -> Headers:
    """When to come back; a whole second later rather than a moment too early."""
    match form:
        case RetryAfter.NONE:
            return []
        case RetryAfter.SECONDS:
            return [("Retry-After", str(ceil(seconds)))]
        case RetryAfter.DATE:
            return [("Retry-After", http_date(wall + timedelta(seconds=ceil(seconds) + 1)))]


def http_date(moment: datetime) -> str:
    return _date_of(moment.replace(microsecond=0))


@lru_cache(maxsize=1024)
def _date_of(second: datetime) -> str:
    return format_datetime(second, usegmt=True)


def _plain(unit: str, size: int | None, left: int | None, reset: float) -> Headers:
    if size is None:
        return []
    suffix = "" if unit == "requests" else f"-{unit}"
    return [
        (f"X-RateLimit-Limit{suffix}", str(size)),
        (f"X-RateLimit-Remaining{suffix}", str(left)),
        (f"X-RateLimit-Reset{suffix}", str(ceil(reset))),
    ]


def _standard(limit: Limit, verdict: Verdict) -> Headers:
    """Only requests: the units of the standard know no tokens."""
    if limit.requests is None:
        return []
    window = ceil(limit.window.total_seconds())
    return [
        ("RateLimit-Policy", f'"default";q={limit.requests};w={window}'),
        ("RateLimit", f'"default";r={verdict.requests_left};t={ceil(verdict.reset)}'),
    ]


def _left(size: int | None, used: int) -> int | None:
    return None if size is None else max(0, size - used)
