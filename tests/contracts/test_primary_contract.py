"""Contract 10: nothing is decided on a replica."""

import pytest

from livewell.kernel import Database, DatabaseOptions, NotPrimary
from livewell.testing import Standby
from tests.contracts.guards import take_away

CLAIM = "select * from livewell.claim_jobs('w1', '{general}')"


@pytest.mark.xdist_group("standby")
async def test_contract_10_primary_only(shared_standby: Standby) -> None:
    """Contract 10: a deciding function asked on a replica refuses, even where it would have nothing to write."""
    await shared_standby.caught_up()
    async with await Database.open(DatabaseOptions(url=shared_standby.owner_url)) as replica:
        with pytest.raises(NotPrimary):
            await replica.fetch(CLAIM)


async def test_contract_10_needs_its_guard(standby: Standby) -> None:
    """Without the guard a replica answers that there is nothing to do, from data of some time ago."""
    async with await Database.open(DatabaseOptions(url=standby.primary.owner_url)) as primary:
        await take_away(primary, "require_primary", "pg_catalog.pg_is_in_recovery()", "false")
    await standby.caught_up()
    async with await Database.open(DatabaseOptions(url=standby.owner_url)) as replica:
        assert await replica.fetch(CLAIM) == []
