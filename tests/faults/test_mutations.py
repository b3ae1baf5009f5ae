"""Each guard is taken out of the database of a run, and the run must fail: who judges is judged here."""

import asyncio
from datetime import timedelta

import pytest

from livewell.testing import OwnServer
from tests.faults.load import BeginRun, Run
from tests.faults.mutants import without
from tests.faults.plan import LEASE
from tests.faults.rescues import SLACK, TICK

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

SOON = timedelta(seconds=1)


async def _broken(run: Run, *, within: timedelta = SOON) -> dict[str, list[str]]:
    """What the judge found, by invariant."""
    broken: dict[str, list[str]] = {}
    for violation in await run.settle(within=within):
        broken.setdefault(violation.invariant, []).append(violation.detail)
    run.figures["found"] = {name: len(details) for name, details in broken.items()}
    return broken


async def test_finish_without_its_token(run: Run) -> None:
    """When finish does not ask for the token, the late finish of a zombie is accepted, and I2 is broken."""
    await without(run, "end_jobs", ("where j.id = i.id and j.lease_token = i.token", "where j.id = i.id"))
    (zombie,) = await run.start_workers(1, trusting=True)
    # Shorter than a lease: when the zombie wakes its handlers are done, and no heartbeat tells them to stop. Not much
    # shorter: it must wake before the other worker has finished.
    await run.enqueue("slow", {"seconds": 2.5}, {"seconds": 2.5})
    await run.seen("started", 2)
    run.pause(zombie)
    await run.start_workers(1)
    await run.seen("started", 4)
    run.resume(zombie)
    await run.seen("finish_answered", 2)
    assert "I2" in await _broken(run, within=2 * LEASE)


async def test_rescue_without_a_look_at_the_lease(run: Run) -> None:
    """When rescue takes back what is still leased, jobs are taken from living workers."""
    await without(run, "rescue_jobs", ("and j.lease_until < p_now", ""))
    await run.start_workers(2)
    await run.enqueue("slow", *[{"seconds": 2}] * 8)
    await run.seen("started", 10)
    assert "live" in await _broken(run)


async def test_heartbeat_that_renews_nothing(run: Run) -> None:
    """When heartbeats do not prolong leases, jobs longer than a lease are taken from living workers."""
    await without(run, "heartbeat_jobs", ("set lease_until = p_now + f.lease", "set lease_until = j.lease_until"))
    await run.start_workers(2, trusting=True)
    # Long enough for a tick of rescue between the end of the lease and that of the job.
    await run.enqueue("slow", *[{"seconds": 6}] * 4)
    await run.seen("started", 5)
    assert "live" in await _broken(run)


async def test_claim_without_locks(run: Run) -> None:
    """When claim neither locks what it takes nor takes it by its place, two workers are given one job: I2."""
    await without(
        run,
        "claim_jobs",
        (
            "j.ctid = any (case\n                when v_places is not null then v_places",
            "j.id = any (case when false then null",
        ),
        ("select r.ctid from", "select r.id from"),
        ("max_jobs\n                    for update skip locked", "max_jobs offset (select 0 from pg_sleep(0.05))"),
    )
    await run.start_workers(3)
    for _ in range(10):
        await run.enqueue("quick", *[{"seconds": 0}] * 4)
        await asyncio.sleep(0.1)
    assert "I2" in await _broken(run)


async def test_serial_keys_without_turns(run: Run) -> None:
    """When nobody waits for the turn of a serial key, two of its jobs run at once: I3."""
    await without(run, "lock_jobs", ("if v_has_serial_keys then", "if false then"))
    await without(run, "enqueue_jobs", ("if v_new.has_serial_keys then", "if false then"))
    await run.owner.execute("drop index livewell_private.job_live_one_running_per_serial_key")
    await run.start_workers(2)
    await run.enqueue("serial", *[{"seconds": 0.2}] * 8, serial_key="one")
    await run.seen("ended", 8)
    assert "I3" in await _broken(run)


async def test_caps_that_are_not_counted(run: Run) -> None:
    """When claim does not count what runs, a kind runs above its concurrency: I3."""
    await without(run, "look_for_jobs", ("elsif v_capped then", "elsif false then"))
    await run.start_workers(2)
    await run.enqueue("capped", *[{"seconds": 0.2}] * 8)
    await run.seen("ended", 8)
    assert "I3" in await _broken(run)


async def test_terminal_rows_that_change(run: Run) -> None:
    """When something rewrites a finished job, what was seen of it is no longer so: I7."""
    await run.start_workers(1)
    await run.enqueue("quick", *[{"seconds": 0}] * 4)
    await run.seen("seen", 4)
    await run.owner.execute("update livewell_private.job_done set finished_at = finished_at + interval '1 microsecond'")
    assert set(await _broken(run)) == {"I7"}


async def test_rescue_that_never_comes(run: Run) -> None:
    """When nobody rescues, the job of a dead worker stays leased: I1 and I6."""
    await without(run, "rescue_jobs", ("and j.lease_until < p_now", "and false"))
    (doomed,) = await run.start_workers(1)
    await run.enqueue("slow", {"seconds": 4})
    await run.seen("started")
    await run.kill(doomed)
    await run.start_workers(1)
    assert set(await _broken(run, within=timedelta(seconds=LEASE.total_seconds() + TICK + SLACK))) == {"I1", "I6"}


async def test_commits_that_are_not_on_disk(own_server: OwnServer, begin_run: BeginRun) -> None:
    """When a server answers commits before they are on disk, a crash loses what was acknowledged: I1."""
    async with begin_run(owner_url=own_server.owner_url, url=own_server.database_url) as run:
        for name, value in (("synchronous_commit", "off"), ("wal_writer_delay", "10s")):
            await run.owner.execute(f"alter system set {name} = '{value}'")
        await run.owner.execute("select pg_reload_conf()")
        await run.start_workers(1)
        await run.start_producer(rate=200, mix={"quick": 1})
        await run.seen("acknowledged", 100)
        await own_server.stop_at_once()
        await own_server.start()
        assert "I1" in await _broken(run)
