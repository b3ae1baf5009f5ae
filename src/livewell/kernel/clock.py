"""Time as the database tells it, so that machines need not agree with each other.

Deciding functions take `p_now` and default it to the server's own clock; Python asks for the time only to show or
compare it. `monotonic()` measures how long something took here and is compared with nothing from elsewhere.
"""

import time
from datetime import datetime, timedelta
from typing import Protocol

from livewell.kernel.database import Caller
from livewell.kernel.queries import QUERIES


class Clock(Protocol):
    """What time it is, and how much of it has passed."""

    async def now(self) -> datetime: ...

    def monotonic(self) -> float: ...


class DatabaseClock:
    """The server's clock."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def now(self) -> datetime:
        now: datetime = await self._caller.fetchval(QUERIES["tell_time"])
        return now

    def monotonic(self) -> float:
        return time.monotonic()


class FixedClock:
    """A clock that moves only when it is told to."""

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._passed = timedelta()

    async def now(self) -> datetime:
        return self._now + self._passed

    def monotonic(self) -> float:
        return self._passed.total_seconds()

    def advance(self, by: timedelta) -> None:
        self._passed += by


def trusted_seconds(lease_seconds: float) -> float:
    """How long a lease is trusted from before its request: all of it but a margin for stopping the work."""
    return lease_seconds - min(1.0, lease_seconds * 0.1)
