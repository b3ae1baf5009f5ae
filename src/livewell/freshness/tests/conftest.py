"""What tests of this room start from."""

import pytest_asyncio

from livewell.freshness.tests.catalogue import Catalogue
from livewell.kernel import Database


@pytest_asyncio.fixture
async def catalogue(owner: Database) -> Catalogue:
    """Types with keys, as their owner."""
    return await Catalogue.of(owner)
