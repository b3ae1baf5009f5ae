"""What tests of storing start from."""

import pytest

from livewell.fetching.tests.storing_surface import Storing
from livewell.kernel import Database


@pytest.fixture
def storing(owner: Database) -> Storing:
    return Storing(owner)
