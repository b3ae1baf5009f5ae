"""What tests of live start from: an application with a public type, its API served, and viewers."""

from collections.abc import AsyncIterator

import pytest_asyncio

from livewell.app import Livewell
from livewell.kernel import Database
from livewell.testing import ServedApi, make_type, serving


@pytest_asyncio.fixture
async def app(owner: Database, database_url: str, reader_url: str) -> AsyncIterator[Livewell]:
    """An application with a public type `quote`, whose data is in Livewell's own table."""
    await make_type(owner, "quote", read_rule="public")
    async with Livewell(database_url, reader_url=reader_url) as opened:
        yield opened


@pytest_asyncio.fixture
async def served(app: Livewell) -> AsyncIterator[ServedApi]:
    """Its API, served."""
    async with serving(app) as api:
        yield api
