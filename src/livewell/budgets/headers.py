"""What an answer's headers say about its provider's limits, as facts the limiter can learn from.

Understood, names in any case: `Retry-After` (seconds or a date), `retry-after-ms`; `x-ratelimit-limit`, `-remaining`,
`-reset`, `-reset-after` (and `x-rate-limit-…`), also per unit (`-requests`, `-tokens`) and per window (`-minute`);
`anthropic-ratelimit-requests-limit` and its like; `RateLimit` and `RateLimit-Policy`, and their older drafts.

Moments are taken against the answer's own `Date`, so that clocks need not agree; without one, against the clock passed
in. A reading never raises: what makes no sense is left out and named in `ignored`. Where a header is repeated, the more
careful value counts.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar

from pydantic_core import to_json

from livewell.budgets.header_values import (
    Item,
    Unreadable,
    read_count,
    read_dictionary,
    read_list,
    read_moment,
    read_wait,
)

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
Unit = Literal["requests", "tokens"]
T = TypeVar("T")

_MINUTE = timedelta(minutes=1)
_WINDOWS = {
    "second": timedelta(seconds=1),
    "minute": _MINUTE,
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
}
_UNITS: dict[str, Unit] = {"request": "requests", "requests": "requests", "req": "requests"}
_UNITS |= {"token": "tokens", "tokens": "tokens"}

_PLAIN = re.compile(
    r"(?P<family>x-|)rate-?limit-(?P<field>limit|remaining|reset-after|reset)"
    r"(?:-(?P<unit>requests|req|tokens))?(?:-(?P<window>second|minute|hour|day))?"
)
_ANTHROPIC = re.compile(r"(?P<family>anthropic-)ratelimit-(?P<unit>requests|tokens)-(?P<field>limit|remaining|reset)")


@dataclass(frozen=True, kw_only=True)
class RateLimit:
    """One limit as the provider told it; what it did not tell is None."""

    unit: Unit = "requests"
    limit: int | None = None
    window: timedelta | None = None
    remaining: int | None = None
    reset: timedelta | None = None


@dataclass(frozen=True, kw_only=True)
class IgnoredHeader:
    """A header that said nothing, and why: malformed, negative, absurd, past, fraction, zero, unit, empty."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class RateFacts:
    """What one answer told about limits."""

    status: int
    retry_after: timedelta | None = None
    limits: tuple[RateLimit, ...] = ()
    ignored: tuple[IgnoredHeader, ...] = ()

    @property
    def is_throttled(self) -> bool:
        """Whether the provider refused the call because of a limit."""
        return self.status == 429  # noqa: PLR2004 - Too Many Requests

    def tell_anything(self) -> bool:
        """Whether there is anything to learn from it."""
        return self.is_throttled or self.retry_after is not None or bool(self.limits)

    def to_json(self) -> str:
        """As `livewell.learn_limits` takes it."""
        facts = {
            "status": self.status,
            "retry_after_seconds": _seconds(self.retry_after),
            "limits": [
                {
                    "unit": limit.unit,
                    "limit": limit.limit,
                    "window_seconds": _seconds(limit.window),
                    "remaining": limit.remaining,
                    "reset_seconds": _seconds(limit.reset),
                }
                for limit in self.limits
            ],
        }
        return to_json(facts).decode()


def read_rate_headers(status: int, headers: Headers, *, now: datetime) -> RateFacts:
    """The facts of one answer; never raises, whatever the headers hold."""
    reading = _Reading(headers, now)
    retry_after = reading.retry_after()
    limits = _told_once(reading.policies(), reading.plain_limits())
    return RateFacts(status=status, retry_after=retry_after, limits=limits, ignored=tuple(reading.ignored))


def _seconds(duration: timedelta | None) -> float | None:
    return None if duration is None else duration.total_seconds()


