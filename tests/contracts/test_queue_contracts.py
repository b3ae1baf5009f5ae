"""Contracts 1, 2, 3, 11, 16 and 17: each as the queue behaves, and each shown to be broken without its guard."""

import asyncio

import asyncpg
import pytest

from livewell import Livewell
from livewell.jobs.tests.sql_surface import DAY, LEASE, MINUTE, NOW, Surface, jobs
from livewell.kernel import Database, LivewellError, LockNotAvailable
from livewell.testing import until
from livewell.worker.tests.running import running
from tests.contracts.guards import session, take_away


async def claim_is_atomic(url: str, queue: Surface) -> None:
    """Two claims under way at once share no job, and neither waits for the other."""
    await queue.enqueue(*jobs(20))
    async with session(url) as one, session(url) as two, one.transaction():
        first = await Surface(one).claim_ids("w1", max_jobs=10)
        second = await Surface(two).claim_ids("w2", max_jobs=10)
    assert len(first) == len(second) == 10
    assert not set(first) & set(second)


async def test_contract_1_claim_is_atomic(owner_url: str, queue: Surface) -> None:
    """Contract 1: a batch is claimed atomically; concurrent claimers never share a job and never wait."""
    await claim_is_atomic(owner_url, queue)


async def test_contract_1_needs_skip_locked(owner: Database, owner_url: str, queue: Surface) -> None:
    """Without SKIP LOCKED the second claimer waits for the first, or takes its jobs."""
    await take_away(owner, "claim_jobs", "for update skip locked", "")
    with pytest.raises((AssertionError, LivewellError)):
        await claim_is_atomic(owner_url, queue)


async def rescue_passes_over_what_is_locked(url: str, queue: Surface) -> None:
    """While a finish holds one of two expired jobs, the rescuer takes the other and waits for nobody."""
    await queue.enqueue(*jobs(2))
    late = NOW + LEASE + MINUTE
    leased = await queue.claim()
    async with session(url) as finisher, session(url) as rescuer, finisher.transaction():
        assert await Surface(finisher).finish(leased[0], now=late) == "completed"
        rescued = await Surface(rescuer).rescue(now=late)
    assert [row["job_id"] for row in rescued] == [leased[1]["job_id"]]
    assert await queue.states(leased[0]["job_id"], leased[1]["job_id"]) == ["completed", "pending"]


async def test_contract_2_rescue_skips_locked(owner_url: str, queue: Surface) -> None:
    """Contract 2: recovery never fights with completion; it skips what is locked."""
    await rescue_passes_over_what_is_locked(owner_url, queue)


async def test_contract_2_needs_skip_locked(owner: Database, owner_url: str, queue: Surface) -> None:
    """A rescuer that waits for locks is held up by a finish."""
    await take_away(owner, "rescue_jobs", "for update skip locked", "for update")
    with pytest.raises(LockNotAvailable):
        await rescue_passes_over_what_is_locked(owner_url, queue)


async def second_sealer_is_told(url: str) -> None:
    """A sealer that comes while another is at work is told so at once."""
    async with session(url) as one, session(url) as two, one.transaction():
        await one.fetch("select * from livewell.seal_audit()")
        (answer,) = await two.fetch("select outcome from livewell.seal_audit()")
    assert answer["outcome"] == "busy"


async def second_rescuer_does_no_harm(url: str, queue: Surface) -> None:
    """Of two rescuers at once one takes the jobs, the other finds nothing and does not wait."""
    await queue.enqueue(*jobs(3))
    await queue.claim()
    late = NOW + LEASE + MINUTE
    async with session(url) as one, session(url) as two, one.transaction():
        assert len(await Surface(one).rescue(now=late)) == 3
        assert await Surface(two).rescue(now=late) == []


async def test_contract_3_no_pile_up(owner_url: str, queue: Surface) -> None:
    """Contract 3: periodic work that runs twice at once neither piles up nor does anything twice."""
    await second_sealer_is_told(owner_url)
    await second_rescuer_does_no_harm(owner_url, queue)


async def test_contract_3_needs_its_locks(owner: Database, owner_url: str, queue: Surface) -> None:
    """Without the sealer's try-lock, or the rescuer's SKIP LOCKED, the second one waits or works twice."""
    await take_away(owner, "seal_audit", "not livewell_private.try_lock", "false and livewell_private.try_lock")
    with pytest.raises((AssertionError, LivewellError)):
        await second_sealer_is_told(owner_url)
    await take_away(owner, "rescue_jobs", "for update skip locked", "for update")
    with pytest.raises(LockNotAvailable):
        await second_rescuer_does_no_harm(owner_url, queue)


async def live_partition_holds_only_what_lives(owner: Database, queue: Surface) -> None:
    """What is finished has left the partition that claims read."""
    await queue.enqueue(*jobs(30))
    for leased in await queue.claim(max_jobs=30):
        await queue.finish(leased)
    assert await owner.fetchval("select count(*) from only livewell_private.job_live") == 0
    assert await owner.fetchval("select count(*) from livewell_private.job_done") == 30


