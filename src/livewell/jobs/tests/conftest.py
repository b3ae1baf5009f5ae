"""What tests of the queue's SQL start from."""

import pytest_asyncio

from livewell.jobs.tests.sql_surface import Surface
from livewell.kernel import Database
from livewell.testing import make_endpoint


@pytest_asyncio.fixture
async def queue(database: Database, owner: Database) -> Surface:
    """The queue of a database of the test's own, as the service calls it, with the kind `plain` and some endpoints."""
    surface = Surface(database)
    for endpoint in ("e", "e0", "e1", "e2", "a", "b", "known", "new", "quotes"):
        await make_endpoint(owner, endpoint)
    await surface.declare("plain")
    return surface
