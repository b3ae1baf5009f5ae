"""The figures: what viewers see, sampled each minute, published by hour."""

from math import exp
from typing import Any

import pytest

from livewell.freshness import FreshnessStore
from livewell.freshness.tests.catalogue import HOUR, NOON, Catalogue
from livewell.freshness.tests.surface import DAY, MINUTE, SECOND
from livewell.kernel import Database
from livewell.testing import make_type


async def _figures(catalogue: Catalogue, data_type: str | None = "quote", audience: str = "all") -> Any:
    rows = await FreshnessStore(catalogue.owner).freshness_figures(since=NOON, now=NOON + HOUR)
    (found,) = [row for row in rows if (row.data_type, row.audience) == (data_type, audience)]
    return found


async def _seen(catalogue: Catalogue, key: str, viewers: int, age: Any) -> int:
    """An item of the type `quote` that so many have looked at since half an hour, fetched so long ago."""
    item = await catalogue.watch("quote", key, viewers, NOON - 30 * MINUTE)
    if age is not None:
        await catalogue.fetched("quote", [key], NOON - age)
        await catalogue.learn(item, "fetched", NOON - age)
    return item


async def test_shares_are_of_viewer_minutes(catalogue: Catalogue) -> None:
    """Who looks counts, for as long as it was since the last sample; lone viewers are counted apart."""
    await make_type(catalogue.owner, "quote", ttl=10 * MINUTE)
    await _seen(catalogue, "fresh", 3, 2 * MINUTE)
    await _seen(catalogue, "stale", 1, 15 * MINUTE)
    await catalogue.run("freshness_figures", NOON)
    everybody, lone = await _figures(catalogue), await _figures(catalogue, audience="lone")
    assert (everybody.viewer_minutes, everybody.within_ttl) == (4, 0.75)
    assert (lone.viewer_minutes, lone.within_ttl) == (1, 0)
    await catalogue.run("freshness_figures", NOON + 2 * MINUTE)
    assert (await _figures(catalogue)).viewer_minutes == 4 + 2 * 4
    assert (await _figures(catalogue, None)).viewer_minutes == 12
    await catalogue.run("freshness_figures", NOON + 50 * MINUTE)
    assert (await _figures(catalogue)).viewer_minutes == 12 + 5 * 4


async def test_harm_is_what_is_over_its_ttl_and_has_changed(catalogue: Catalogue) -> None:
    """By the learned rate of change under `observed`, by the TTL alone under `contract`; what is missing harms."""
    await make_type(catalogue.owner, "quote", ttl=10 * MINUTE)
    item = await _seen(catalogue, "stale", 1, 15 * MINUTE)
    (rate,) = await catalogue.owner.fetchval("select livewell_private.change_rates(array[$1::bigint], array[10])", item)
    await catalogue.run("freshness_figures", NOON)
    assert (await _figures(catalogue)).ok == pytest.approx(exp(-15 * rate))
    assert (await _figures(catalogue)).fresh == pytest.approx(exp(-15 * rate))
    await catalogue.owner.execute("update livewell_private.data_type set value_rule = 'contract'")
    await catalogue.owner.execute("delete from livewell_private.freshness_hour")
    await catalogue.run("freshness_figures", NOON + MINUTE)
    assert (await _figures(catalogue)).ok == 0
    await catalogue.owner.execute("delete from livewell_private.freshness_hour")
    await catalogue.watch("quote", "stale", -1, NOON + MINUTE)
    await catalogue.watch("quote", "missing", 1, NOON + MINUTE)
    await catalogue.run("freshness_figures", NOON + 2 * MINUTE)
    figures = await _figures(catalogue)
    assert (figures.ok, figures.fresh, figures.w50, figures.overdue50) == (0, 0, 1, None)


async def test_waits_are_times_of_watching_stale_data(catalogue: Catalogue) -> None:
    """From when it became stale or was first looked at; overdue is how far it is over its TTL, whoever looks."""
    await make_type(catalogue.owner, "quote", ttl=10 * MINUTE)
    await _seen(catalogue, "fresh", 90, MINUTE)
    await _seen(catalogue, "just", 5, 14 * MINUTE)
    await _seen(catalogue, "long", 5, 10 * HOUR)
    await catalogue.run("freshness_figures", NOON)
    figures = await _figures(catalogue)
    assert (figures.w50, figures.w99) == (0, 30)
    assert (figures.overdue50, figures.overdue99) == (0, 1440)
    quantile = "select livewell.wait_quantile($1, $2)"
    weights = [90.0, 0, 0, 0, 0, 0, 5, 5]
    assert [await catalogue.owner.fetchval(quantile, weights, share) for share in (0.9, 0.91, 0.96)] == [0, 4, 5]


