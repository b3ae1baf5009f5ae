"""Presence of this test's own database, with one data type."""

import pytest_asyncio

from livewell.kernel import Database
from livewell.presence.tests.surface import PresenceSql


@pytest_asyncio.fixture
async def presence(owner: Database, database: Database) -> PresenceSql:
    found = PresenceSql(database, owner)
    await found.quote()
    return found
