"""What tests of this room start from."""

import pytest

from livewell.freshness.tests.catalogue import Catalogue
from livewell.kernel import Database


@pytest.fixture
def catalogue(owner: Database) -> Catalogue:
    """Types with keys, as their owner."""
    return Catalogue(owner)