async def test_the_rate_of_change_is_the_one_that_decides(catalogue: Catalogue) -> None:
    """The rate that figures and explanations use is the one the value policy scores by."""
    await make_type(catalogue.owner, "quote", ttl=10 * MINUTE)
    item = await _seen(catalogue, "a", 2, 15 * MINUTE)
    await catalogue.learn(item, "fetched", NOON - 4 * MINUTE, content=b"b")
    await catalogue.owner.execute("select livewell_private.fold_learning()")
    await catalogue.owner.execute("update livewell_private.provider set policy = 'value' where name = 'sim'")
    now = NOON + 20 * MINUTE
    (explained,) = await FreshnessStore(catalogue.owner).explain_item("quote", "a", now=now)
    (score,) = await catalogue.owner.fetchval(
        "select livewell_private.score_items('{35}', '{10}', '{2}', array[$1::float8], array[$2::float8],"
        " array[$3::float8],"
        " array[$3::float8], '{25}', '{observed}', '{0}', 12)",
        explained.viewers_average,
        explained.change_rate,
        explained.bytes,
    )
    assert explained.score == pytest.approx(score)


async def test_fetches_are_counted_once(catalogue: Catalogue) -> None:
    """How many fetches found nothing new is of those since the last run, in the hour they were counted."""
    await make_type(catalogue.owner, "quote", ttl=10 * MINUTE)
    item = await catalogue.item("quote", "a")
    for minute, content in enumerate([b"a", b"a", b"b", b"b", b"b"]):
        await catalogue.learn(item, "fetched", NOON + minute * MINUTE, content=content)
    for minute in (5, 6):
        await catalogue.owner.execute("select livewell_private.fold_learning()")
        await catalogue.run("freshness_figures", NOON + minute * MINUTE)
    figures = await _figures(catalogue)
    assert (figures.fetches, figures.unchanged) == (4, 0.75)


async def test_many_watched_items_are_sampled(catalogue: Catalogue) -> None:
    """Of more items than the setting a random part stands for all of them."""
    await make_type(catalogue.owner, "quote", ttl=DAY)
    await catalogue.owner.execute(
        "insert into livewell_private.item (data_type, key, viewers, due_at, watched_since, expires_at)"
        " select 'quote', 'k' || n, 1, $1::timestamptz, $1, $1::timestamptz + sign(n % 4 - 0.5) * interval '1 hour'"
        " from generate_series(1, 20000) as n",
        NOON,
    )
    await catalogue.set("freshness.figures_items", 4000)
    answer = await catalogue.run("freshness_figures", NOON)
    assert 2000 < answer["items"] < 6000
    figures = await _figures(catalogue)
    assert figures.viewer_minutes == pytest.approx(20000, rel=0.5)
    assert figures.within_ttl == pytest.approx(0.75, abs=0.05)


async def test_old_figures_are_dropped(catalogue: Catalogue) -> None:
    """Retention drops hours older than the setting, and those alone."""
    await make_type(catalogue.owner, "quote")
    await catalogue.owner.execute(
        "insert into livewell_private.freshness_hour (hour, data_type, audience)"
        " select $1::timestamptz - d * interval '1 day', 'quote', 'all' from generate_series(0, 100, 10) as d",
        NOON,
    )
    assert await catalogue.run("freshness_retention", NOON + SECOND) == {"dropped": 2}


async def test_the_view_is_for_programs(catalogue: Catalogue, database: Database) -> None:
    """A service reads the figures by hour, the policies and the aggregate without any right on tables."""
    await make_type(catalogue.owner, "quote")
    await catalogue.watch("quote", "a")
    await catalogue.run("freshness_figures", NOON)
    store = FreshnessStore(database)
    (hour,) = await store.freshness_hours(since=NOON)
    assert (hour.hour, hour.data_type, hour.viewer_minutes, hour.ok) == (NOON, "quote", 1, 0)
    (policy,) = await store.refresh_policies()
    assert (policy.provider, policy.policy, policy.price) == ("sim", "viewers", None)
    assert len(await store.freshness_figures(since=NOON, now=NOON + HOUR)) == 4


async def test_what_is_watched_at_this_moment(catalogue: Catalogue) -> None:
    """By type: items and viewers, those within their TTL, those missing, the oldest data, and what went wrong last."""
    await make_type(catalogue.owner, "quote", ttl=10 * MINUTE)
    await make_type(catalogue.owner, "profile", ttl=DAY)
    await _seen(catalogue, "fresh", 3, 2 * MINUTE)
    stale = await _seen(catalogue, "stale", 1, 15 * MINUTE)
    await catalogue.learn(stale, "refused", NOON)
    await _seen(catalogue, "missing", 2, None)
    await catalogue.owner.fetchval("select livewell_private.make_items('{profile}', '{nobody}', $1)", NOON)
    (quote,) = await FreshnessStore(catalogue.owner).freshness_now(now=NOON)
    assert (quote.data_type, quote.items, quote.viewers) == ("quote", 3, 6)
    assert (quote.within_ttl, quote.viewers_within_ttl, quote.missing) == (1, 3, 1)
    assert (quote.oldest, quote.refused, quote.failed) == (15 * MINUTE, 1, 0)
