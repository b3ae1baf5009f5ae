"""The state of an item: how old it is, whether it is being refreshed, and what it waits for."""

from typing import Any

import pytest

from livewell.freshness import FreshnessStore, ItemState
from livewell.freshness.tests.surface import DAY, MINUTE, NOON, SECOND, Freshness
from livewell.kernel import Connection, Database
from livewell.testing import make_type

THERE = 20_000
TABLES = ["livewell_private.item", "livewell_private.job_live", "livewell_private.record"]
FILL = """
insert into livewell_private.item (data_type, key, due_at) select 'note', 'X' || n, now() from generate_series(1,
    {there}) as n;
insert into livewell_private.job_live (lane_id, kind, priority, due_at, retries, payload, dedupe_key, created_at)
select l.id, l.kind, 0, 'infinity', 3, '{{"n": 1}}', 'refresh/note/X' || n, now() from generate_series(1, {there}) as n,
    (select * from livewell_private.job_lane limit 1) as l;
"""
COUNTS = """
select sum(pg_stat_get_xact_numscans(t.name::regclass))::bigint, (
    select sum(pg_stat_get_xact_tuples_returned(i.indexrelid))::bigint from pg_index as i
    where i.indrelid = any (array(select name::regclass from unnest($1::text[]) as name))
)
from unnest($1::text[]) as t (name)
"""


@pytest.fixture
def store(owner: Database) -> FreshnessStore:
    return FreshnessStore(owner)


async def _worker(owner: Database) -> None:
    await owner.execute("select livewell.register_worker('w', '{refresh}', '{refresh.note}', 1)")


def _state(item: int, version: int, *times: Any) -> ItemState:
    """Of an item that waits for nothing and is not gone."""
    fetched_at, age, fresh_for = times or (None, None, None)
    return ItemState(
        item, version, fetched_at, age, fresh_for, refreshing=False, waiting_for=None, waiting_until=None, gone=False
    )


async def test_age_and_what_is_left(owner: Database, freshness: Freshness, store: FreshnessStore) -> None:
    """In the order asked: what was never fetched, what is fresh, what is over, and what is not there any more."""
    await make_type(owner, "note")
    new, known = await freshness.items("note", ["A", "B"])
    await freshness.learn([known], "fetched", NOON, content=b"1")
    version = (await freshness.item(known))["version"]
    nobody = ItemState(-1, *[None] * 8)
    assert await store.item_states([known, -1, new, known], now=NOON + 20 * SECOND) == [
        fresh := _state(known, version, NOON, 20 * SECOND, 40 * SECOND),
        nobody,
        _state(new, 0),
        fresh,
    ]
    (old,) = await store.item_states([known], now=NOON + 90 * SECOND)
    assert (old.age, old.fresh_for) == (90 * SECOND, -30 * SECOND)
    assert await store.item_states([]) == []


async def test_a_refresh_that_runs_or_may_run(owner: Database, freshness: Freshness, store: FreshnessStore) -> None:
    """Is refreshing from when it is queued until it ends."""
    await make_type(owner, "note")
    await _worker(owner)
    (item,) = await freshness.watch("note", ["A"])
    await freshness.check([item])
    for _ in range(2):
        (state,) = await store.item_states([item], now=NOON)
        assert (state.refreshing, state.waiting_for) == (True, None)
        await owner.execute("select livewell.claim_jobs('w', '{refresh}', 1, p_now => $1)", NOON)


LATER = "$1::timestamptz + interval '1 minute'"
CLOSED = "update livewell_private.limit_use set"
QUEUED = "update livewell_private.job_live set waiting_for ="


