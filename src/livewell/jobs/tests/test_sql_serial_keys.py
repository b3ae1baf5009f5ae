"""Serial keys: one job at a time per key, nobody else held up, nobody forgotten."""

import asyncio
import random
from typing import Any

import asyncpg
import pytest

from livewell.jobs.tests.sql_surface import CENTURY, LEASE, MINUTE, NOW, SECOND, Row, Surface, job, jobs
from livewell.kernel import Database


async def _held(queue: Surface, *ids: int) -> list[str | None]:
    return [(await queue.show(job_id))["waiting_for"] for job_id in ids]


async def test_one_of_a_key_runs_and_the_next_follows(queue: Surface) -> None:
    """Jobs of a key run one after the other, in order of age, whatever batch a worker asks for."""
    ids = await queue.enqueue_ids(*jobs(4, serial_key="s"))
    seen = []
    for _ in ids:
        (leased,) = await queue.claim(max_jobs=50)
        assert await queue.claim("w2", max_jobs=50) == []
        seen.append(leased["job_id"])
        await queue.finish(leased)
    assert seen == ids


async def test_a_key_is_one_across_kinds_groups_and_endpoints(queue: Surface) -> None:
    """The key alone decides: a job of another kind in another group waits for it too."""
    await queue.declare("letter", queue_group="post")
    await queue.enqueue(job(serial_key="s", endpoint="e"), job("letter", serial_key="s"), job("letter", serial_key="t"))
    first = await queue.claim_one()
    assert [row["serial_key"] for row in await queue.claim(groups=["post"])] == ["t"]
    await queue.finish(first)
    assert [row["serial_key"] for row in await queue.claim(groups=["post"])] == ["s"]


async def test_the_better_job_of_a_key_goes_first(queue: Surface) -> None:
    """Among the waiting of a key priority decides, then age, also for those that came while it ran or was ready."""
    first = await queue.enqueue_one(serial_key="s", priority=5)
    better = await queue.enqueue_one(serial_key="s", priority=7)
    leased = await queue.claim_one()
    assert leased["job_id"] == better
    low, high, middle = await queue.enqueue_ids(*(job(serial_key="s", priority=p) for p in (1, 9, 6)))
    order = []
    for _ in range(4):
        await queue.finish(leased)
        leased = await queue.claim_one()
        order.append(leased["job_id"])
    assert order == [high, middle, first, low]


async def test_a_parked_job_that_is_raised_goes_first(queue: Surface) -> None:
    """Raising the priority of a waiting job lets it pass the ready one of its key."""
    await queue.enqueue(*(job(serial_key="s", dedupe_key=key, priority=5) for key in "abc"))
    (row,) = await queue.enqueue(job(serial_key="s", dedupe_key="c", priority=9), on_duplicate="raise_priority")
    assert await queue.claim_ids() == [row["job_id"]]


@pytest.mark.parametrize("change", [{"priority": 1}, {"scheduled_at": NOW + CENTURY}, {"serial_key": "t"}])
async def test_a_ready_job_that_is_replaced_leaves_its_place(queue: Surface, change: dict[str, Any]) -> None:
    """When the ready job of a key changes its rank, its time or its key, the best of those behind it goes next."""
    await queue.enqueue(*(job(serial_key="s", dedupe_key=key, priority=5) for key in "ab"))
    replaced = job(**{"serial_key": "s", "dedupe_key": "a", "priority": 5, **change})
    _, behind = await queue.enqueue_ids(job(), job(dedupe_key="b"))
    await queue.enqueue(replaced, on_duplicate="replace")
    leased = await queue.claim()
    assert behind in [row["job_id"] for row in leased if row["serial_key"] == "s"]


async def test_what_waits_for_its_time_does_not_block_its_key(queue: Surface) -> None:
    """A job in backoff, put off or scheduled leaves its key to the others, and takes its turn when it is due."""
    await queue.enqueue(job(serial_key="s", scheduled_at=NOW + CENTURY, priority=99))
    failed, put_off, plain = await queue.enqueue_ids(*(job(serial_key="s", priority=9 - n) for n in range(3)))
    await queue.finish(await queue.claim_one(), "failed", delay_seconds=60)
    await queue.finish(await queue.claim_one(), "rescheduled", delay_seconds=60)
    leased = await queue.claim_one()
    assert leased["job_id"] == plain
    later = NOW + 2 * MINUTE
    assert await queue.claim(now=later) == []
    await queue.finish(leased, now=later)
    for expected in (failed, put_off):
        leased = await queue.claim_one(now=later)
        assert leased["job_id"] == expected
        await queue.finish(leased, now=later)