async def test_contract_11_partitioned_by_state(owner: Database, queue: Surface) -> None:
    """Contract 11: the queue is partitioned by state, and its hot part holds only pending and running jobs."""
    strategy = await owner.fetchrow(
        "select p.partstrat::text as strategy, a.attname from pg_partitioned_table p"
        " join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]"
        " where p.partrelid = 'livewell_private.job'::regclass"
    )
    assert strategy is not None
    assert (strategy["strategy"], strategy["attname"]) == ("l", "state")
    await live_partition_holds_only_what_lives(owner, queue)


async def test_contract_11_needs_the_move(owner: Database, queue: Surface) -> None:
    """If a finish copied rows and left them where they were, the hot part would grow for ever."""
    await take_away(owner, "end_jobs", "delete from livewell_private.job_live as j using (", _COPY)
    with pytest.raises((AssertionError, asyncpg.PostgresError)):
        await live_partition_holds_only_what_lives(owner, queue)


_COPY = "update livewell_private.job_live as j set priority = j.priority from ("


async def partition_care_is_polite(owner: Database, url: str, queue: Surface) -> None:
    """While somebody reads an expired partition it is not dropped, soon given up, and the queue goes on."""
    await owner.execute("select livewell.make_job_partitions(0, $1)", NOW)
    await queue.enqueue(*jobs(1))
    await queue.finish(await queue.claim_one())
    name = await owner.fetchval("select tableoid::regclass::text from livewell_private.job_done limit 1")
    late = NOW + 400 * DAY
    async with session(url) as reader, session(url) as carer:
        await carer.execute("set lock_timeout = 0; set statement_timeout = '5s'")
        async with reader.transaction():
            await reader.fetch(f"select count(*) from {name}")  # a name the test has just read
            answer = await carer.fetchval("select livewell.drop_job_partition($1, $2)", name.split(".")[-1], late)
            await queue.enqueue(*jobs(1))
            assert await queue.finish(await queue.claim_one()) == "completed"
        assert answer == "busy"
        assert (
            await carer.fetchval("select livewell.drop_job_partition($1, $2)", name.split(".")[-1], late) == "dropped"
        )


async def test_contract_16_polite_partition_care(owner: Database, owner_url: str, queue: Surface) -> None:
    """Contract 16: care of partitions gives up quickly instead of making everybody wait, and tries again later."""
    await partition_care_is_polite(owner, owner_url, queue)


async def test_contract_16_needs_its_lock_timeout(owner: Database, owner_url: str, queue: Surface) -> None:
    """Without its own lock_timeout the care waits behind the reader, and the queue behind it."""
    await owner.execute("alter function livewell.drop_job_partition reset lock_timeout")
    with pytest.raises((AssertionError, LivewellError)):
        await partition_care_is_polite(owner, owner_url, queue)


async def reset_costs_nothing(queue: Surface) -> None:
    """An attempt ended by contention is ready again at once, and no failure is counted."""
    await queue.enqueue(*jobs(1))
    leased = await queue.claim_one()
    assert await queue.finish(leased, "reset", reason="deadlock detected") == "pending"
    again = await queue.claim_one()
    assert (again["job_id"], again["attempt"], again["failures"]) == (leased["job_id"], 2, 0)


async def test_contract_17_reset_after_a_deadlock(queue: Surface) -> None:
    """Contract 17: a deadlock is not the job's failure; it is reset at once and its retries are untouched."""
    await reset_costs_nothing(queue)


async def test_contract_17_needs_its_own_count(owner: Database, queue: Surface) -> None:
    """If every ended attempt counted as a failure, deadlocks would send jobs to the dead letters."""
    await take_away(owner, "try_jobs_again", "(h.outcome = 'failed')::integer", "1")
    with pytest.raises(AssertionError):
        await reset_costs_nothing(queue)


async def state_after_a_deadlock(database_url: str) -> str:
    """The state of a job without retries whose handler ran into a deadlock once."""
    app = Livewell(database_url)
    tried = asyncio.Event()

    @app.job("crossing", retries=0)
    async def crossing(job: dict[str, int]) -> None:
        if not tried.is_set():
            tried.set()
            raise asyncpg.DeadlockDetectedError("deadlock detected")

    async with app, running(app):
        enqueued = await app.enqueue("crossing", {"n": 1})

        async def ended() -> bool:
            return (await app.jobs.show_job(enqueued.job_id))["state"] in {"completed", "failed"}

        await until(ended, "the job has ended")
        return str((await app.jobs.show_job(enqueued.job_id))["state"])


async def test_contract_17_worker_knows_a_deadlock(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contract 17 in the worker: 40P01 raised by a handler resets its job; a worker that did not know would bury it."""
    assert await state_after_a_deadlock(database_url) == "completed"
    monkeypatch.setattr("livewell.worker.runner.is_contention", lambda _: False)
    assert await state_after_a_deadlock(database_url) == "failed"
