"""F1, F2, F3, F15: workers that are killed, paused past their lease, or poisoned."""

import asyncio

import pytest

from tests.faults.kinds import POISON_RETRIES, RUDE_WAYS
from tests.faults.load import Member, Run
from tests.faults.plan import LEASE
from tests.faults.rescues import SLACK, TICK, rescued_in_time
from tests.faults.size import Size

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]


async def test_f1_killed_workers_lose_nothing(run: Run, size: Size) -> None:
    """F1: workers killed with -9 every few seconds: their jobs are rescued within lease and tick, nobody else's are."""
    await run.start_workers(size.workers)
    await run.start_producer()
    for _ in size.lasting():
        await run.kill(await run.someone_busy())
        await run.start_worker()
        await asyncio.sleep(run.chance.uniform(1, 3))
        await run.at_work(run.living())
    await run.passes()
    await rescued_in_time(run)


async def test_f2_zombies_are_refused(run: Run, size: Size) -> None:
    """F2: workers stopped past their lease and resumed: what they still send or renew is refused by its token."""
    await run.start_workers(size.workers - 1)
    zombies = await run.start_workers(2, trusting=True)
    await run.start_producer()
    for _ in size.lasting():
        for zombie in zombies:
            await _until_busy(run, zombie)
            run.pause(zombie)
        paused_at = len(run.events("claimed"))
        await run.seen("claimed", paused_at + 1)
        await asyncio.sleep(LEASE.total_seconds() + TICK + SLACK)
        for zombie in zombies:
            run.resume(zombie)
    names = {zombie.name for zombie in zombies}
    await run.passes()
    late = [event for event in run.events("finish_answered") if event.by in names and event["state"] == "lost"]
    lost = [event for event in run.events("beat_answered") if event.by in names and event["lost"]]
    run.figures |= {"late finishes refused": len(late), "late heartbeats refused": len(lost)}
    assert late
    assert lost


async def _until_busy(run: Run, member: Member) -> None:
    while member not in run.busy():
        await run.someone_busy()
        await asyncio.sleep(0.01)


async def test_f3_a_repeat_carries_the_same_key(run: Run, size: Size) -> None:
    """F3: killed between its effect and its acknowledgement, a job runs again under the same idempotency key."""
    await run.start_workers(size.workers)
    await run.start_producer()
    mortal: list[int] = []
    for _ in size.lasting():
        mortal += await run.enqueue("mortal", {"seconds": 0}, priority=10)
        await run.seen("killed", len(mortal))
        await run.start_workers(1)
    await run.passes()
    keys: dict[int, list[str]] = {}
    for event in run.events("effect"):
        keys.setdefault(event["job"], []).append(event["idempotency_key"])
    run.figures["effects repeated"] = len(mortal)
    assert all(len(keys[job]) == 2 and len(set(keys[job])) == 1 for job in mortal)


async def test_f15_a_poison_job_is_parked(run: Run, size: Size) -> None:
    """F15: a job that kills its process is parked after its retries, and the others go on."""
    await run.start_workers(size.workers)
    producer = await run.start_producer(rate=20)
    (poison,) = await run.enqueue("poison", {"seconds": 0})
    for deaths in range(1, 2 + POISON_RETRIES):
        await run.seen("killed", deaths)
        await run.start_worker()
    assert producer.alive
    await run.passes()
    (row,) = [job for job in (await run.snapshot()).jobs if job.id == poison]
    assert (row.state, row.attempt, row.failures) == ("failed", 1 + POISON_RETRIES, 1 + POISON_RETRIES)
    others = [job for job in (await run.snapshot()).jobs if job.id != poison]
    assert {job.state for job in others} == {"completed"}


async def test_f15_rude_jobs_fail_alone(run: Run, size: Size) -> None:
    """F15: a handler that exits, cancels itself or returns what cannot be kept fails its own job and no process."""
    workers = await run.start_workers(size.workers)
    await run.start_producer(rate=20)
    rude: list[int] = []
    for _ in size.lasting():
        rude += await run.enqueue("rude", *({"rows": [way]} for way in range(RUDE_WAYS)))
        await run.seen("started", len(run.events("started")) + 20)
    await run.passes()
    assert [worker.process.returncode for worker in workers] == [0] * size.workers
    states = {job.id: (job.state, job.failures) for job in (await run.snapshot()).jobs}
    assert {states[job] for job in rude} == {("failed", 1 + POISON_RETRIES)}
    assert {state for job, (state, _) in states.items() if job not in rude} == {"completed"}