@pytest.mark.parametrize("outcome", ["completed", "failed", "dead", "rescheduled", "reset", "cancelled", "rescue"])
async def test_however_a_job_leaves_the_next_of_its_key_is_ready(queue: Surface, outcome: str) -> None:
    """Every end of an attempt gives the key to the best that waits, in the same transaction."""
    await queue.enqueue(job(serial_key="s", priority=1, retries=5))
    leased = await queue.claim_one()
    low, high = await queue.enqueue_ids(job(serial_key="s", priority=2), job(serial_key="s", priority=3))
    assert await _held(queue, low, high) == ["serial", "serial"]
    if outcome == "rescue":
        await queue.rescue(now=NOW + LEASE + SECOND)
    else:
        await queue.finish(leased, outcome, delay_seconds=60)
    assert await _held(queue, low, high) == ["serial", None]
    assert await queue.claim_ids(max_jobs=1) == [high]


async def _closed(queue: Surface, how: str) -> None:
    """Close the kind `shut` in one of the ways a lane can be closed while its jobs are ready."""
    if how == "paused":
        await queue.pause("shut")
    elif how == "full":
        await queue.set_kind("shut", {"concurrency": 1})
        await queue.enqueue(job("shut", priority=99))
        assert len(await queue.claim(kinds=["shut"], max_jobs=1)) == 1
    else:
        await queue.set_kind("shut", {"queue_group": "nobody"})


@pytest.mark.parametrize("how", ["paused", "full", "served by nobody"])
async def test_a_job_that_cannot_start_does_not_block_its_key(queue: Surface, how: str) -> None:
    """A better job of the key in a closed lane holds up nobody: not who is queued, nor who was parked before."""
    await queue.declare("shut")
    await queue.enqueue(job("shut", serial_key="s", priority=9))
    early = await queue.enqueue_ids(*jobs(2, serial_key="s"))
    await _closed(queue, how)
    late = await queue.enqueue_one(serial_key="s", priority=1)
    order = []
    for _ in range(3):
        leased = await queue.claim_one()
        order.append(leased["job_id"])
        assert await queue.claim() == []
        await queue.finish(leased)
    assert order == [*early, late]
    assert await queue.claim() == []


async def test_a_promotion_that_was_lost_is_healed(queue: Surface, database: Database) -> None:
    """A job parked by an enqueue that committed after the finish waits for nothing, until the healing tick."""
    await queue.enqueue(job(serial_key="s"))
    leased = await queue.claim_one()
    async with database.transaction() as connection:
        late = await Surface(connection).enqueue_ids(*jobs(2, serial_key="s"))
        await queue.finish(leased)
    assert await queue.claim() == []
    assert await queue.heal() == 1
    assert await queue.claim_ids() == late[:1]
    assert await queue.heal() == 0


async def test_healing_leaves_alone_what_waits_for_something(queue: Surface) -> None:
    """Keys that run, that have a ready job, or whose jobs are all due later are not touched."""
    await queue.enqueue(*jobs(2, serial_key="runs"))
    await queue.claim_one()
    ids = await queue.enqueue_ids(
        *jobs(2, serial_key="ready"), *jobs(2, serial_key="later", scheduled_at=NOW + CENTURY)
    )
    assert await queue.heal() == 0
    assert await _held(queue, *ids) == [None, "serial", "due", "due"]


async def test_the_table_itself_refuses_a_second_running_job(queue: Surface, owner: Database) -> None:
    """Behind all functions stands a unique index: no statement makes two jobs of a key run."""
    await queue.enqueue(*jobs(2, serial_key="s"))
    await queue.claim_one()
    with pytest.raises(asyncpg.UniqueViolationError, match="job_live_one_running_per_serial_key"):
        await owner.execute(
            "update livewell_private.job_live set state = 'processing', waiting_for = null, lease_token ="
            " gen_random_uuid(),"
            " lease_until = now(), worker = 'w2' where state = 'pending'"
        )


async def test_many_claimers_never_run_a_key_twice(queue: Surface) -> None:
    """Eight workers that claim, dawdle and finish at random: no key is ever in two hands, and every job gets done."""
    keys = ["a", "b", "c", None]
    ids = await queue.enqueue_ids(
        *(job(serial_key=random.choice(keys), priority=random.randint(1, 3)) for _ in range(320))
    )
    running: set[str] = set()
    done: list[int] = []

    async def end(leased: Row) -> None:
        await asyncio.sleep(random.random() / 500)
        running.discard(leased["serial_key"])
        outcome = random.choice(["completed", "completed", "reset"])
        await queue.finish(leased, outcome)
        if outcome == "completed":
            done.append(leased["job_id"])

    async def work(worker: str) -> None:
        while len(done) < len(ids):
            rows = await queue.claim(worker, max_jobs=random.randint(1, 8))
            taken = [row["serial_key"] for row in rows if row["serial_key"]]
            assert len(taken) == len(set(taken))
            assert not running & set(taken)
            running.update(taken)
            await asyncio.gather(*map(end, rows))
            if not rows:
                await queue.heal()

    async with asyncio.timeout(60):
        await asyncio.gather(*(work(f"w{n}") for n in range(8)))
    assert sorted(done) == ids


