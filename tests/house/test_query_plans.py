"""Hot calls go through their index, however full the queue is and however old its statistics are.

Plans are judged by what they do: the real function is called, and the server's own counts of this transaction tell
whether its index was entered, how many entries of all indexes were read, and whether the live partition was read from
end to end. All indexes count, because a plan goes wrong here through an index that is not meant: a partial one that
happens to qualify and is read whole.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
import pytest_asyncio

from livewell.kernel import Connection, Database, DatabaseOptions
from livewell.testing import SharedServer, make_market_data

LIVE = 50_000
FILL = """
insert into livewell_private.job_live (
    lane_id, kind, priority, due_at, waiting_for, retries, payload, dedupe_key, serial_key, created_at, state,
    lease_token, lease_until, worker
)
select l.id, 'plain', n % 10, now() - interval '1 hour',
    case when n % 10 = 9 then 'due' when n % 10 = 8 then 'serial' end, 3, '{"n": 1}', 'key/' || n,
    case when n % 10 = 8 then 'serial/' || n end, now(),
    case when n % 100 = 1 then 'processing' else 'pending' end,
    case when n % 100 = 1 then '00000000-0000-4000-8000-000000000000'::uuid end,
    case when n % 100 = 1 then now() + interval '1 hour' end, case when n % 100 = 1 then 'w1' end
