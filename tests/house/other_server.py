"""A pytest plugin (`-p tests.house.other_server`): the tests whose outcome another PostgreSQL could change.

Those that call the SQL functions themselves, the migrator and the driver, the contracts, the attacks, and what asks the
catalogue or the planner. Whatever stands on these (worker, command line, manual) was proved on the embedded server and
has nothing of its own to say to another one. Properties are tried there, quickly, too.
"""

from pathlib import Path

import pytest

_FIXTURES = {"database", "owner", "database_url", "owner_url", "empty_owner_url", "shared_server"}
_FOLDERS = {"tests/contracts", "tests/security", "src/livewell/kernel/tests"}
_FILES = {"test_database.py", "test_query_plans.py"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = [item for item in items if _can_differ(item, config.rootpath)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen


def _can_differ(item: pytest.Item, root: Path) -> bool:
    if not _FIXTURES & set(getattr(item, "fixturenames", ())):
        return False
    place = item.path.relative_to(root)
    return place.name.startswith("test_sql_") or place.name in _FILES or place.parent.as_posix() in _FOLDERS