async def test_a_rival_deciding_about_a_key_holds_up_nobody_else(queue: Surface, database: Database) -> None:
    """While another claim of the key is open, a claim looks past the other ready jobs of the key and finds the rest."""
    await queue.enqueue(job(serial_key="s", priority=5))
    await queue.enqueue(job(serial_key="s", priority=6))
    plain = await queue.enqueue_one(priority=1)
    async with database.transaction() as connection:
        leased = await Surface(connection).claim_one("w1")
        assert await queue.claim_ids("w2", max_jobs=1) == [plain]
    await queue.finish(leased)
    assert len(await queue.claim("w2")) == 1


_FLOOD = """
select count(*) from livewell.enqueue_jobs((
    select jsonb_agg(jsonb_build_object(
        'kind', 'plain', 'payload', jsonb_build_object('n', n), 'serial_key', 'busy', 'priority', 100,
        'scheduled_at', $2::timestamptz
    )) from generate_series(1, $1) as n
), 'keep', $3)
"""


async def test_a_busy_key_with_a_hundred_thousand_jobs_starves_nobody(queue: Surface) -> None:
    """With that many top-priority jobs behind a running one, claims of a single job find other work at once."""
    for _ in range(5):
        await queue.caller.fetchval(_FLOOD, 20_000, None, NOW)
    plain, other = await queue.enqueue_ids(job(), job(serial_key="free"))
    busy = await queue.claim_one()
    assert busy["serial_key"] == "busy"
    assert await queue.claim_ids(max_jobs=1) == [plain]
    assert await queue.claim_ids(max_jobs=1) == [other]
    assert await queue.heal() == 0
    await queue.finish(busy)
    assert (await queue.claim_one())["serial_key"] == "busy"


async def test_a_flood_that_becomes_due_behind_a_busy_key_starves_nobody(queue: Surface) -> None:
    """Thousands of jobs of a running key that become due at once are parked as they come in."""
    await queue.enqueue(job(serial_key="busy", priority=100))
    await queue.claim_one()
    await queue.caller.fetchval(_FLOOD, 3_000, NOW + MINUTE, NOW)
    plain = await queue.enqueue_one()
    assert await queue.claim_ids(max_jobs=1, now=NOW + MINUTE) == [plain]


async def test_a_claim_of_many_keys_takes_no_room_in_the_table_of_locks(queue: Surface, database: Database) -> None:
    """The server's table of locks is shared by all: a claim of a thousand keys has no entry in it for each."""
    await queue.enqueue(*(job(serial_key=f"k{n}") for n in range(1001)))
    taken = []
    for wanted in (1, 1000):
        async with database.transaction() as connection:
            assert len(await Surface(connection).claim(max_jobs=wanted)) == wanted
            taken.append(await connection.fetchval("select count(*) from pg_locks where pid = pg_backend_pid()"))
    assert max(taken) < 100


_FOUND = "select array_agg(ctid) from (select ctid from livewell_private.job_live where id = $1 for update) as j"
_TURNS = "select coalesce(cardinality(livewell_private.take_serial_turns($1, $2::text = 'wrote before')), 0)"


@pytest.mark.parametrize("looks_first", ["older", "younger"])
async def test_of_two_who_hold_jobs_of_a_key_the_older_has_the_turn(
    queue: Surface, owner: Database, looks_first: str
) -> None:
    """Two claims that found two ready jobs of one key: who wrote first goes on, whoever looks first at the other."""
    await queue.declare("letter")
    one, two = await queue.enqueue_ids(job(serial_key="s"), job("letter", serial_key="s"))
    async with owner.transaction() as older, owner.transaction() as younger:
        places = {"older": await older.fetchval(_FOUND, one), "younger": await younger.fetchval(_FOUND, two)}
        callers = {"older": older, "younger": younger}
        order = sorted(callers, key=lambda name: name != looks_first)
        turns = {name: await callers[name].fetchval(_TURNS, places[name], "wrote nothing") for name in order}
    assert turns == {"older": 1, "younger": 0}


async def test_who_wrote_before_it_found_a_job_yields_to_who_may_not_have_seen_it(
    queue: Surface, owner: Database
) -> None:
    """An older claim that finds its job later cannot know whether a younger one saw it: it yields, and nobody fails."""
    await queue.declare("letter")
    one, two = await queue.enqueue_ids(job(serial_key="s"), job("letter", serial_key="s"))
    async with owner.transaction() as older, owner.transaction() as younger:
        await older.execute("select pg_current_xact_id()")
        later = await younger.fetchval(_FOUND, two)
        found = await older.fetchval(_FOUND, one)
        assert await older.fetchval(_TURNS, found, "wrote before") == 0
        assert await younger.fetchval(_TURNS, later, "wrote nothing") == 0
    assert await queue.heal() == 1
    assert len(await queue.claim()) == 1
