"""The fixtures themselves: what a test is given, and what it leaves behind."""

from livewell.kernel.database import Database


async def test_the_service_login_is_no_superuser_and_owns_nothing(database: Database) -> None:
    """The login of `database` is a member of livewell_service and nothing more."""
    row = await database.fetchrow(
        "select rolsuper, pg_has_role('livewell_service', 'member'), pg_has_role('livewell_owner', 'member')"
        " from pg_roles where rolname = current_user"
    )
    assert row is not None
    assert tuple(row) == (False, True, False)


async def test_owner_and_service_see_the_same_database(database: Database, owner: Database) -> None:
    """`owner` is a superuser on the very database of `database`."""
    name = "select current_database()"
    assert await owner.fetchval(name) == await database.fetchval(name)
    assert await owner.fetchval("select rolsuper from pg_roles where rolname = current_user") is True
