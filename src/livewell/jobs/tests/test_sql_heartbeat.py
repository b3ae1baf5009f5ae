"""Heartbeats: what a worker learns about the leases it believes to hold."""

import asyncio
from uuid import uuid4

from livewell.jobs.tests.sql_surface import LEASE, MINUTE, NOW, SECOND, Row, Surface, job, jobs
from livewell.kernel import Database


def _statuses(rows: list[Row]) -> list[str]:
    return [row["status"] for row in rows]


async def test_a_heartbeat_renews_from_now(queue: Surface) -> None:
    """A renewed lease lasts the kind's lease counted from the heartbeat, and many are renewed in one call."""
    await queue.declare("quick", lease="20 seconds")
    await queue.enqueue(*jobs(3, priority=9), job("quick"))
    leased = await queue.claim()
    answers = await queue.heartbeat(*leased, now=NOW + 10 * SECOND)
    assert _statuses(answers) == ["renewed"] * 4
    assert [row["lease_seconds"] for row in answers] == [300.0, 300.0, 300.0, 20.0]
    assert (await queue.show(leased[0]["job_id"]))["lease_until"] == NOW + 10 * SECOND + LEASE
    assert (await queue.show(leased[3]["job_id"]))["lease_until"] == NOW + 30 * SECOND


async def test_a_lease_that_ran_out_unseen_can_be_renewed(queue: Surface) -> None:
    """The token decides, not the time: until somebody rescues the job, its worker may go on."""
    await queue.enqueue(job())
    leased = await queue.claim_one()
    late = NOW + LEASE + MINUTE
    assert _statuses(await queue.heartbeat(leased, now=late)) == ["renewed"]
    assert await queue.rescue(now=late) == []


async def test_who_lost_a_lease_is_told(queue: Surface) -> None:
    """Finished, rescued, another's by now, unknown, or held under another token: all are lost."""
    await queue.set("worker.reclaim_jitter_max", "0 seconds")
    await queue.enqueue(*jobs(3))
    finished, rescued, kept = await queue.claim(now=NOW - LEASE)
    await queue.finish(finished)
    assert _statuses(await queue.heartbeat(kept)) == ["renewed"]
    assert [row["job_id"] for row in await queue.rescue(now=NOW + SECOND)] == [rescued["job_id"]]
    assert _statuses(await queue.heartbeat(finished, rescued)) == ["lost", "lost"]
    assert (await queue.claim_one("w2", now=NOW + SECOND))["job_id"] == rescued["job_id"]
    assert _statuses(await queue.heartbeat(rescued)) == ["lost"]
    answers = await queue.caller.fetch(
        "select * from livewell.heartbeat_jobs('w1', $1, $2, $3)", [kept["job_id"], 10**9], [uuid4(), uuid4()], NOW
    )
    assert _statuses(answers) == ["lost", "lost"]
    assert (await queue.show(kept["job_id"]))["lease_until"] == NOW + LEASE


async def test_a_job_being_finished_is_busy_and_not_waited_for(queue: Surface, database: Database) -> None:
    """While another transaction decides about the job the heartbeat says busy at once, and renews the others."""
    await queue.enqueue(*jobs(2))
    first, second = await queue.claim()
    async with database.transaction() as connection:
        await Surface(connection).finish(first)
        async with asyncio.timeout(5):
            assert _statuses(await queue.heartbeat(first, second)) == ["busy", "renewed"]
    assert _statuses(await queue.heartbeat(first, second)) == ["lost", "renewed"]


async def test_a_heartbeat_tells_who_shall_stop(queue: Surface) -> None:
    """The reason of a cancel comes with the next heartbeat, to the job it is meant for."""
    await queue.enqueue(*jobs(2))
    first, second = await queue.claim()
    await queue.cancel(first["job_id"], reason="wrong customer")
    answers = await queue.heartbeat(first, second)
    assert [(row["status"], row["cancel_reason"]) for row in answers] == [
        ("renewed", "wrong customer"),
        ("renewed", None),
    ]


async def test_a_heartbeat_is_a_sign_of_life_of_its_worker(queue: Surface, owner: Database) -> None:
    """Also without jobs the worker's last_seen moves, so that it is not forgotten; nobody else's does."""
    await queue.register("w1")
    await queue.register("w2")
    assert await queue.heartbeat(worker="w1", now=NOW + MINUTE) == []
    seen = {row["id"]: row["last_seen"] for row in await queue.caller.fetch("select * from livewell.workers")}
    assert seen == {"w1": NOW + MINUTE, "w2": NOW}


async def test_workers_long_unseen_are_forgotten(queue: Surface) -> None:
    """A named worker leaves by its goodbye, others five minutes after their last sign of life, not before."""
    for worker in ("w1", "w2", "w3"):
        await queue.register(worker)
    retire = "select r.id from livewell.retire_workers($1, p_now => $2) as r (id) order by 1"
    assert [row["id"] for row in await queue.caller.fetch(retire, "w1", NOW)] == ["w1"]
    await queue.heartbeat(worker="w2", now=NOW + MINUTE)
    assert await queue.caller.fetch(retire, None, NOW + LEASE) == []
    assert [row["id"] for row in await queue.caller.fetch(retire, None, NOW + LEASE + SECOND)] == ["w3"]
    assert await queue.caller.fetchval("select array_agg(id) from livewell.workers") == ["w2"]


async def test_registering_again_changes_what_a_worker_serves(queue: Surface) -> None:
    """A worker that comes back under its name is one row with what it says now."""
    await queue.register("w1", groups=["general"], kinds=["plain"])
    await queue.register("w1", groups=["post"], kinds=["letter"])
    (row,) = await queue.caller.fetch("select queue_groups, kinds from livewell.workers")
    assert (row["queue_groups"], row["kinds"]) == (["post"], ["letter"])
