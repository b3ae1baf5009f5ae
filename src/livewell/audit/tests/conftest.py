"""What the audit tests share."""

import pytest

from livewell.audit import AuditStore
from livewell.kernel import Database


@pytest.fixture
def store(database: Database) -> AuditStore:
    """The log as the service reaches it."""
    return AuditStore(database)
