"""The freshness of this test's own database."""

import pytest

from livewell.freshness.tests.surface import Freshness
from livewell.kernel import Database


@pytest.fixture
def freshness(owner: Database) -> Freshness:
    return Freshness(owner)
