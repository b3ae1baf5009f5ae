"""The registry of this test's own database, as its owner sees it, with an endpoint to fetch from."""

import pytest_asyncio

from livewell.kernel import Database
from livewell.registry.tests.surface import Registry
from livewell.testing import make_endpoint


@pytest_asyncio.fixture
async def registry(owner: Database) -> Registry:
    await make_endpoint(owner, "sim/quote")
    return Registry(owner)