from livewell_private.job_lane as l, generate_series(1, $1::integer) as n
where l.kind = 'plain' and l.endpoint is null
"""
# The ids are looked up before the counting begins, so that only the call itself is counted.
LOOKED_UP = {
    "RUNNING": "select array(select id from livewell_private.job_live where state = 'processing' limit 20)",
    "PARKED": "select array(select id from livewell_private.job_live where waiting_for = 'serial' limit 20)",
}
TOKENS = "array_fill('00000000-0000-4000-8000-000000000000'::uuid, array[20])"
COMPLETED = "array_fill('completed'::text, array[20])"
FAILED = "array_fill('failed'::text, array[20])"
SERIAL = """(
    select jsonb_agg(jsonb_build_object('kind', 'plain', 'payload', '{"n": 1}'::jsonb, 'serial_key', 'new'))
    from generate_series(1, 20)
)"""
TAKEN = '[{"kind": "plain", "payload": {"n": 1}, "dedupe_key": "key/7"}]'


@dataclass(frozen=True, kw_only=True)
class Hot:
    """A hot call, the index it lives by, and how many entries of all indexes one call may read."""

    call: str
    index: str
    at_most: int


# Those that change nothing come first: the entries of what was rolled back are read, too, until the next vacuum.
CALLS = {
    "rescue": Hot(call="select count(*) from livewell.rescue_jobs()", index="job_live_running", at_most=10),
    "claim": Hot(
        call="select count(*) from livewell.claim_jobs('w1', '{general}', 20, null, null, now() - interval '2 hours')",
        index="job_live_ready",
        at_most=100,
    ),
    "claim: merge": Hot(
        call="select livewell_private.merge_lanes(array(select id from livewell_private.job_lane), array[10000], 20)",
        index="job_live_ready",
        at_most=100,
    ),
    "claim: in flight": Hot(
        call="select livewell_private.jobs_in_flight(array(select name from livewell_private.provider))",
        index="job_live_running",
        at_most=100,
    ),
    "claim: due": Hot(
        call="select livewell_private.release_due_jobs(now() - interval '2 hours')",
        index="job_live_deferred",
        at_most=10,
    ),
    "finish": Hot(
        call=f"select count(*) from livewell.finish_jobs('RUNNING', {TOKENS}, {COMPLETED})",
        index="job_live_pkey",
        at_most=100,
    ),
    "heartbeat": Hot(
        call=f"select count(*) from livewell.heartbeat_jobs('w1', 'RUNNING', {TOKENS})",
        index="job_live_pkey",
        at_most=200,
    ),
    "promote": Hot(
        call="select livewell_private.promote_serial_jobs(array['serial/8', 'serial/18'])",
        index="job_live_parked",
        at_most=20,
    ),
    "enqueue: kept": Hot(
        call=f"select count(*) from livewell.enqueue_jobs('{TAKEN}')",
        index="job_live_one_per_dedupe_key",
        at_most=20,
    ),
    "enqueue: serial": Hot(
        call=f"select count(*) from livewell.enqueue_jobs({SERIAL})", index="job_live_ready_of_serial_key", at_most=700
    ),
    "finish: again": Hot(
        call=f"select count(*) from livewell.finish_jobs('RUNNING', {TOKENS}, {FAILED})",
        index="job_live_pkey",
        at_most=300,
    ),
    "cancel": Hot(call="select count(*) from livewell.cancel_jobs('PARKED')", index="job_live_pkey", at_most=700),
}


pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.xdist_group("query plans")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def owner(shared_server: SharedServer, template: str) -> AsyncIterator[Database]:
    """A database for all tests of this file, each of which rolls back what it did."""
    async with (
        shared_server.database(template) as name,
        await Database.open(DatabaseOptions(url=shared_server.owner_url(name))) as opened,
    ):
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stale(owner: Database) -> AsyncIterator[Connection]:
    """A session whose plans were made while the queue was empty, before a queue that has filled up since."""
    await owner.execute("alter table livewell_private.job_live set (autovacuum_enabled = false)")
    await owner.execute("""select livewell.declare_kinds('[{"kind": "plain"}]')""")
    await make_market_data(owner)
    await owner.execute("select livewell_private.open_lane_for('plain', e) from unnest(array[null, 'fmp']) as e")
    async with owner.connection() as connection:
        for hot in CALLS.values():
            for _ in range(3):
                await connection.execute(await looked_up(connection, hot.call))
        await connection.execute("truncate livewell_private.job")
        await connection.execute(FILL.replace("$1", str(LIVE)))
        yield connection


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fresh(stale: Connection) -> Connection:
    """The same session when the statistics have caught up; what asks for it comes after all that wants them stale.

    The table is written anew: a plain vacuum leaves the index entries of what was rolled back where they are few.
    """
    await stale.execute("vacuum (full, analyze) livewell_private.job_live")
    return stale


@asynccontextmanager
async def rolled_back(connection: Connection) -> AsyncIterator[None]:
    """For the length of one test, which leaves nothing to the next."""
    await connection.execute("begin")
    try:
        yield
    finally:
        await connection.execute("rollback")


@pytest.mark.parametrize("name", CALLS)
async def test_a_hot_call_uses_its_index_before_statistics_catch_up(stale: Connection, name: str) -> None:
    """A hot call enters its index, reads few entries of any, and never reads the live partition from end to end."""
    await goes_by_its_index(stale, CALLS[name])


async def test_a_blocked_endpoint_costs_a_claim_nothing(stale: Connection) -> None:
    """Jobs of top priority at an endpoint that is closed, however many, are not looked at by who claims the others."""
    lane = await stale.fetchval("select livewell_private.open_lane_for('plain', 'fmp')")
    async with rolled_back(stale):
        await stale.execute(
            "insert into livewell_private.job_live (lane_id, kind, priority, due_at, retries, payload, endpoint,"
            " created_at)"
            " select $1, 'plain', 1000, now() - interval '1 hour', 3, '{\"n\": 1}', 'fmp', now()"
            " from generate_series(1, $2)",
            lane,
            LIVE,
        )
        await stale.execute("update livewell_private.limit_use set next_allowed_at = 'infinity' where name = 'fmp'")
        before = await counts(stale, "job_live_ready")
        claimed = await stale.fetch(CALLS["claim"].call.replace("count(*)", "endpoint"))
        after = await counts(stale, "job_live_ready")
    assert [row["endpoint"] for row in claimed] == [None] * 20
    assert after[1] - before[1] <= CALLS["claim"].at_most
    assert after[2] == before[2]


async def test_the_counts_tell_a_bad_plan(stale: Connection) -> None:
    """What reads everything, from the table or through an index that is not meant, is told by the same counts."""
    async with rolled_back(stale):
        before = await counts(stale, "job_live_ready")
        await stale.execute("select count(*) from livewell_private.job_live where payload = '{}'")
        after = await counts(stale, "job_live_ready")
        assert after[2] == before[2] + 1
        await stale.execute("set local enable_seqscan = off; set local enable_bitmapscan = off")
        await stale.execute(
            "select count(category) from livewell_private.job_live where state = 'pending' and waiting_for is null"
        )
        assert (await counts(stale, "job_live_pkey"))[1] - after[1] > LIVE / 2


async def test_what_runs_of_a_serial_key_is_not_looked_for_among_all_that_runs(stale: Connection) -> None:
    """Statistics of a quiet moment make both indexes look alike, so that only one may serve: without it, none does."""
    async with rolled_back(stale):
        await stale.execute("drop index livewell_private.job_live_one_running_per_serial_key")
        await stale.execute("set local enable_seqscan = off")
        plan = await stale.fetch(
            "explain select from livewell_private.job_live where serial_key = 'a' and state = 'processing'"
        )
    assert "job_live_running" not in "".join(row[0] for row in plan)


@pytest.mark.parametrize("name", CALLS)
async def test_a_hot_call_uses_its_index_with_true_statistics(fresh: Connection, name: str) -> None:
    """As with stale ones: what the server knows of the full queue does not lead it astray."""
    await goes_by_its_index(fresh, CALLS[name])


async def goes_by_its_index(connection: Connection, hot: Hot) -> None:
    call = await looked_up(connection, hot.call)
    async with rolled_back(connection):
        before = await counts(connection, hot.index)
        await connection.execute(call)
        after = await counts(connection, hot.index)
    entered, read_entries, read_whole = (now - then for now, then in zip(after, before, strict=True))
    assert entered > 0, f"{hot.index} was not used"
    assert read_entries <= hot.at_most
    assert read_whole == 0


async def looked_up(connection: Connection, call: str) -> str:
    """The call with the ids it is to be made for."""
    for name, statement in LOOKED_UP.items():
        if name in call:
            ids: list[int] = await connection.fetchval(statement) or list(range(-20, 0))
            call = call.replace(name, "{" + ",".join(map(str, ids)) + "}")
    return call


async def counts(connection: Connection, index: str) -> tuple[int, int, int]:
    """How often the index was entered, how many entries of all were read, how often the partition was read whole."""
    row = await connection.fetchrow(
        "select pg_stat_get_xact_numscans($1::text::regclass),"
        " (select sum(pg_stat_get_xact_tuples_returned(i.indexrelid)) from pg_index as i"
        " where i.indrelid = 'livewell_private.job_live'::regclass)::bigint,"
        " pg_stat_get_xact_numscans('livewell_private.job_live'::regclass)",
        f"livewell_private.{index}",
    )
    assert row is not None
    return row[0], row[1], row[2]


TASKS = 20_000
FILL_TASKS = """
insert into livewell_private.task (name, every, late_after, due_at, run)
select 't' || n, '1 hour', '1 day', now() + n * interval '1 second', 'livewell.task_rescue'
from generate_series(1, $1) as n
"""
TASK_CALLS = {
    "look": ("select count(*) from livewell.look_at_tasks('{}', 20)", "task_due"),
    "take": ("select count(*) from livewell.take_tasks('{t1,t2,t3}', 'n1')", "task_is_named_once"),
    "finish": ("select livewell.finish_task('t5', gen_random_uuid(), 'succeeded')", "task_is_named_once"),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tasks(owner: Database) -> AsyncIterator[Connection]:
    """A session before very many tasks."""
    await owner.execute(FILL_TASKS.replace("$1", str(TASKS)))
    await owner.execute("analyze livewell_private.task")
    async with owner.connection() as connection:
        yield connection


@pytest.mark.parametrize("name", TASK_CALLS)
async def test_what_is_due_is_found_by_its_index(tasks: Connection, name: str) -> None:
    """With twenty thousand tasks, looking, taking and finishing read what is due or named, and nothing else."""
    call, index = TASK_CALLS[name]
    async with rolled_back(tasks):
        before = await task_counts(tasks, index)
        await tasks.execute(call)
        after = await task_counts(tasks, index)
    entered, read_entries, read_whole = (now - then for now, then in zip(after, before, strict=True))
    assert entered > 0, f"{index} was not used"
    assert read_entries <= 100
    assert read_whole == 0


async def task_counts(connection: Connection, index: str) -> tuple[int, int, int]:
    """As `counts`, for tasks."""
    row = await connection.fetchrow(
        "select pg_stat_get_xact_numscans($1::text::regclass),"
        " (select sum(pg_stat_get_xact_tuples_returned(i.indexrelid)) from pg_index as i"
        " where i.indrelid = 'livewell_private.task'::regclass)::bigint,"
        " pg_stat_get_xact_numscans('livewell_private.task'::regclass)",
        f"livewell_private.{index}",
    )
    assert row is not None
    return row[0], row[1], row[2]
