"""The freshness of this test's own database."""

import pytest

from livewell.freshness.tests.catalogue import Catalogue
from livewell.freshness.tests.surface import Freshness
from livewell.kernel import Database


@pytest.fixture
def freshness(owner: Database) -> Freshness:
    return Freshness(owner)


@pytest.fixture
def catalogue(owner: Database) -> Catalogue:
    """Types with keys, as their owner."""
    return Catalogue(owner)
