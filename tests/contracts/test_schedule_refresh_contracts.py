"""Contracts 8 and 9: scheduled refreshes keep behind every viewer, and walk all keys at a bounded cost."""

from collections.abc import Awaitable, Callable

import pytest

from livewell.freshness.tests.catalogue import HOUR, NOON, Catalogue, Row
from livewell.freshness.tests.surface import MINUTE, SECOND
from livewell.kernel import Database
from livewell.testing import make_endpoint, make_type
from tests.contracts.guards import take_away

Proof = Callable[[Catalogue], Awaitable[None]]

TOUCHED = """
select sum(pg_stat_get_xact_tuples_returned(c.oid) + pg_stat_get_xact_tuples_fetched(c.oid)
    + pg_stat_get_xact_tuples_inserted(c.oid) + pg_stat_get_xact_tuples_updated(c.oid))::bigint
from pg_class as c
where c.oid in ('livewell_private.type_key'::regclass, 'livewell_private.item'::regclass,
    'livewell_private.record'::regclass)
    or c.oid in (select i.indexrelid from pg_index as i where i.indrelid in (
        'livewell_private.type_key'::regclass, 'livewell_private.item'::regclass, 'livewell_private.record'::regclass))
"""
READ = """
select sum(pg_stat_get_xact_tuples_returned(i.indexrelid))::bigint from pg_index as i
where i.indrelid = 'livewell_private.job_live'::regclass
"""


@pytest.fixture
def catalogue(owner: Database) -> Catalogue:
    """Types with keys, as their owner."""
    return Catalogue(owner)


async def priority_is_below_all(catalogue: Catalogue) -> None:
    """Whatever floor the registry gives the type, a scheduled refresh has priority −1."""
    await catalogue.scheduled("statement", 3, priority_floor=500)
    await catalogue.run("scheduled_refreshes")
    await catalogue.run("scheduled_refreshes", NOON + HOUR)
    assert [job["priority"] for job in await catalogue.jobs()] == [-1, -1, -1]


async def viewers_are_claimed_first(catalogue: Catalogue) -> None:
    """Two groups with equal shares at one endpoint: all that viewers wait for is claimed before what was scheduled."""
    await make_endpoint(catalogue.owner, "sim/all", requests_per_minute=20)
    await catalogue.scheduled("statement", 10, endpoint="sim/all", queue_group="financials")
    await make_type(catalogue.owner, "quote", endpoint="sim/all", queue_group="core")
    await make_type(catalogue.owner, "profile", endpoint="sim/all", queue_group="core")
    await catalogue.run("scheduled_refreshes")
    await catalogue.run("scheduled_refreshes", NOON + HOUR)
    for number in range(7):
        await catalogue.watch("quote", f"q{number}", 1 + number, NOON + HOUR)
        await catalogue.watch("profile", f"p{number}", 1, NOON + HOUR)
    await catalogue.run("check", NOON + HOUR)
    claimed: list[Row] = []
    for _ in range(4):
        claimed += await _claim(catalogue, 6)
    assert [job["priority"] > 0 for job in claimed] == [True] * 14 + [False] * 6


async def _claim(catalogue: Catalogue, jobs: int) -> list[Row]:
    return await catalogue.owner.fetch(
        "select kind, priority from livewell.claim_jobs('w', '{core,financials}', $1, null, '{1,1}', $2)",
        jobs,
        NOON + HOUR + SECOND,
    )


async def every_key_is_reached(catalogue: Catalogue) -> None:
    """Run by run the walk goes on until all keys were queued, never more than so many at a time."""
    await catalogue.set("freshness.scheduled_keys", 10)
    await catalogue.scheduled("quote", 35)
    await catalogue.run("scheduled_refreshes")
    queued = []
    for minute in range(5):
        await catalogue.run("scheduled_refreshes", NOON + HOUR + minute * MINUTE)
        queued.append(len(await catalogue.jobs()))
    assert queued == [10, 20, 30, 35, 35]


async def depth_is_bounded(catalogue: Catalogue) -> None:
    """While so many scheduled refreshes wait, no more are queued."""
    await catalogue.set("freshness.scheduled_depth", 10)
    await catalogue.scheduled("quote", 35)
    for minute in range(4):
        await catalogue.run("scheduled_refreshes", NOON + HOUR * min(minute, 1) + minute * MINUTE)
    assert len(await catalogue.jobs()) == 10


