"""The people of the demonstration stay for as long as it lasts."""

from livewell.app import Livewell
from livewell.demo.market import Crowd, open_market
from livewell.kernel import Database

_FORTY_SECONDS_PASS = "update livewell_private.gateway set last_seen = last_seen - interval '40 seconds'"


async def test_the_crowd_renews_its_sessions(owner_url: str, owner: Database) -> None:
    """Whoever moves about is still there after eighty seconds, though what is not renewed for 45 is gone."""
    async with Livewell(owner_url) as app, open_market(app):
        crowd = Crowd(app)
        await crowd.come()
        await owner.execute(_FORTY_SECONDS_PASS)
        await crowd.move()
        await owner.execute(_FORTY_SECONDS_PASS)
        await owner.fetchval("select livewell_private.task_presence_sweep(clock_timestamp())")
        assert (await app.presence.store.totals()).sessions == crowd.people > 0
        await crowd.leave()
        assert (await app.presence.store.totals()).sessions == 0
