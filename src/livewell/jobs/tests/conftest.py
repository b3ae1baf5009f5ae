"""What tests of the queue's SQL start from."""

import pytest_asyncio
from hypothesis import settings

from livewell.jobs.tests.sql_surface import Surface
from livewell.kernel import Database

settings.register_profile("long", max_examples=1000, stateful_step_count=80)


@pytest_asyncio.fixture
async def queue(database: Database) -> Surface:
    """The queue of a database of the test's own, as the service calls it, with the kind `plain` declared."""
    surface = Surface(database)
    await surface.declare("plain")
    return surface