async def cost_is_bounded(catalogue: Catalogue) -> None:
    """With five types of 50,000 keys each a run touches a few rows for each key it looks at, and none for others."""
    for name in ("quote", "profile", "ratios", "dividends", "earnings"):
        await catalogue.scheduled(name, 50_000)
    await catalogue.owner.execute("analyze livewell_private.type_key")
    await catalogue.run("scheduled_refreshes")
    for minute in range(2):
        async with catalogue.owner.connection() as connection, connection.transaction():
            before = await connection.fetchval(TOUCHED)
            await connection.execute(
                "select livewell_private.task_scheduled_refreshes($1)", NOON + HOUR + minute * MINUTE
            )
            assert await connection.fetchval(TOUCHED) - before <= 100 * 1000
    assert len(await catalogue.jobs()) == 2000


async def queue_is_read_little(catalogue: Catalogue) -> None:
    """Types that share keys share serial keys: a job is queued by a few looks into the queue, however many wait."""
    for name in ("quote", "profile", "ratios", "dividends", "earnings"):
        await catalogue.scheduled(name, 400)
    await catalogue.run("scheduled_refreshes")
    await catalogue.run("scheduled_refreshes", NOON + HOUR)
    async with catalogue.owner.connection() as connection, connection.transaction():
        await connection.execute("select livewell_private.task_scheduled_refreshes($1)", NOON + HOUR + MINUTE)
        assert await connection.fetchval(READ) <= 100 * 1000
    assert len(await catalogue.jobs()) == 2000


async def test_contract_8_scheduled_work_has_priority_minus_one(catalogue: Catalogue) -> None:
    """Contract 8: scheduled refreshes have priority −1, whatever the registry says."""
    await priority_is_below_all(catalogue)


async def test_contract_8_viewers_are_claimed_first(catalogue: Catalogue) -> None:
    """Contract 8: no scheduled job is claimed before an affordable job with a viewer on the same endpoint."""
    await viewers_are_claimed_first(catalogue)


@pytest.mark.parametrize("proof", [every_key_is_reached, depth_is_bounded, cost_is_bounded, queue_is_read_little])
async def test_contract_9_every_key_at_a_bounded_cost(catalogue: Catalogue, proof: Proof) -> None:
    """Contract 9: scheduled refreshes walk all keys, so many per run, throttled by what waits."""
    await proof(catalogue)


@pytest.mark.parametrize(
    ("function", "guard", "instead", "proof"),
    [
        (
            "decide_items",
            "p_priority < 0 then p_priority",
            "p_priority < 0 then d.priority_floor",
            priority_is_below_all,
        ),
        ("walk_keys", "v_ids, -1, 'scheduled'", "v_ids, null, 'scheduled'", priority_is_below_all),
        ("viewers_first", "greatest(0, (v_lanes[v_at].allowance).lowest_priority)", "null", viewers_are_claimed_first),
    ],
)
async def test_contract_8_needs_each_guard(
    catalogue: Catalogue, function: str, guard: str, instead: str, proof: Proof
) -> None:
    """Without the guard scheduled work competes with viewers, and the contract's test says so."""
    await take_away(catalogue.owner, function, guard, instead)
    with pytest.raises(AssertionError):
        await proof(catalogue)


@pytest.mark.parametrize(
    ("function", "guard", "instead", "proof"),
    [
        ("walk_keys", "case when walked > 0 then v_keys[walked] else w.reached end", "w.reached", every_key_is_reached),
        ("walk_keys", "v_walk.reached, p_slice", "v_walk.reached, 1000000", every_key_is_reached),
        ("scheduled_headroom", "v_depth - count(*)", "v_depth", depth_is_bounded),
    ],
)
async def test_contract_9_needs_each_guard(
    catalogue: Catalogue, function: str, guard: str, instead: str, proof: Proof
) -> None:
    """Without the guard keys are never reached or too many at once, and the contract's test says so."""
    await take_away(catalogue.owner, function, guard, instead)
    with pytest.raises(AssertionError):
        await proof(catalogue)
