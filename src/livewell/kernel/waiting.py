"""Waiting for whichever comes first."""

import asyncio


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
        # Not each with its CancelledError suppressed: that could be the caller's own.
        await asyncio.gather(*waits, return_exceptions=True)
