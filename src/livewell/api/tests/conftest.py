"""What tests of the API start from: an application on the test's database, and its address."""

from collections.abc import AsyncIterator

import pytest_asyncio

from livewell.app import Livewell


@pytest_asyncio.fixture
async def app(database_url: str, reader_url: str) -> AsyncIterator[Livewell]:
    """An application that is open."""
    async with Livewell(database_url, reader_url=reader_url) as opened:
        yield opened