class _Reading:
    """One answer's headers while they are read."""

    def __init__(self, headers: Headers, now: datetime) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in headers.items() if isinstance(headers, Mapping) else headers:
            self._values.setdefault(name.strip().lower(), []).append(value)
        self.ignored: list[IgnoredHeader] = []
        self._now = self._latest("date", read_moment) or now

    def retry_after(self) -> timedelta | None:
        waits = (
            self._latest("retry-after", self._wait),
            self._latest("retry-after-ms", lambda text: self._wait(str(read_count(text) / 1000))),
        )
        return max((wait for wait in waits if wait is not None), default=None)

    def policies(self) -> list[RateLimit]:
        """`RateLimit` with `RateLimit-Policy`: told apart by name since draft 8, by their sizes before."""
        declared = {item.value: self._declared(item) for item in self._items("ratelimit-policy")}
        states = {item.value: item for item in self._items("ratelimit", otherwise=_draft_seven)}
        for name, item in states.items():
            if name not in declared:
                declared[name] = self._declared(item) if "q" in item.parameters else RateLimit()
        return [
            _joined(limit, self._left(states[name]) if name in states else RateLimit())
            for name, limit in declared.items()
            if limit is not None
        ]

    def plain_limits(self) -> list[RateLimit]:
        """`x-ratelimit-limit` and its like: one limit per family, unit and window in their names."""
        groups: dict[tuple[str, Unit, str], dict[str, str]] = {}
        for name in self._values:
            if found := _PLAIN.fullmatch(name) or _ANTHROPIC.fullmatch(name):
                parts = found.groupdict()
                key = (parts["family"], _UNITS[parts["unit"] or "requests"], parts.get("window") or "")
                groups.setdefault(key, {})[parts["field"]] = name
        return [limit for key, names in groups.items() for limit in self._plain(*key, names)]

    def _plain(self, family: str, unit: Unit, window: str, names: dict[str, str]) -> list[RateLimit]:
        reset = self._longest(names, "reset-after", "reset")
        remaining = self._least(names.get("remaining"), read_count)
        told = RateLimit(
            unit=unit,
            window=_MINUTE if family == "anthropic-" else _WINDOWS.get(window),
            remaining=remaining,
            reset=reset,
        )
        name = names.get("limit", "")
        limits = [limit for item in self._items(name) if (limit := self._sized(item, unit, name)) is not None]
        if not limits:
            return [told]
        first, *others = limits
        detailed = [limit for limit in others if limit.window is not None]
        if first.window is None and (same := [limit for limit in detailed if limit.limit == first.limit]):
            first = same[0]
        return [_joined(first, told), *(limit for limit in detailed if limit != first)]

    def _declared(self, item: Item) -> RateLimit | None:
        """A policy: `"name";q=100;w=60` since draft 8, `100;w=60` before."""
        unit = _UNITS.get(item.parameters.get("qu", "requests").lower())
        if unit is None:
            self._ignore("ratelimit-policy", "unit")
            return None
        size = item.parameters.get("q", item.value)
        return self._sized(Item(size, item.parameters), unit, "ratelimit-policy")

    def _sized(self, item: Item, unit: Unit, name: str) -> RateLimit | None:
        try:
            size = read_count(item.value)
            if size == 0:
                raise Unreadable("zero")
            window = self._wait(item.parameters["w"]) if "w" in item.parameters else None
        except Unreadable as found:
            self._ignore(name, found.reason)
            return None
        return RateLimit(unit=unit, limit=size, window=window or None)

    def _left(self, item: Item) -> RateLimit:
        left = item.parameters
        remaining = self._try("ratelimit", read_count, left["r"]) if "r" in left else None
        reset = self._try("ratelimit", self._reset, left["t"]) if "t" in left else None
        return RateLimit(remaining=remaining, reset=reset)

    def _items(self, name: str, *, otherwise: Callable[[str], list[Item]] | None = None) -> list[Item]:
        if name not in self._values:
            return []
        text = ", ".join(self._values[name])
        try:
            return read_list(text)
        except Unreadable as found:
            if otherwise is not None:
                return self._try(name, otherwise, text) or []
            self._ignore(name, found.reason)
            return []

    def _wait(self, text: str) -> timedelta:
        return read_wait(text, self._now)

    def _longest(self, names: dict[str, str], *fields: str) -> timedelta | None:
        found = (self._latest(names[field], self._reset) for field in fields if field in names)
        return next((wait for wait in found if wait is not None), None)

    def _reset(self, text: str) -> timedelta:
        """A window that ended a moment ago has begun again."""
        try:
            return self._wait(text)
        except Unreadable as found:
            if found.reason == "past":
                return timedelta()
            raise

    def _latest(self, name: str, read: Callable[[str], T]) -> T | None:
        return max(self._all(name, read), default=None, key=_order)

    def _least(self, name: str | None, read: Callable[[str], T]) -> T | None:
        return min(self._all(name, read), default=None, key=_order) if name else None

    def _all(self, name: str, read: Callable[[str], T]) -> list[T]:
        read_ones = (self._try(name, read, text) for text in self._values.get(name, ()))
        return [value for value in read_ones if value is not None]

    def _try(self, name: str, read: Callable[[str], T], text: str) -> T | None:
        try:
            return read(text)
        except Unreadable as found:
            self._ignore(name, found.reason)
            return None

    def _ignore(self, name: str, reason: str) -> None:
        self.ignored.append(IgnoredHeader(name=name, reason=reason))


def _order(value: Any) -> Any:
    return value


def _draft_seven(text: str) -> list[Item]:
    """`limit=100, remaining=50, reset=5`: the state of the policy of that size."""
    members = read_dictionary(text)
    if "limit" not in members:
        raise Unreadable("malformed")
    letters = {"limit": "q", "remaining": "r", "reset": "t"}
    return [Item(members["limit"], {letter: members[name] for name, letter in letters.items() if name in members})]


def _joined(limit: RateLimit, state: RateLimit) -> RateLimit:
    """What is allowed, with what is left of it; more left than allowed is not believed."""
    remaining = state.remaining
    if remaining is not None and limit.limit is not None and remaining > limit.limit:
        remaining = None
    window = limit.window or state.window
    return RateLimit(unit=limit.unit, limit=limit.limit, window=window, remaining=remaining, reset=state.reset)


def _told_once(policies: list[RateLimit], plain: list[RateLimit]) -> tuple[RateLimit, ...]:
    """Each limit once: before draft 7 a policy tells the window, and headers of their own tell what is left of it."""
    limits = list(policies)
    for told in plain:
        same = [limit for limit in policies if (limit.unit, limit.limit) == (told.unit, told.limit) and limit.window]
        if told.window is None and same and same[0] in limits and same[0].remaining is None:
            limits[limits.index(same[0])] = _joined(same[0], told)
        else:
            limits.append(told)
    return tuple(dict.fromkeys(limit for limit in limits if limit != RateLimit(unit=limit.unit)))
