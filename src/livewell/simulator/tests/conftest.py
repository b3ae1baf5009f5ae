"""A pretend provider per test, in the test's own process."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from livewell.simulator import Simulator, SteppedClock
from livewell.simulator.tests.surface import START


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock(START)


@pytest_asyncio.fixture
async def simulator(clock: SteppedClock) -> AsyncIterator[Simulator]:
    async with Simulator(clock=clock) as simulator:
        yield simulator
