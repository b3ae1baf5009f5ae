"""Readers on this test's own database, and types with a value each."""

from collections.abc import AsyncIterator

import pytest_asyncio

from livewell.access import Readers
from livewell.kernel import Database


@pytest_asyncio.fixture
async def readers(database: Database, reader_url: str) -> AsyncIterator[Readers]:
    async with Readers.open(database, reader_url) as opened:
        yield opened
