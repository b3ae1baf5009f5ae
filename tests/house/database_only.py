"""A pytest plugin (`-p tests.house.database_only`): only tests that use the server under test.

The embedded server has proved the rest once; another version of PostgreSQL can change only what talks to it.
"""

import pytest

_FIXTURES = {"database", "owner", "database_url", "owner_url"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = [item for item in items if _FIXTURES & set(getattr(item, "fixturenames", ()))]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
