"""Finish: the token decides, each outcome leads where it should, and a batch is one decision."""

import asyncio
import json
from typing import Any
from uuid import UUID, uuid4

import pytest

from livewell.jobs import InvalidJob
from livewell.jobs.tests.sql_surface import LEASE, MINUTE, NOW, SECOND, Row, Surface, jobs, somebody_waits
from livewell.kernel import Database
from livewell.testing import connected, until, wait_long

ERROR = {"type": "ValueError", "message": "bad apple", "digest": "abc"}


async def _held(queue: Surface, count: int = 1, **fields: Any) -> list[Row]:
    await queue.enqueue(*jobs(count, **fields))
    return await queue.claim()


async def test_a_completed_job_keeps_what_it_gave(queue: Surface) -> None:
    """A completed job is over at the given time, with its result, its bytes and who did it."""
    (leased,) = await _held(queue)
    end = NOW + 3 * SECOND
    assert await queue.finish(leased, result={"rows": [1, 2]}, actual_bytes=5_000_000_000, now=end) == "completed"
    shown = await queue.show(leased["job_id"])
    assert (shown["state"], shown["finished_at"], shown["actual_bytes"]) == ("completed", end, 5_000_000_000)
    assert json.loads(shown["result"]) == {"rows": [1, 2]}
    assert (shown["worker"], shown["started_at"], shown["attempt"], shown["failures"]) == ("w1", NOW, 1, 0)
    assert (shown["error"], shown["reason"], shown["lease_until"]) == (None, None, None)
    assert await queue.claim(now=end + 10 * LEASE) == []


async def test_a_dead_job_is_failed_at_once(queue: Surface) -> None:
    """`dead` goes to the dead letters whatever retries are left, with error, reason and bytes."""
    (leased,) = await _held(queue, retries=100)
    assert await queue.finish(leased, "dead", error=ERROR, reason="no such customer", actual_bytes=7) == "failed"
    shown = await queue.show(leased["job_id"])
    assert (shown["state"], shown["reason"], shown["failures"]) == ("failed", "no such customer", 1)
    assert (json.loads(shown["error"]), shown["actual_bytes"]) == (ERROR, 7)
    assert shown["acknowledged_at"] is None


@pytest.mark.parametrize(
    ("detail", "reason"),
    [({"error": ERROR}, "bad apple"), ({}, "no reason given"), ({"reason": "why", "error": ERROR}, "why")],
)
async def test_a_dead_letter_always_has_a_reason(queue: Surface, detail: dict[str, Any], reason: str) -> None:
    """Without a reason the error's message stands for it, and without either that is said."""
    (leased,) = await _held(queue)
    await queue.finish(leased, "dead", **detail)
    assert (await queue.show(leased["job_id"]))["reason"] == reason


async def test_a_cancelled_job_is_over(queue: Surface) -> None:
    """A handler may call its job off; the reason stays, and it counts as no failure."""
    (leased,) = await _held(queue)
    assert await queue.finish(leased, "cancelled", reason="sold out") == "cancelled"
    shown = await queue.show(leased["job_id"])
    assert (shown["state"], shown["reason"], shown["failures"]) == ("cancelled", "sold out", 0)


async def test_the_token_decides_and_not_the_time(queue: Surface) -> None:
    """An expired lease that nobody took back may still finish, long after."""
    (leased,) = await _held(queue)
    assert await queue.finish(leased, now=NOW + 100 * LEASE) == "completed"


@pytest.mark.parametrize("outcome", ["completed", "failed", "dead", "rescheduled", "reset", "cancelled"])
async def test_who_lost_the_lease_changes_nothing(queue: Surface, outcome: str) -> None:
    """With a foreign token, an old token or a finished job every outcome is lost and nothing changes."""
    await queue.set("worker.reclaim_jitter_max", "0 seconds")
    first, rescued = await _held(queue, 2)
    await queue.finish(first)
    late = NOW + LEASE + SECOND
    await queue.rescue(now=late)
    new = await queue.claim_one("w2", now=late)
    assert new["job_id"] == rescued["job_id"]
    before = [await queue.show(leased["job_id"]) for leased in (first, rescued)]
    for job_id, token in ((first["job_id"], first["lease_token"]), (rescued["job_id"], rescued["lease_token"])):
        for tried in (token, uuid4()):
            assert await queue.finish_all([(job_id, tried, outcome, {"delay_seconds": 1})]) == [(job_id, "lost")]
    assert await queue.finish_all([(10**9, uuid4(), outcome, None)]) == [(10**9, "lost")]
    assert [await queue.show(leased["job_id"]) for leased in (first, rescued)] == before
    assert await queue.finish(new, now=late) == "completed"


async def test_a_finish_is_accepted_once(queue: Surface) -> None:
    """The second finish with the right token finds the attempt over."""
    (leased,) = await _held(queue)
    assert await queue.finish(leased, result={"n": 1}) == "completed"
    assert await queue.finish(leased, "dead") == "lost"
    assert (await queue.show(leased["job_id"]))["state"] == "completed"


