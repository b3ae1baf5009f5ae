"""The schedule of this test's own database, without the shipped tasks."""

import pytest_asyncio

from livewell.kernel import Database
from livewell.schedule.tests.sql_surface import Schedule, only


@pytest_asyncio.fixture
async def schedule(owner: Database, database: Database) -> Schedule:
    await only(owner)
    return Schedule(database)
