"""Prefetch: what is likely to be looked at soon is fetched ahead, with budget to spare, as long as it pays."""

from datetime import datetime

from livewell.freshness.tests.catalogue import HOUR, NOON, Catalogue
from livewell.freshness.tests.surface import DAY, MINUTE
from livewell.testing import make_type


async def _habit(catalogue: Catalogue, key: str, at: datetime = NOON, *, viewers: int = 5, days: int = 3) -> int:
    """An item that was looked at for an hour on each of the last days, at this time."""
    for day in range(days, 0, -1):
        await catalogue.watch("quote", key, viewers, at - day * DAY)
        await catalogue.run("viewing_hours", at - day * DAY)
        await catalogue.watch("quote", key, -viewers, at - day * DAY + HOUR)
    return await catalogue.item("quote", key, at)


async def test_what_is_looked_at_at_this_hour_is_fetched_ahead(catalogue: Catalogue) -> None:
    """At the hour of its viewers, at priority −2; not at another hour, not what nobody looked at, and not twice."""
    await make_type(catalogue.owner, "quote", ttl=30 * MINUTE)
    await _habit(catalogue, "noon")
    await _habit(catalogue, "evening", NOON + 6 * HOUR)
    await catalogue.item("quote", "never")
    assert await catalogue.run("prefetch", NOON) == {"queued": 1}
    (job,) = await catalogue.jobs()
    assert (job["key"], job["priority"], job["cause"]) == ("noon", -2, "prefetch")
    assert await catalogue.run("prefetch", NOON + MINUTE) == {"queued": 0}


async def test_the_most_for_a_byte_comes_first(catalogue: Catalogue) -> None:
    """Of two equally likely items the smaller one is fetched when there is room for one."""
    await make_type(catalogue.owner, "quote", ttl=30 * MINUTE)
    for key, size in (("large", 50_000), ("small", 1_000)):
        item = await _habit(catalogue, key)
        await catalogue.learn(item, "fetched", NOON - HOUR, size=size)
        await catalogue.fetched("quote", [key], NOON - HOUR)
    await catalogue.set("freshness.prefetch_items", 1)
    await catalogue.run("prefetch", NOON)
    assert [job["key"] for job in await catalogue.jobs()] == ["small"]


async def test_only_with_budget_to_spare(catalogue: Catalogue) -> None:
    """Nothing while the bucket is not nearly full, the quota is low, or somebody waits at the endpoint."""
    await make_type(catalogue.owner, "quote", ttl=30 * MINUTE)
    await _habit(catalogue, "noon")
    owner = catalogue.owner
    await owner.execute("insert into livewell_private.byte_price (provider, bucket_share) values ('sim', 0.79)")
    assert await catalogue.run("prefetch", NOON) == {"queued": 0}
    await owner.execute("update livewell_private.byte_price set bucket_share = 0.9")
    await owner.execute("update livewell_private.provider set quota_bytes = 1000, pace = 'none' where name = 'sim'")
    await owner.execute("insert into livewell_private.quota_hour (provider, hour, bytes) values ('sim', $1, 900)", NOON)
    assert await catalogue.run("prefetch", NOON) == {"queued": 0}
    await owner.execute("delete from livewell_private.quota_hour")
    await catalogue.watch("quote", "somebody")
    await catalogue.run("check", NOON)
    assert await catalogue.run("prefetch", NOON) == {"queued": 0}
    await catalogue.clear_queue()
    assert await catalogue.run("prefetch", NOON) == {"queued": 1}


async def test_what_is_fresh_is_not_fetched_ahead(catalogue: Catalogue) -> None:
    """An item within its TTL is left alone, however likely its viewers are."""
    await make_type(catalogue.owner, "quote", ttl=30 * MINUTE)
    item = await _habit(catalogue, "noon")
    await catalogue.learn(item, "fetched", NOON - MINUTE)
    await catalogue.fetched("quote", ["noon"], NOON - MINUTE)
    assert await catalogue.run("prefetch", NOON) == {"queued": 0}


async def _state(catalogue: Catalogue) -> tuple[bool, float, float]:
    row = await catalogue.owner.fetchrow("select enabled, judged, hits from livewell_private.prefetch_state")
    assert row is not None
    return row["enabled"], row["judged"], row["hits"]


async def test_it_is_judged_by_who_came_in_time(catalogue: Catalogue) -> None:
    """A viewer within the TTL of the fetch is a hit, none a miss; one who came before the fetch says nothing."""
    await make_type(catalogue.owner, "quote", ttl=30 * MINUTE)
    hit, miss, early = [await _habit(catalogue, key) for key in ("hit", "miss", "early")]
    assert await catalogue.run("prefetch", NOON) == {"queued": 3}
    await catalogue.watch("quote", "early", 1, NOON + MINUTE)
    for item in (hit, miss, early):
        await catalogue.learn(item, "fetched", NOON + 2 * MINUTE)
    await catalogue.watch("quote", "hit", 1, NOON + 3 * MINUTE)
    await catalogue.run("prefetch", NOON + 40 * MINUTE)
    assert await _state(catalogue) == (True, 2, 1)


async def test_what_does_not_pay_is_switched_off_and_tried_again(catalogue: Catalogue) -> None:
    """Below the share of hits that is asked for, after enough were judged; warned about, audited, begun anew later."""
    await make_type(catalogue.owner, "quote", ttl=30 * MINUTE)
    await _habit(catalogue, "noon")
    owner = catalogue.owner
    await owner.execute("insert into livewell_private.prefetch_state (provider, judged, hits) values ('sim', 19, 1)")
    assert await catalogue.run("prefetch", NOON) == {"queued": 1}
    await catalogue.clear_queue()
    await owner.execute("delete from livewell_private.prefetch")
    await owner.execute("update livewell_private.prefetch_state set judged = 40, hits = 7")
    assert await catalogue.run("prefetch", NOON + MINUTE) == {"queued": 0}
    assert await catalogue.warnings() == [("freshness.prefetch_off", "sim")]
    assert await _state(catalogue) == (False, 40, 7)
    assert await catalogue.run("prefetch", NOON + DAY + 2 * MINUTE) == {"queued": 1}
    assert await _state(catalogue) == (True, 0, 0)
    switched = await owner.fetch(
        "select detail ->> 'enabled' as enabled from livewell_private.audit_entry where event ="
        " 'prefetch_switched' order by id"
    )
    assert [row["enabled"] for row in switched] == ["false", "true"]


async def test_a_habit_fades(catalogue: Catalogue) -> None:
    """Each day without a viewer at the hour makes the next less likely, until it is not worth a fetch."""
    await make_type(catalogue.owner, "quote", ttl=30 * MINUTE)
    await _habit(catalogue, "noon", viewers=1)
    assert len(await catalogue.owner.fetch("select livewell_private.prefetch_candidates('sim', 10, $1)", NOON)) == 1
    late = NOON + 12 * DAY
    assert await catalogue.owner.fetch("select livewell_private.prefetch_candidates('sim', 10, $1)", late) == []