async def test_a_mixed_batch_is_ended_each_in_its_way(queue: Surface) -> None:
    """One call ends attempts of every kind, with the detail of its own each, and answers in the order given."""
    leased = await _held(queue, 8)
    words = ["completed", "failed", "dead", "rescheduled", "reset", "cancelled", "completed", "failed"]
    ends = [
        (row["job_id"], row["lease_token"], word, {"reason": f"r{n}", "delay_seconds": 60, "result": n})
        for n, (row, word) in enumerate(zip(leased, words, strict=True))
    ]
    ends[6] = (ends[6][0], uuid4(), "completed", {"reason": "lost"})
    expected = ["completed", "pending", "failed", "pending", "pending", "cancelled", "lost", "pending"]
    assert [state for _, state in await queue.finish_all(ends[::-1])][::-1] == expected
    shown = [await queue.show(row["job_id"]) for row in leased]
    expected[6] = "processing"
    assert [row["state"] for row in shown] == expected
    assert [shown[n]["reason"] for n in (0, 2, 5)] == ["r0", "r2", "r5"]
    assert shown[0]["result"] == "0"
    for n, word in ((1, "failed"), (3, "rescheduled"), (4, "reset"), (7, "failed")):
        assert [(row["outcome"], row["reason"]) for row in await queue.attempts(leased[n]["job_id"])] == [
            (word, f"r{n}")
        ]


async def test_a_finish_that_makes_no_sense_is_refused_whole(queue: Surface) -> None:
    """An unknown outcome, a job named twice or lists of different lengths: nothing of the batch happens."""
    one, two = await _held(queue, 2)
    done, other = (one["job_id"], one["lease_token"]), (two["job_id"], two["lease_token"])
    for bad in (
        [(*done, "completed", None), (*other, "finished", None)],
        [(*done, "completed", None), (*done, "failed", None)],
        [(*done, "completed", None), (*done, "completed", None)],
    ):
        with pytest.raises(InvalidJob, match=r"unknown outcome: finished|named twice"):
            await queue.finish_all(bad)
    statement = "select livewell.finish_jobs($1, $2, $3, $4::text::jsonb)"
    ids, tokens = [done[0], other[0]], [done[1], other[1]]
    ragged: list[tuple[list[int], list[UUID], list[str | None], str | None]] = [
        (ids, tokens[:1], ["completed", "completed"], None),
        (ids, tokens, ["completed"], None),
        (ids, tokens, ["completed", "completed"], "[null]"),
        (ids, tokens, ["completed", None], None),
    ]
    for arguments in ragged:
        with pytest.raises(InvalidJob):
            await queue.caller.fetch(statement, *arguments)
    assert await queue.states(*ids) == ["processing", "processing"]


async def test_details_may_be_left_out(queue: Surface) -> None:
    """A batch without any details is accepted, and an empty one does nothing."""
    (leased,) = await _held(queue)
    statement = "select state from livewell.finish_jobs($1, $2, $3)"
    assert (
        await queue.caller.fetchval(statement, [leased["job_id"]], [leased["lease_token"]], ["completed"])
        == "completed"
    )
    assert await queue.caller.fetch(statement, [], [], []) == []


async def test_the_row_of_an_ended_job_is_complete(queue: Surface) -> None:
    """What the job was asked to be is still there when it is over, whichever way it ended."""
    asked: dict[str, Any] = {
        "category": "bulk",
        "dedupe_key": "d",
        "serial_key": "s",
        "endpoint": "e",
        "estimated_bytes": 9,
    }
    names = [*asked, "kind", "payload", "priority", "retries", "estimated_tokens", "created_at", "due_at"]
    for outcome in ("completed", "cancelled", "dead"):
        job_id = await queue.enqueue_one(**asked)
        before = await queue.show(job_id)
        await queue.finish(await queue.claim_one(now=NOW + MINUTE), outcome, now=NOW + MINUTE)
        after = await queue.show(job_id)
        assert {name: after[name] for name in names} == {name: before[name] for name in names}
    pending = await queue.enqueue_one(**asked)
    before = await queue.show(pending)
    await queue.cancel(pending)
    after = await queue.show(pending)
    assert {name: after[name] for name in names} == {name: before[name] for name in names}


@pytest.mark.parametrize("last", ["completed", "reset"])
async def test_a_finish_takes_its_rows_in_order_of_id(
    queue: Surface, database: Database, owner: Database, last: str
) -> None:
    """Whatever order a batch is given in, it waits at its lowest id with nothing else in hand, so nobody deadlocks."""
    await wait_long(owner, "end_attempts")
    leased = await _held(queue, 20)
    ends = [(row["job_id"], row["lease_token"], "completed", None) for row in leased]
    ends[-1] = (*ends[-1][:2], last, None)
    lock = "select id from livewell_private.job_live where id = any ($1) order by id for update skip locked"
    async with owner.transaction() as lowest:
        await lowest.fetch(lock, [leased[0]["job_id"]])
        finish = asyncio.create_task(queue.finish_all(ends[::-1]))
        await until(lambda: somebody_waits(owner), "the finish waits for the lowest id")
        async with owner.transaction() as others:
            free = await others.fetch(lock, [row["job_id"] for row in leased[1:]])
        assert [row["id"] for row in free] == [row["job_id"] for row in leased[1:]]
    assert {state for _, state in await finish} <= {"completed", "pending"}


async def test_two_finishes_of_the_same_jobs_never_deadlock(queue: Surface, database_url: str) -> None:
    """Opposite orders of the same jobs in two finishes at once: one is accepted for each job, none fails."""
    async with connected(database_url) as one, connected(database_url) as two:
        for _ in range(10):
            leased = await _held(queue, 40)
            ends = [(row["job_id"], row["lease_token"], "completed", None) for row in leased]
            mixed = [(*ends[0][:2], "reset", None), *ends[1:]]
            answers = await asyncio.gather(Surface(one).finish_all(ends[::-1]), Surface(two).finish_all(mixed))
            for (_, first), (_, second) in zip(answers[0][::-1], answers[1], strict=True):
                assert (first == "lost") != (second == "lost")
            await queue.cancel(leased[0]["job_id"])
    assert await queue.claim() == []
