"""The long replays stand for the SQL engine: the pure policy and the functions answer alike."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.replay import policy
from benchmarks.replay.engine import Course, replay_engine
from benchmarks.replay.learning import Learning
from benchmarks.replay.policy import Price, Stale, score_items
from benchmarks.replay.pure import Rules, replay
from benchmarks.replay.world import OFFERS, make_world, smaller
from livewell.kernel import Database
from livewell.testing import effort, make_endpoint, make_type

NOON = datetime(2030, 1, 15, 12, tzinfo=UTC)
SCORE = "select livewell_private.score_items($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"


def _number(least: float, most: float) -> st.SearchStrategy[float]:
    """Numbers of any magnitude between two positive ones."""
    return st.floats(math.log(least), math.log(most)).map(math.exp)


@st.composite
def _rows(draw: st.DrawFn) -> tuple[float | None, float, int, float, float, float, float, float, str]:
    """An item as it is scored: stale or missing, hot or cold, small or large."""
    ttl = draw(_number(0.1, 50_000))
    age = draw(st.none() | st.floats(1, 1000).map(lambda times: ttl * times))
    rate = draw(_number(policy.LEAST_CHANGES, 100)) / ttl
    size = draw(_number(100, 1e7))
    return (
        age,
        ttl,
        draw(st.integers(0, 100_000)),
        draw(st.just(0.0) | _number(1e-3, 1e4)),
        rate,
        size,
        draw(st.just(size) | st.just(300.0)),
        draw(st.just(0.0) | _number(0.01, 1e5)),
        draw(st.sampled_from(["observed", "contract"])),
    )


def _pure(
    rows: list[tuple[float | None, float, int, float, float, float, float, float, str]], price: float
) -> list[float]:
    age, ttl, viewers, average, rate, size, unchanged, wait, rule = zip(*rows, strict=True)
    stale = Stale(
        age=np.array([math.inf if each is None else each for each in age]),
        ttl=np.array(ttl),
        viewers=np.array(viewers, dtype=float),
        average=np.array(average),
        rate=np.array(rate),
        size=np.array(size),
        unchanged_size=np.array(unchanged),
        wait=np.array(wait),
        contract=np.array([each == "contract" for each in rule]),
    )
    return list(score_items(stale, price))


@effort(60)
@given(rows=st.lists(_rows(), min_size=1, max_size=30), price=st.just(0.0) | _number(1e-7, 1))
async def test_both_choose_alike(
    owner: Database,
    rows: list[tuple[float | None, float, int, float, float, float, float, float, str]],
    price: float,
) -> None:
    """Every item has the same score, and so the same place in the order and the same side of zero."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    scores = await owner.fetchval(SCORE, *columns, [price] * len(rows), policy.STAY)
    # Near zero both are a difference of large numbers.
    size = [price * row[5] + row[1] * (row[2] + row[3]) for row in rows]
    for ours, theirs, about in zip(_pure(rows, price), scores, size, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-7, abs=1e-9 * (1 + about))


