"""Samples: watched items drawn at random for an estimate that the scheduler's own choice does not bend."""

from datetime import datetime
from math import sqrt

import pytest

from livewell.freshness import FreshnessStore
from livewell.freshness.tests.catalogue import HOUR, NOON, Catalogue
from livewell.freshness.tests.surface import DAY, MINUTE
from livewell.testing import make_type


async def _called(catalogue: Catalogue, calls: int, now: datetime = NOON) -> None:
    """So many calls went to the provider in this hour, of a hundred bytes each."""
    await catalogue.owner.execute(
        "insert into livewell_private.quota_hour as h (provider, hour, requests, bytes)"
        " values ('sim', date_trunc('hour', $1, 'UTC'), $2, $3) on conflict (provider, hour)"
        " do update set requests = h.requests + excluded.requests, bytes = h.bytes + excluded.bytes",
        now,
        calls,
        100 * calls,
    )


async def _watched(catalogue: Catalogue, keys: int, viewers: int = 1, ttl_age: datetime = NOON) -> list[int]:
    """Items of 1,000 bytes each, fetched then."""
    items = []
    for number in range(keys):
        item = await catalogue.watch("quote", f"k{number}", viewers, NOON)
        await catalogue.learn(item, "fetched", ttl_age)
        items.append(item)
    return items


async def test_a_share_of_the_calls_goes_to_samples(catalogue: Catalogue) -> None:
    """One in two hundred, whatever the age and the size of what is drawn; what is not a whole call yet waits."""
    await make_type(catalogue.owner, "quote", ttl=DAY)
    await _watched(catalogue, 10)
    assert await catalogue.run("freshness_samples", NOON) == {"drawn": 0}
    await _called(catalogue, 700)
    assert await catalogue.run("freshness_samples", NOON + MINUTE) == {"drawn": 3}
    assert {(job["priority"], job["cause"]) for job in await catalogue.jobs()} == {(1, "sample")}
    await _called(catalogue, 99)
    assert await catalogue.run("freshness_samples", NOON + 2 * MINUTE) == {"drawn": 0}
    await _called(catalogue, 1)
    assert await catalogue.run("freshness_samples", NOON + 2 * MINUTE) == {"drawn": 1}
    assert await catalogue.run("freshness_samples", NOON + 3 * MINUTE) == {"drawn": 0}
    await catalogue.set("freshness.sample_share", 0)
    await _called(catalogue, 700)
    assert await catalogue.run("freshness_samples", NOON + 4 * MINUTE) == {"drawn": 0}


async def test_the_credit_goes_on_over_the_hour(catalogue: Catalogue) -> None:
    """What the ledger grew by is counted once, also when the hour has turned between."""
    await make_type(catalogue.owner, "quote", ttl=DAY)
    await _watched(catalogue, 10)
    await _called(catalogue, 400)
    await catalogue.run("freshness_samples", NOON)
    await _called(catalogue, 200)
    await _called(catalogue, 200, NOON + HOUR)
    assert await catalogue.run("freshness_samples", NOON + HOUR) == {"drawn": 2}


@pytest.mark.parametrize(("items", "calls"), [(4, 1), (4, 20), (4, 300), (300, 20_000)])
async def test_a_day_of_samples_costs_less_than_half_a_percent(catalogue: Catalogue, items: int, calls: int) -> None:
    """At every moment, however few items there are and however quickly they are answered; and some are made."""
    await make_type(catalogue.owner, "quote", ttl=DAY)
    await _watched(catalogue, items)
    await catalogue.run("freshness_samples", NOON)
    called = drawn = 0
    for step in range(96):
        now = NOON + step * 15 * MINUTE
        await _called(catalogue, calls, now)
        called += calls
        drawn += (await catalogue.run("freshness_samples", now + MINUTE))["drawn"]
        assert drawn <= 0.005 * called
        await catalogue.owner.execute("delete from livewell_private.sample")
        await catalogue.clear_queue()
    reachable = min(0.005 * called, 96 * min(items, 100))
    assert drawn >= 0.8 * int(reachable)


