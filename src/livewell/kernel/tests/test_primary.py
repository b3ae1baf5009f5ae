"""What only a primary may do."""

import pytest

from livewell.kernel import Database, DatabaseOptions, NotPermitted, NotPrimary, migrate
from livewell.testing import Standby


async def test_a_primary_passes_the_guard(owner: Database, database: Database) -> None:
    """require_primary() says nothing on a primary, and is for our own functions only."""
    await owner.execute("select livewell_private.require_primary()")
    with pytest.raises(NotPermitted):
        await database.execute("select livewell_private.require_primary()")


@pytest.mark.xdist_group("standby")
async def test_a_replica_does_not(shared_standby: Standby) -> None:
    """On a real streaming standby the guard raises a fact that says where to go; so does migrating."""
    async with await Database.open(DatabaseOptions(url=shared_standby.owner_url)) as replica:
        with pytest.raises(NotPrimary, match="connect to the primary"):
            await replica.execute("select livewell_private.require_primary()")
        with pytest.raises(NotPrimary):
            await replica.execute("create table t (id integer)")


@pytest.mark.xdist_group("standby")
async def test_a_migrated_replica_needs_no_migrating(shared_standby: Standby) -> None:
    """Where nothing is pending migrate changes nothing, so it does not mind a replica."""
    assert (await migrate(shared_standby.owner_url)).steps == ()
