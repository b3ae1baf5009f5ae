"""Claim: who comes first, which lanes are open, and how groups share a worker."""

from collections import Counter
from datetime import timedelta

import pytest

from livewell.jobs import InvalidJob
from livewell.jobs.tests.sql_surface import LEASE, MINUTE, NOW, SECOND, Surface, job, jobs


async def test_the_best_come_first(queue: Surface) -> None:
    """Highest priority first, then longest due, then lowest id; a claim cut short leaves the rest in that order."""
    requests = [
        *(job(priority=1), job(priority=9), job(priority=9, scheduled_at=NOW - MINUTE)),
        *(job(priority=-1), job(priority=1), job(priority=9)),
    ]
    a, b, c, d, e, f = await queue.enqueue_ids(*requests)
    assert await queue.claim_ids(max_jobs=4) == [c, b, f, a]
    assert await queue.claim_ids(max_jobs=4) == [e, d]


async def test_order_holds_across_kinds_and_endpoints_of_a_group(queue: Surface) -> None:
    """Lanes of one group are merged by priority and age, not served one after the other."""
    await queue.declare("other")
    kinds = ["plain", "other", "plain", "other", "plain", "other"]
    requests = [job(kind, priority=n // 2, endpoint=f"e{n % 3}") for n, kind in enumerate(kinds)]
    a, b, c, d, e, f = await queue.enqueue_ids(*requests)
    assert await queue.claim_ids(max_jobs=3) == [e, f, c]
    assert await queue.claim_ids(max_jobs=9) == [d, a, b]


async def test_a_claim_is_a_lease(queue: Surface) -> None:
    """A claimed job is processing, counts the attempt, and is the worker's until now plus the lease of its kind."""
    await queue.declare("quick", lease="20 seconds")
    plain, quick = await queue.enqueue_ids(job(payload={"n": 7}, priority=6), job("quick"))
    first, second = await queue.claim("w9")
    assert (first["payload"], first["attempt"], first["failures"]) == ('{"n": 7}', 1, 0)
    assert (first["lease_seconds"], second["lease_seconds"]) == (LEASE.total_seconds(), 20.0)
    for job_id, lease in ((plain, LEASE), (quick, timedelta(seconds=20))):
        shown = await queue.show(job_id)
        assert (shown["state"], shown["worker"], shown["started_at"]) == ("processing", "w9", NOW)
        assert shown["lease_until"] == NOW + lease
    await queue.set("worker.timeout", "10 minutes")
    await queue.enqueue(job())
    assert (await queue.claim_one())["lease_seconds"] == 600.0


async def test_each_claim_has_a_token_of_its_own(queue: Surface) -> None:
    """No two claims share a token, not even two of the same job."""
    await queue.enqueue(*jobs(2))
    first, second = await queue.claim_one(), await queue.claim_one()
    await queue.finish(first, "reset")
    again = await queue.claim_one()
    assert again["job_id"] == first["job_id"]
    assert len({leased["lease_token"] for leased in (first, second, again)}) == 3


async def test_groups_are_apart(queue: Surface) -> None:
    """A worker gets jobs of its groups only, whatever waits elsewhere and at whatever priority."""
    await queue.declare("letter", queue_group="post")
    plain, _ = await queue.enqueue_ids(job(priority=1), job("letter", priority=99))
    assert await queue.claim_ids(groups=["general"]) == [plain]
    assert await queue.claim_ids(groups=["nobody"]) == []
    assert await queue.claim_ids(groups=[]) == []


async def test_a_worker_gets_only_kinds_it_asks_for(queue: Surface) -> None:
    """With kinds named, others of the same group are left to others."""
    await queue.declare("other")
    plain, other = await queue.enqueue_ids(job(), job("other"))
    assert await queue.claim_ids(kinds=["other"]) == [other]
    assert await queue.claim_ids(kinds=[]) == []
    assert await queue.claim_ids(kinds=["plain", "nosuch"]) == [plain]


async def _fill(queue: Surface, **counts: int) -> None:
    for group, count in counts.items():
        await queue.declare(f"of_{group}", queue_group=group)
        if count:
            await queue.enqueue(*jobs(count, f"of_{group}", priority=ord(group[0])))


async def _kinds(queue: Surface, max_jobs: int, shares: list[float] | None) -> Counter[str]:
    leased = await queue.claim(groups=["red", "blue", "green"], max_jobs=max_jobs, shares=shares)
    return Counter(row["kind"].removeprefix("of_") for row in leased)


async def test_groups_share_a_worker_by_weight(queue: Surface) -> None:
    """Each group gets its part of a claim, evenly or as weighed, whatever the priorities in other groups."""
    await _fill(queue, red=100, blue=100, green=100)
    assert await _kinds(queue, 30, None) == {"red": 10, "blue": 10, "green": 10}
    assert await _kinds(queue, 30, [1, 4, 1]) == {"red": 5, "blue": 20, "green": 5}
    assert await _kinds(queue, 20, [0.5, 0.25, 0.25]) == {"red": 10, "blue": 5, "green": 5}


async def test_what_one_group_leaves_the_others_get(queue: Surface) -> None:
    """A claim is filled as long as any group has jobs: leftovers are divided by the weights of those that have."""
    await _fill(queue, red=2, blue=100, green=100)
    assert await _kinds(queue, 30, [8, 1, 1]) == {"red": 2, "blue": 14, "green": 14}
    assert await _kinds(queue, 30, [8, 2, 1]) == {"blue": 20, "green": 10}


@pytest.mark.parametrize("shares", [[0.0, 1.0, 1.0], [-1.0, 1.0, 1.0], [1.0, 1.0], [1.0, float("nan"), 1.0]])
async def test_shares_that_make_no_sense_are_refused(queue: Surface, shares: list[float]) -> None:
    """A share is a positive number, one for each group."""
    await _fill(queue, red=2, blue=2, green=2)
    with pytest.raises(InvalidJob, match="share"):
        await _kinds(queue, 30, shares)


async def test_a_paused_kind_gives_nothing_until_resumed(queue: Surface) -> None:
    """A pause closes the kind and no other; jobs keep coming in, and all are there after the resume."""
    await queue.declare("other")
    first = await queue.enqueue_one()
    await queue.pause("plain")
    second, other = await queue.enqueue_ids(job(), job("other"))
    assert await queue.claim_ids(now=NOW + 1000 * MINUTE) == [other]
    assert await queue.resume("plain")
    assert await queue.claim_ids() == [first, second]


async def test_a_pause_until_a_time_ends_by_itself(queue: Surface) -> None:
    """A pause with an end holds until just before it and not after."""
    job_id = await queue.enqueue_one()
    await queue.pause("plain", until=NOW + MINUTE)
    assert await queue.claim_ids(now=NOW + MINUTE - SECOND) == []
    assert await queue.claim_ids(now=NOW + MINUTE) == [job_id]
    assert not await queue.resume("plain", now=NOW + MINUTE)


async def test_maintenance_stops_claiming_and_nothing_else(queue: Surface) -> None:
    """In maintenance mode claims come back empty; enqueue, heartbeat, finish, cancel and rescue go on."""
    await queue.enqueue(*jobs(3))
    first, second = await queue.claim(max_jobs=2)
    await queue.set("maintenance.enabled", "true")
    assert await queue.claim() == []
    (queued,) = await queue.enqueue(job())
    assert [row["status"] for row in await queue.heartbeat(first)] == ["renewed"]
    assert await queue.finish(first) == "completed"
    assert await queue.cancel(queued["job_id"]) == {queued["job_id"]: "cancelled"}
    assert [row["job_id"] for row in await queue.rescue(now=NOW + LEASE + SECOND)] == [second["job_id"]]
    await queue.set("maintenance.enabled", "false")
    assert len(await queue.claim(now=NOW + 2 * LEASE)) == 2


@pytest.mark.parametrize("max_jobs", [0, -1])
async def test_asking_for_no_jobs_gives_none(queue: Surface, max_jobs: int) -> None:
    """A claim for less than one job takes nothing."""
    await queue.enqueue(job())
    assert await queue.claim(max_jobs=max_jobs) == []


async def test_jobs_due_later_cost_a_claim_nothing(queue: Surface) -> None:
    """What is not due is outside the ready order, comes in at its time, and the rest of a flood with later claims."""
    flood = [job(priority=9, scheduled_at=NOW + MINUTE) for _ in range(1500)]
    await queue.enqueue(*flood)
    plain = await queue.enqueue_one()
    assert await queue.claim_ids(now=NOW + MINUTE - SECOND) == [plain]
    taken: set[int] = set()
    for _ in range(3):
        taken |= set(await queue.claim_ids(max_jobs=1000, now=NOW + MINUTE))
    assert len(taken) == 1500