async def test_each_viewer_is_as_likely_as_any_other(catalogue: Catalogue) -> None:
    """An item with nine viewers is drawn nine times as often as one with one; what nobody watches is never drawn."""
    await make_type(catalogue.owner, "quote", ttl=DAY)
    many, one, none = await _watched(catalogue, 3)
    await catalogue.watch("quote", "k0", 8)
    await catalogue.watch("quote", "k2", -1)
    drawn = []
    async with catalogue.owner.connection() as connection, connection.transaction():
        await connection.execute("select setseed(0.5)")
        for _ in range(200):
            await connection.execute("select livewell_private.draw_samples('sim', 1, $1)", NOON)
            drawn.append(await connection.fetchval("delete from livewell_private.sample returning item_id"))
    assert none not in drawn
    assert 160 < drawn.count(many) < 195
    assert drawn.count(one) == 200 - drawn.count(many)


async def test_samples_tell_what_viewers_saw(catalogue: Catalogue) -> None:
    """Fresh is what had not changed, OK what had not or was within its TTL; with the standard error of so many."""
    await make_type(catalogue.owner, "quote", ttl=10 * MINUTE)
    items = await _watched(catalogue, 4)
    await catalogue.watch("quote", "missing")
    await catalogue.owner.execute("select livewell_private.draw_samples('sim', 1000000, $1)", NOON + MINUTE)
    await catalogue.learn(items[0], "unchanged", NOON + 2 * MINUTE)
    await catalogue.learn(items[1], "fetched", NOON + 2 * MINUTE, content=b"a")
    await catalogue.learn(items[2], "fetched", NOON + 2 * MINUTE, content=b"b")
    await catalogue.learn(items[3], "failed", NOON + 2 * MINUTE)
    await catalogue.learn(items[3], "fetched", NOON + 20 * MINUTE, content=b"b")
    await catalogue.learn(items[3], "fetched", NOON + 21 * MINUTE, content=b"c")
    await catalogue.run("freshness_figures", NOON + 22 * MINUTE)
    (figures,) = [
        freshness_figure
        for freshness_figure in await FreshnessStore(catalogue.owner).freshness_figures(since=NOON, now=NOON + HOUR)
        if (freshness_figure.data_type, freshness_figure.audience) == ("quote", "all")
    ]
    assert (figures.samples, figures.samples_fresh, figures.samples_ok) == (5, 0.4, 0.6)
    assert figures.samples_fresh_error == pytest.approx(sqrt(0.4 * 0.6 / 5))


async def test_a_sample_nobody_answers_is_forgotten(catalogue: Catalogue) -> None:
    """After an hour the item may be drawn again, and a later fetch is not taken for the sample's."""
    await make_type(catalogue.owner, "quote", ttl=DAY)
    (item,) = await _watched(catalogue, 1)
    await catalogue.owner.execute("select livewell_private.draw_samples('sim', 1, $1)", NOON)
    assert await catalogue.owner.fetchval("select livewell_private.draw_samples('sim', 1, $1)", NOON) == 0
    await catalogue.run("freshness_figures", NOON + HOUR + MINUTE)
    await catalogue.learn(item, "unchanged", NOON + HOUR + 2 * MINUTE)
    assert await catalogue.owner.fetchval("select count(*) from livewell_private.sample_result") == 0
    assert await catalogue.owner.fetchval("select livewell_private.draw_samples('sim', 1, $1)", NOON) == 1


async def test_a_closed_quota_and_a_closed_gate_draw_nothing(catalogue: Catalogue) -> None:
    """Samples obey the quota, and a source that stands still says nothing."""
    await catalogue.owner.execute("""
        create function public.shut(p_keys text[], p_now timestamptz)
        returns table (key text, open boolean, opens_at timestamptz)
        language sql as $$ select k, false, null::timestamptz from unnest(p_keys) as k $$;
        grant execute on function public.shut to livewell_reader;
    """)
    await make_type(catalogue.owner, "quote", ttl=DAY, gate="public.shut")
    await _watched(catalogue, 2)
    assert await catalogue.owner.fetchval("select livewell_private.draw_samples('sim', 1000000, $1)", NOON) == 0
    await catalogue.owner.execute("update livewell_private.data_type set gate = 'always'")
    await catalogue.run("freshness_samples", NOON)
    await _called(catalogue, 600)
    await catalogue.owner.execute(
        "update livewell_private.provider set quota_bytes = 60000, pace = 'none' where name = 'sim'"
    )
    assert await catalogue.run("freshness_samples", NOON + MINUTE) == {"drawn": 0}
    assert await catalogue.jobs() == []
