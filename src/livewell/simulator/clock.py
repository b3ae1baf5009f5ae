"""Time as the pretend provider has it: real, faster, or moved by a test.

`world()` is the time its data lives in, in seconds since 1970; `wall()` is what it writes into the headers of an
answer; `monotonic()` is what its limits are measured by. Only the world runs faster than it should: a caller's minute
stays a minute to the limits.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

_HEAD_START = timedelta(days=365)


class SimulatorClock(Protocol):
    """The three times of a provider."""

    def world(self) -> float: ...

    def wall(self) -> datetime: ...

    def monotonic(self) -> float: ...


class RealClock:
    """The clock of this machine."""

    def world(self) -> float:
        return time.time()

    def wall(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class FasterClock(RealClock):
    """A world whose time runs at `speed`, from a year ago unless told otherwise: no data is of the future."""

    def __init__(self, speed: float, *, start: datetime | None = None) -> None:
        if not 0 < speed < float("inf"):
            raise ValueError("a clock runs forward")
        self.speed = speed
        self._start = (start or datetime.now(UTC) - _HEAD_START).timestamp()
        self._began = time.monotonic()

    def world(self) -> float:
        return self._start + (time.monotonic() - self._began) * self.speed


class SteppedClock:
    """A clock that moves only when it is told to."""

    def __init__(self, start: datetime) -> None:
        self._start = start
        self._passed = timedelta()

    def advance(self, by: timedelta) -> None:
        self._passed += by

    def world(self) -> float:
        return self.wall().timestamp()

    def wall(self) -> datetime:
        return self._start + self._passed

    def monotonic(self) -> float:
        return self._passed.total_seconds()
