"""`livewell explain` says what a person wants to know: what happened, why, what is next, and what holds it back."""

import re
from datetime import UTC, datetime, timedelta

from livewell.cli.explain import lines
from livewell.freshness import FreshnessStore
from livewell.kernel import Database
from livewell.testing import make_type

MINUTE = timedelta(minutes=1)


async def _said(owner: Database, now: datetime) -> str:
    (item,) = await FreshnessStore(owner).explain_item("quote", "AAPL", now=now)
    return "\n".join(lines(item, now))


async def test_a_refresh_that_fails_is_explained_until_it_is_good(owner: Database) -> None:
    """The last outcome with its reason, the attempt that is next, what holds it back; after the end the next try."""
    await make_type(owner, "quote", ttl=MINUTE, endpoint="sim/quote")
    now = datetime.now(UTC)
    await owner.execute(
        "select livewell_private.change_viewers(array[item_id], '{1}', $1) from"
        " livewell_private.make_items('{quote}', '{AAPL}', $1)",
        now,
    )
    await owner.execute("select livewell_private.task_check($1)", now)
    said = await _said(owner, now)
    assert "never fetched" in said
    assert "no worker runs refreshes of quote" in said
    for attempt in range(2):
        now += 10 * MINUTE
        await owner.execute("select livewell.register_worker('w', '{refresh}', '{refresh.quote}', 1, $1)", now)
        await owner.execute("update livewell_private.job_live set retries = $1", 1 - attempt)
        await owner.execute(
            "select livewell.store_fetches(jsonb_agg(c.payload || jsonb_build_object("
            "'job', c.job_id, 'token', c.lease_token, 'outcome', 'failed', 'reason', 'unauthorized',"
            " 'message', 'HTTP 401: the API key is not accepted')), $1)"
            " from livewell.claim_jobs('w', '{refresh}', 1, p_now => $1) as c",
            now,
        )
        said = await _said(owner, now)
        assert "failed, " in said
        assert ": HTTP 401: the API key is not accepted" in said
        assert len(re.findall(r"job \d+ failed, .* after 0 s by w: HTTP 401", said)) == attempt + 1
        assert ("is retrying after 1 attempt at priority 1 (missing), due" in said) == (attempt == 0)
    assert "next      tried again" in said
    await owner.execute("select livewell.pause_endpoint('sim/quote', $1, 'key revoked')", now + MINUTE)
    assert "blocked   sim/quote takes no calls: key revoked, until " in await _said(owner, now)
