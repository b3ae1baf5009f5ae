"""Waiting for a condition, with a bound; the only way a test lets time pass."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta

_PAUSE = 0.01


async def until(
    condition: Callable[[], Awaitable[object]], what: str, *, within: timedelta = timedelta(seconds=30)
) -> None:
    """Return as soon as the condition holds; fail, saying what was waited for, when it does not in time."""
    deadline = time.monotonic() + within.total_seconds()
    while not await condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {within} in vain until {what}")
        await asyncio.sleep(_PAUSE)
