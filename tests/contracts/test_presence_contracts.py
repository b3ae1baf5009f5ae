"""Contract 7: analytics on subscriptions are batch work, never on the hot path; shown to fail where they are."""

import pytest

from livewell.kernel import Connection, Database
from livewell.presence.tests.surface import MINUTE, NOON, SECOND, PresenceSql
from tests.contracts.guards import session, take_away

PRESENCE = {"gateway", "session", "subscription", "viewer", "item"}
QUEUE = {"job_live", "job_lane", "job_done_default"}
WRITTEN = """
select relname from pg_stat_xact_user_tables
where schemaname = 'livewell_private' and n_tup_ins + n_tup_upd + n_tup_del > 0
"""
HOT_WRITE = """
insert into livewell_private.subscription_hour
select distinct date_trunc('hour', p_now), i.data_type, 1, 1, 1, 1, 1, 1, 1 from livewell_private.item as i
on conflict (hour, data_type) do update set viewers_sum = subscription_hour.viewers_sum + 1;
"""


async def _written(connection: Connection, presence: PresenceSql, step: str) -> set[str]:
    """The tables that one call writes; what was written before is told to the server first."""
    await connection.execute("select pg_stat_force_next_flush()")
    async with connection.transaction():
        match step:
            case "open":
                await presence.open((1, "anna"), (2, "bert"), gateway="g")
            case "subscribe":
                await presence.subscribe((1, "A"), (2, "A"), (2, "B"))
            case "renew":
                await presence.renew_gateway("g", NOON + SECOND)
            case "unsubscribe":
                await presence.unsubscribe((1, "A"))
            case _:
                await presence.close(1, 2)
        return {row["relname"] for row in await connection.fetch(WRITTEN)}


async def _hot_path_is_bare(url: str, owner: Database) -> None:
    """Each call of a client writes presence and items only; a refresh found needed, or needed by nobody any more, is a
    job, and no figure is kept.
    """
    async with session(url) as one:
        presence = PresenceSql(one, one)
        await PresenceSql(owner, owner).quote()
        for step in ("open", "subscribe", "renew", "unsubscribe", "close"):
            written = await _written(one, presence, step)
            assert written, f"{step} wrote nothing: the contract looks at the wrong place"
            assert written <= PRESENCE | (QUEUE if step in {"subscribe", "unsubscribe", "close"} else set()), step
        await one.execute("update livewell_private.item set expires_at = $1", NOON + MINUTE)
        await _written(one, presence, "open")
        assert await _written(one, presence, "subscribe") <= PRESENCE


async def test_contract_7_analytics_stay_off_the_hot_path(owner: Database, owner_url: str) -> None:
    """Contract 7: opening, subscribing, renewing, unsubscribing and closing keep no figures; a task samples them."""
    await _hot_path_is_bare(owner_url, owner)
    presence = PresenceSql(owner, owner)
    assert (await presence.task("presence_hours"))["types"] == 1
    assert await owner.fetchval("select count(*) from livewell_private.subscription_hour") == 1


@pytest.mark.parametrize("function", ["subscribe", "unsubscribe"])
async def test_contract_7_notices_a_hot_write(owner: Database, owner_url: str, function: str) -> None:
    """A figure that is kept while somebody comes or goes is found."""
    guard = "perform livewell_private.change_viewers"
    await take_away(owner, function, guard, f"{HOT_WRITE} {guard}")
    with pytest.raises(AssertionError):
        await _hot_path_is_bare(owner_url, owner)
