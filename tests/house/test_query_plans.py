"""Hot calls go through their index, however full the queue is and however old its statistics are.

Plans are judged by what they do: the real function is called, and the server's own counts of this transaction tell how
often each index was entered, how many entries were read, and whether the live partition was read from end to end.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from livewell.kernel import Connection, Database

LIVE = 50_000
FILL = """
insert into livewell.job_live (
    lane_id, kind, priority, due_at, held, retries, payload, dedupe_key, serial_key, created_at, state, lease_token,
    lease_until, worker
)
select l.id, 'plain', n % 10, now() - interval '1 hour',
    case when n % 10 = 9 then 'due' when n % 10 = 8 then 'serial' end, 3, '{"n": 1}', 'key/' || n,
    case when n % 10 = 8 then 'serial/' || n end, now(),
    case when n % 100 = 1 then 'processing' else 'pending' end,
    case when n % 100 = 1 then '00000000-0000-4000-8000-000000000000'::uuid end,
    case when n % 100 = 1 then now() + interval '1 hour' end, case when n % 100 = 1 then 'w1' end
from livewell.job_lane as l, generate_series(1, $1::integer) as n
where l.kind = 'plain'
"""
RUNNING = "select array_agg(id) from (select id from livewell.job_live where state = 'processing' limit 20) as r"
TOKENS = "array_fill('00000000-0000-4000-8000-000000000000'::uuid, array[20])"
COMPLETED = "array_fill('completed'::text, array[20])"
TAKEN = '[{"kind": "plain", "payload": {"n": 1}, "dedupe_key": "key/7"}]'


@dataclass(frozen=True, kw_only=True)
class Hot:
    """A hot call, the index it lives by, and how many entries of it one call may read."""

    call: str
    index: str
    at_most: int


CALLS = {
    "claim": Hot(
        call="select count(*) from livewell.claim_jobs('w1', '{general}', 20, null, null, now() - interval '2 hours')",
        index="job_live_ready",
        at_most=100,
    ),
    "claim: due": Hot(
        call="select livewell.release_due_jobs(now() - interval '2 hours')", index="job_live_deferred", at_most=10
    ),
    "finish": Hot(
        call=f"select count(*) from livewell.finish_jobs(({RUNNING}), {TOKENS}, {COMPLETED})",
        index="job_live_pkey",
        at_most=100,
    ),
    "heartbeat": Hot(
        call=f"select count(*) from livewell.heartbeat_jobs('w1', ({RUNNING}), {TOKENS})",
        index="job_live_pkey",
        at_most=200,
    ),
    "rescue": Hot(call="select count(*) from livewell.rescue_jobs()", index="job_live_lease", at_most=10),
    "promote": Hot(
        call="select livewell.promote_serial_jobs(array['serial/8', 'serial/18'])", index="job_live_parked", at_most=20
    ),
    "enqueue: kept": Hot(
        call=f"select count(*) from livewell.enqueue_jobs('{TAKEN}')",
        index="job_live_one_per_dedupe_key",
        at_most=20,
    ),
}


@pytest_asyncio.fixture
async def filled(owner: Database) -> AsyncIterator[Connection]:
    """A session whose plans were made while the queue was empty, before a queue that has filled up since."""
    await owner.execute("alter table livewell.job_live set (autovacuum_enabled = false)")
    await owner.execute("""select livewell.declare_kinds('[{"kind": "plain"}]')""")
    await owner.execute("select livewell.open_lane_for('plain', null)")
    async with owner.connection() as connection:
        for hot in CALLS.values():
            for _ in range(3):
                await connection.execute(hot.call)
        await connection.execute("truncate livewell.job")
        await connection.execute(FILL.replace("$1", str(LIVE)))
        yield connection


@pytest.mark.parametrize("statistics", ["stale", "fresh"])
@pytest.mark.parametrize("name", CALLS)
async def test_a_hot_call_uses_its_index(filled: Connection, name: str, statistics: str) -> None:
    """A hot call enters its index, reads few entries of it, and never reads the live partition from end to end."""
    hot = CALLS[name]
    if statistics == "fresh":
        await filled.execute("analyze livewell.job_live")
    await filled.execute("set enable_seqscan = off")  # for the sub-select of the test itself; calls set their own
    async with filled.transaction():
        before = await counts(filled, hot.index)
        await filled.execute(hot.call)
        after = await counts(filled, hot.index)
    entered, read_entries, read_whole = (now - then for now, then in zip(after, before, strict=True))
    assert entered > 0, f"{hot.index} was not used"
    assert read_entries <= hot.at_most
    assert read_whole == 0


async def counts(connection: Connection, index: str) -> tuple[int, int, int]:
    """How often the index was entered, how many of its entries were read, how often the partition was read whole."""
    row = await connection.fetchrow(
        "select pg_stat_get_xact_numscans($1::text::regclass), pg_stat_get_xact_tuples_returned($1::text::regclass),"
        " pg_stat_get_xact_numscans('livewell.job_live'::regclass)",
        f"livewell.{index}",
    )
    assert row is not None
    return row[0], row[1], row[2]


async def test_the_counts_tell_a_bad_plan(filled: Connection) -> None:
    """A call that reads everything is told as such by the same counts, so that the test above can fail."""
    async with filled.transaction():
        before = await counts(filled, "job_live_ready")
        await filled.execute("select count(*) from livewell.job_live where payload = '{}'")
        after = await counts(filled, "job_live_ready")
    assert after[2] == before[2] + 1
