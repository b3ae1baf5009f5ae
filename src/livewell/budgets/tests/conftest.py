"""What tests of budgets start from."""

import pytest_asyncio

from livewell.budgets.tests.surface import Budgets
from livewell.kernel import Database


@pytest_asyncio.fixture
async def budgets(database: Database, owner: Database) -> Budgets:
    """The budgets of a database of the test's own, as the service calls them, with the kind `call` declared."""
    surface = Budgets(database, owner)
    await surface.declare("call")
    return surface