@effort(20)
@given(
    looks=st.lists(st.tuples(_number(0.01, 5000), st.booleans()), min_size=1, max_size=12), number=st.integers(0, 2**62)
)
async def test_both_learn_alike(owner: Database, looks: list[tuple[float, bool]], number: int) -> None:
    """The same fetches teach both the same rate and the same sizes, of the item and of its type."""
    name = f"note-{number}"
    if await owner.fetchval("select exists (select from livewell_private.data_type where name = $1)", name):
        return
    await make_type(owner, name, ttl=timedelta(minutes=OFFERS[1].ttl), expected_bytes=int(OFFERS[1].size))
    item = await owner.fetchval("select item_id from livewell_private.make_items(array[$1], '{A}', $2)", name, NOON)
    await owner.execute(
        "update livewell_private.item set fetched_at = $2, bytes_mean = $3 where id = $1", item, NOON, OFFERS[1].size
    )
    learning, row, now = Learning(make_world(1, 0.01, smaller(1000))), np.array([1]), NOON
    for wait, changed in looks:
        before, now = now, now + timedelta(minutes=wait)
        received = 40_000 if changed else 300
        minutes = np.array([(now - before).total_seconds() / 60])
        learning.learn(row, minutes, np.array([changed]), np.array([float(received)]))
        await owner.execute(
            "select livewell_private.end_refreshes("
            " array[(null, $1::bigint, $2::text, null, null, $3::bigint, null,"
            " null)::livewell_private.ended_refresh], $4)",
            item,
            "fetched" if changed else "unchanged",
            received,
            now,
        )
        await owner.execute("select livewell_private.fold_learning()")
    learned = await owner.fetchrow(
        "select i.change_rate, i.bytes_mean, y.change_rate as type_rate, y.unchanged_bytes"
        " from livewell_private.item as i join livewell_private.type_learning as y on y.data_type = i.data_type"
        " where i.id = $1",
        item,
    )
    assert learned is not None
    assert learning.rate(row)[0] == pytest.approx(learned["change_rate"], rel=1e-6)
    assert learning.rate(np.array([5]))[0] == pytest.approx(learned["type_rate"], rel=1e-6)
    assert learning.size[1] == pytest.approx(learned["bytes_mean"], rel=1e-6)
    if learned["unchanged_bytes"] is not None:
        assert learning.unchanged_size(row)[0] == pytest.approx(learned["unchanged_bytes"], rel=1e-6)


async def test_both_price_alike(owner: Database) -> None:
    """The price of a byte follows the bucket by the same steps, full and empty, at any time between two looks."""
    await make_endpoint(owner, "sim/quote", quota_bytes=20 * 10**9)
    await make_type(owner, "quote")
    bucket = await owner.fetchval("select bucket from unnest(livewell_private.quotas_now('{sim}', null, $1))", NOON)
    price, now = Price(), NOON
    await owner.execute("select livewell_private.price_bytes($1)", now)
    for minutes, share in ((1.0, 0.99), (1.0, 0.5), (5.0, 0.1), (30.0, 0.0), (0.5, -0.5), (9.0, 0.97), (60.0, 0.6)):
        now += timedelta(minutes=minutes)
        await owner.execute(
            "update livewell_private.quota_use set bucket_bytes = $1, bucket_at = $2 where provider = 'sim'",
            bucket * share,
            now,
        )
        await owner.execute("select livewell_private.price_bytes($1)", now)
        found = await owner.fetchval("select price from livewell_private.byte_price where provider = 'sim'")
        assert found == pytest.approx(price.step(share, minutes), rel=1e-4)


async def test_engine_does_as_the_pure_policy(owner_url: str) -> None:
    """An hour of a small world through the engine has the figures that the pure policy has in it, within limits."""
    world = make_world(7, 1 / 24, smaller(20))
    rules, course = Rules(rule="observed", conditional=True), Course(warm_up=15)
    engine = await replay_engine(owner_url, world, rules, course)
    pure = replay(world, rules, warm_up=course.warm_up, ticks=course.ticks)
    assert engine.figures.ok == pytest.approx(pure.ok, abs=0.1)
    assert engine.figures.requests == pytest.approx(pure.requests, rel=0.25)
    assert engine.most_requests <= course.limit(world.scale.requests)


async def test_ample_budget(owner_url: str) -> None:
    """With bytes and requests to spare, what is watched is refreshed within two seconds of passing its TTL."""
    world = make_world(7, 8 / 1440, replace(smaller(20), quota=1e12, requests=600, begins=12.0))
    course = Course(warm_up=0, tick_seconds=1)
    engine = await replay_engine(owner_url, world, Rules(rule="observed"), course)
    assert engine.figures.requests > 1
    assert engine.latest <= 2
    assert engine.figures.within_ttl == 1
