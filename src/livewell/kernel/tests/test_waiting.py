"""Waiting for whichever comes first."""

import asyncio

import pytest

from livewell.kernel import wait_for_any


@pytest.mark.parametrize("turns", range(10))
async def test_a_cancellation_is_never_swallowed(turns: int) -> None:
    """Whatever step of its waiting a caller is cancelled in, it is cancelled."""

    async def keep_waiting() -> None:
        while True:
            await wait_for_any(asyncio.Event(), timeout=0)

    waiting = asyncio.create_task(keep_waiting())
    for _ in range(turns):
        await asyncio.sleep(0)
    waiting.cancel()
    for _ in range(20):
        await asyncio.sleep(0)
    assert waiting.cancelled()
