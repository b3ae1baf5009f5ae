"""How a limiter is measured: how many grants a second, and the most in one minute under saturation.

As in `protocol`, only the standard library is used: the peers import this inside environments of their own.
"""

import asyncio
import json
import os
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

WINDOW = 60.0
ASK_EVERY = 0.02

Grant = Callable[[], Awaitable[bool]]


@dataclass(frozen=True, kw_only=True)
class LimiterPlan:
    """How long each figure is measured, and the limit of the window."""

    dsn: str
    rate_seconds: float
    window_seconds: float
    limit: int
    settings: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_environment(cls) -> "LimiterPlan":
        return cls(dsn=os.environ["BENCH_DSN"], **json.loads(os.environ["BENCH_PLAN"]))


async def grants_per_second(grant: Grant, seconds: float) -> float:
    """One after the other, with no limit in the way."""
    granted, started = 0, time.perf_counter()
    while (now := time.perf_counter()) < started + seconds:
        if not await grant():
            raise RuntimeError("refused where nothing limits")
        granted += 1
    return granted / (now - started)


async def worst_window(grant: Grant, seconds: float) -> int:
    """The most granted within one minute while asking all the time; starts late in a minute of the clock.

    Limiters that count by the minutes of the clock show what they do at its edges only if a burst falls before one.
    """
    await asyncio.sleep((WINDOW - 5.0 - time.time()) % WINDOW)
    recent: deque[float] = deque()
    most, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        if await grant():
            recent.append(time.monotonic())
            while recent[0] <= recent[-1] - WINDOW:
                recent.popleft()
            most = max(most, len(recent))
        else:
            await asyncio.sleep(ASK_EVERY)
    return most
