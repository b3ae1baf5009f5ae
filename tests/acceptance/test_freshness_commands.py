"""`livewell explain` and `livewell freshness` as an operator runs them."""

import asyncio
import signal
from datetime import UTC, datetime, timedelta

from livewell.kernel import Database
from livewell.testing import make_type
from tests.acceptance.command import Cli

MINUTE = timedelta(minutes=1)


async def _watched(owner: Database, data_type: str, key: str, *, viewers: int, age: timedelta | None) -> int:
    """An item that so many look at, whose data is so old."""
    now = datetime.now(UTC)
    item = int(
        await owner.fetchval(
            "select item_id from livewell_private.make_items(array[$1], array[$2], $3)", data_type, key, now
        )
    )
    await owner.execute(
        "select livewell_private.change_viewers(array[$1::bigint], array[$2::integer], $3)", item, viewers, now
    )
    if age is not None:
        await owner.execute(
            "insert into livewell_private.record (data_type, key, value, fetched_at) values ($1, $2, '{}', $3)",
            data_type,
            key,
            now - age,
        )
    return item


async def test_explain_says_why_an_item_is_as_it_is(cli: Cli, owner: Database) -> None:
    """In sentences: viewers, age, gate, what was learned, what was decided, and the refresh that waits."""
    await make_type(owner, "quote", ttl=MINUTE)
    await _watched(owner, "quote", "AAPL", viewers=3, age=5 * MINUTE)
    shown = (await cli("explain", "quote", "AAPL")).out
    assert "quote AAPL is stale, and its refresh would be queued." in shown
    assert "3 viewers since" in shown
    assert "5 min" in shown
    assert "never looked at" in shown
    assert "changes about every" in shown
    await owner.execute("select livewell_private.task_check(clock_timestamp())")
    quote = (await cli("explain", "quote", "AAPL", "--json")).json
    assert (quote["viewers"], quote["ttl"], quote["decision"], quote["job_state"]) == (3, "PT1M", "queued", "pending")


async def test_explain_says_when_there_is_nothing(cli: Cli, owner: Database) -> None:
    """A key nobody looked at and a type that is not there are facts, not empty tables."""
    await make_type(owner, "quote")
    assert "[cli.nothing_watched]" in (await cli("explain", "quote", "MSFT", code=1)).err
    assert "[registry.unknown_type]" in (await cli("explain", "news", "MSFT", code=1)).err


async def test_freshness_shows_what_viewers_saw(cli: Cli, owner: Database) -> None:
    """A line per type for this moment, one per type and for all with a bar for each hour; policies and prices."""
    await make_type(owner, "quote", ttl=10 * MINUTE)
    await make_type(owner, "profile")
    item = await _watched(owner, "quote", "AAPL", viewers=4, age=None)
    await owner.execute(
        "select livewell_private.end_refreshes("
        " array[(null, $1::bigint, 'fetched', null, null, 1000, null, null)::livewell_private.ended_refresh],"
        " clock_timestamp())",
        item,
    )
    await owner.execute("select livewell_private.task_freshness_figures(clock_timestamp())")
    assert "PROVIDER" not in (await cli("freshness", "--hours", "4")).out
    lines = (await cli("freshness", "--hours", "4", "--wide")).out.splitlines()
    now, quote = [line for line in lines if line.startswith("quote")]
    assert now.split()[1:6] == ["1", "4", "100", "%", "0"]
    assert next(line for line in lines if line.startswith("profile")).split()[1:3] == ["0", "0"]
    assert "100 %" in quote
    assert quote.rstrip().endswith("···█")
    assert any(line.startswith("all") for line in lines)
    assert any(line.startswith("sim") and "viewers" in line for line in lines)
    document = (await cli("freshness", "--json")).json
    assert document["figures"][0]["viewer_minutes"] == 4
    assert (document["types"], document["now"][0]["viewers"]) == (["profile", "quote"], 4)
    assert [hour["data_type"] for hour in document["hours"]] == ["quote"]


async def test_freshness_is_shown_again_until_interrupted(cli: Cli) -> None:
    """`--watch` goes on until Ctrl-C, and is not for machines."""
    assert "[cli.misused]" in (await cli("freshness", "--watch", "--json", code=2)).err
    async with cli.running("freshness", "--watch") as process:
        assert process.inner.stdout is not None
        async with asyncio.timeout(60):
            assert b"TYPE" in await process.inner.stdout.readline()
        process.send(signal.SIGINT)
        assert await process.ended() == 130
