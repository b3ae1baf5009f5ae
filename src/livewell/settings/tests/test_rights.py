"""Who may do what with settings."""

import asyncpg
import pytest

from livewell.kernel import Database, NotPermitted
from livewell.testing import connected

FUNCTIONS = ["get_settings()", "set_setting('worker.timeout', '1 hour')", "setting_boolean('maintenance.enabled')"]


DEEDS = [
    "select from livewell_private.setting",
    "update livewell_private.setting set value = '1'",
    "insert into livewell_private.setting (name) values ('a.b')",
    "delete from livewell_private.setting",
    "select livewell_private.normalise_setting('text', '')",
]


async def test_the_service_reaches_settings_by_functions_only(database: Database) -> None:
    """The service has no right on the table, nor on what the functions are made of."""
    for deed in DEEDS:
        with pytest.raises(NotPermitted):
            await database.fetch(deed)


@pytest.mark.parametrize("role", ["livewell_user", "livewell_anon"])
async def test_users_neither_read_nor_change_settings(owner_url: str, role: str) -> None:
    """No function and no view of this room is for a user."""
    async with connected(owner_url) as connection:
        await connection.execute(f"set role {role}")
        for statement in ("select * from livewell.settings", *(f"select livewell.{call}" for call in FUNCTIONS)):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetch(statement)