@pytest.mark.parametrize(
    ("spoil", "waiting_for", "is_timed"),
    [
        (f"{CLOSED} closed_until = {LATER}", "provider", True),
        (f"{CLOSED} breaker = 'open', breaker_until = {LATER}", "provider", True),
        (f"{CLOSED} next_allowed_at = {LATER}", "budget", True),
        (f"{QUEUED} 'due', failures = 1, due_at = {LATER}", "provider", True),
        (f"{QUEUED} 'due', due_at = {LATER}", "budget", True),
        (f"{QUEUED} 'serial', due_at = $1", "others", False),
        (
            "update livewell_private.setting set value = 'true', updated_at = $1 where name = 'maintenance.enabled'",
            "others",
            False,
        ),
    ],
)
async def test_what_a_queued_refresh_waits_for(
    owner: Database, freshness: Freshness, store: FreshnessStore, spoil: str, waiting_for: str, *, is_timed: bool
) -> None:
    """What holds its endpoint, its next try, the refresh before it, or people; it is not refreshing then."""
    await make_type(owner, "note")
    await _worker(owner)
    (item,) = await freshness.watch("note", ["A"])
    await freshness.check([item])
    await owner.execute(spoil, NOON)
    (state,) = await store.item_states([item], now=NOON)
    assert (state.refreshing, state.waiting_for) == (False, waiting_for)
    assert state.waiting_until == (NOON + MINUTE if is_timed else None)


@pytest.mark.parametrize(
    ("decision", "waiting_for", "timed"),
    [
        ("gate_closed", "gate", True),
        ("quota_closed", "budget", False),
        ("not_worth", "budget", False),
        ("endpoint_closed", "provider", False),
        ("refresh_failed", "provider", True),
        ("waiting", "others", False),
        ("queue_full", "others", False),
        ("fresh", None, False),
    ],
)
async def test_what_is_not_queued_waits_for(
    owner: Database, freshness: Freshness, store: FreshnessStore, decision: str, waiting_for: str | None, *, timed: bool
) -> None:
    """As the checker decided, and for nothing as long as it is fresh."""
    await make_type(owner, "note")
    (item,) = await freshness.items("note", ["A"])
    await freshness.learn([item], "fetched", NOON, content=b"1")
    await owner.execute("update livewell_private.item set decision = $1, due_at = $2", decision, NOON + DAY)
    (fresh,) = await store.item_states([item], now=NOON)
    assert (fresh.refreshing, fresh.waiting_for) == (False, None)
    (state,) = await store.item_states([item], now=NOON + 2 * MINUTE)
    assert (state.refreshing, state.waiting_for) == (False, waiting_for)
    assert state.waiting_until == (NOON + DAY if timed else None)
    await owner.execute("update livewell_private.item set due_at = 'infinity'")
    (state,) = await store.item_states([item], now=NOON + 2 * MINUTE)
    assert state.waiting_until is None


async def test_what_the_provider_does_not_have_is_gone(
    owner: Database, freshness: Freshness, store: FreshnessStore
) -> None:
    """Until it brings it again; what was stored keeps its version."""
    await make_type(owner, "note")
    (item,) = await freshness.items("note", ["A"])
    seen = []
    for minute, outcome in enumerate(("fetched", "gone", "unchanged")):
        await freshness.learn([item], outcome, NOON + minute * MINUTE, content=b"1")
        (state,) = await store.item_states([item], now=NOON)
        seen.append((state.gone, state.version))
    assert [gone for gone, _ in seen] == [False, True, False]
    assert len({version for _, version in seen}) == 1


@pytest.mark.parametrize("statistics", ["stale", "fresh"])
async def test_states_go_by_the_index(owner: Database, freshness: Freshness, statistics: str) -> None:
    """Twenty items among twenty thousand, and as many jobs: no table is read from end to end, and few entries."""
    await make_type(owner, "note")
    ids = await freshness.watch("note", [f"K{number}" for number in range(20)])
    await freshness.check(ids)
    for table in TABLES:
        await owner.execute(f"alter table {table} set (autovacuum_enabled = false)")
    async with owner.connection() as connection:
        for _ in range(6):
            await _states(connection, ids)
        await connection.execute(FILL.format(there=THERE))
        if statistics == "fresh":
            await connection.execute("analyze")
        # Planned anew by now: planning looks at the ends of indexes, and is not what is counted.
        await _states(connection, ids)
        async with connection.transaction():
            before = await connection.fetchrow(COUNTS, TABLES)
            assert await _states(connection, ids) == 20
            after = await connection.fetchrow(COUNTS, TABLES)
    assert before is not None
    assert after is not None
    assert (after[0] - before[0], after[1] - before[1] <= 60) == (0, True), (before, after)


async def _states(connection: Connection, ids: list[int]) -> int:
    return int(await connection.fetchval("select count(*) from livewell.item_states($1)", ids))
