"""Waiting for whichever comes first."""

import asyncio
from contextlib import suppress


async def wait_for_any(*signals: "asyncio.Event | asyncio.Task[None]", timeout: float | None = None) -> None:
    """Return when one of the events is set, one of the tasks is done, or the time is up."""
    if any(signal.is_set() if isinstance(signal, asyncio.Event) else signal.done() for signal in signals):
        return
    waits = [asyncio.ensure_future(signal.wait()) for signal in signals if isinstance(signal, asyncio.Event)]
    tasks = [signal for signal in signals if isinstance(signal, asyncio.Task)]
    try:
        await asyncio.wait([*waits, *tasks], timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        for wait in waits:
            with suppress(asyncio.CancelledError):
                await wait
