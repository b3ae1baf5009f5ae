"""What contracts start from."""

import pytest_asyncio

from livewell.jobs.tests.sql_surface import Surface
from livewell.kernel import Database


@pytest_asyncio.fixture
async def queue(owner: Database) -> Surface:
    """The queue, as its owner, with the kind `plain` declared."""
    surface = Surface(owner)
    await surface.declare("plain")
    return surface
