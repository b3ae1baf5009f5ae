"""Dedupe keys: at most one live job each, and three choices for who asks again."""

import asyncio
import json
from contextlib import AsyncExitStack

import asyncpg
import pytest

from livewell.jobs.tests.sql_surface import NOW, SECOND, Row, Surface, job, somebody_waits
from livewell.kernel import Database
from livewell.testing import connected, until


def _outcomes(rows: list[Row]) -> list[str]:
    return [row["outcome"] for row in rows]


async def _number(queue: Surface, job_id: int) -> int:
    return int(json.loads((await queue.show(job_id))["payload"])["n"])


async def test_kept_means_that_nothing_changes(queue: Surface) -> None:
    """With `keep` a live job with the key stands as it is, and the answer is its id."""
    first = await queue.enqueue_one(dedupe_key="k", payload={"n": 1}, priority=1)
    before = await queue.show(first)
    (kept,) = await queue.enqueue(job(dedupe_key="k", payload={"n": 2}, priority=9), now=NOW + SECOND)
    assert (kept["job_id"], kept["outcome"]) == (first, "kept")
    assert await queue.show(first) == before


async def test_kept_and_new_jobs_of_a_batch_are_told_apart(queue: Surface) -> None:
    """In one batch the taken keys are kept, the free ones created, each answered at its position."""
    taken = await queue.enqueue_one(dedupe_key="taken")
    rows = await queue.enqueue(job(dedupe_key="free"), job(dedupe_key="taken"), job(), job(dedupe_key="taken"))
    assert [row["job_position"] for row in rows] == [1, 2, 3, 4]
    assert _outcomes(rows) == ["created", "kept", "created", "kept"]
    assert [rows[1]["job_id"], rows[3]["job_id"]] == [taken, taken]


async def test_of_equal_keys_in_one_batch_the_first_is_kept(queue: Surface) -> None:
    """With `keep` the first job of a batch with a key is the one queued, however many keys are mixed in it."""
    batch = [job(dedupe_key=f"k{n % 7}", payload={"n": n}) for n in reversed(range(1, 211))]
    rows = await queue.enqueue(*batch)
    assert _outcomes(rows) == ["created"] * 7 + ["kept"] * 203
    assert [await _number(queue, row["job_id"]) for row in rows[:7]] == list(range(210, 203, -1))
    assert [row["job_id"] for row in rows] == [row["job_id"] for row in rows[:7]] * 30


async def test_replace_makes_the_pending_job_the_new_one(queue: Surface) -> None:
    """With `replace` a pending job keeps its id and age and takes everything else from the request."""
    await queue.declare("other", retries=9)
    first = await queue.enqueue_one(dedupe_key="k", payload={"n": 1}, priority=7, serial_key="s", endpoint="e")
    later = job("other", dedupe_key="k", payload={"n": 2}, scheduled_at=NOW + 60 * SECOND, category="bulk")
    (row,) = await queue.enqueue(later, on_duplicate="replace", now=NOW + SECOND)
    assert (row["job_id"], row["outcome"]) == (first, "replaced")
    shown = await queue.show(first)
    assert (shown["kind"], shown["retries"], shown["priority"], shown["category"]) == ("other", 9, 5, "bulk")
    assert (shown["due_at"], shown["waiting_for"], shown["created_at"]) == (NOW + 60 * SECOND, "due", NOW)
    assert (shown["serial_key"], shown["endpoint"], await _number(queue, first)) == (None, None, 2)
    assert await queue.claim_ids(kinds=["plain"], now=NOW + 60 * SECOND) == []
    assert await queue.claim_ids(kinds=["other"], now=NOW + 60 * SECOND) == [first]


async def test_of_equal_keys_in_one_batch_the_last_replaces(queue: Surface) -> None:
    """With `replace` the last job of a batch with a key wins, and every position is answered with its id."""
    rows = await queue.enqueue(*(job(dedupe_key="k", payload={"n": n}) for n in range(20)), on_duplicate="replace")
    assert _outcomes(rows) == ["replaced"] * 19 + ["created"]
    assert len({row["job_id"] for row in rows}) == 1
    assert await _number(queue, rows[0]["job_id"]) == 19


async def test_raise_priority_only_ever_raises(queue: Surface) -> None:
    """With `raise_priority` a higher priority is taken over and nothing else; a lower or equal one changes nothing."""
    first = await queue.enqueue_one(dedupe_key="k", payload={"n": 1}, priority=5)
    before = await queue.show(first)
    for priority in (4, 5):
        rows = await queue.enqueue(job(dedupe_key="k", priority=priority), on_duplicate="raise_priority")
        assert _outcomes(rows) == ["kept"]
        assert await queue.show(first) == before
    (row,) = await queue.enqueue(job(dedupe_key="k", priority=6, payload={"n": 2}), on_duplicate="raise_priority")
    assert (row["job_id"], row["outcome"]) == (first, "raised")
    assert {**await queue.show(first)} == {**before, "priority": 6}


async def test_of_equal_keys_in_one_batch_the_highest_raises(queue: Surface) -> None:
    """With `raise_priority` the highest priority of a batch wins wherever it stands in it."""
    batch = [job(dedupe_key="k", priority=priority) for priority in (3, 8, 5)]
    rows = await queue.enqueue(*batch, on_duplicate="raise_priority")
    assert rows[1]["outcome"] == "created"
    assert {row["job_id"] for row in rows} == {rows[1]["job_id"]}
    assert (await queue.show(rows[1]["job_id"]))["priority"] == 8


@pytest.mark.parametrize("choice", ["keep", "replace", "raise_priority"])
async def test_a_running_job_is_kept_whatever_was_asked(queue: Surface, choice: str) -> None:
    """Nobody changes a job under its worker: with its key running, every choice keeps it."""
    await queue.enqueue(job(dedupe_key="k", priority=1))
    leased = await queue.claim_one()
    before = await queue.show(leased["job_id"])
    (row,) = await queue.enqueue(job(dedupe_key="k", priority=9, payload={"n": 2}), on_duplicate=choice)
    assert (row["job_id"], row["outcome"]) == (leased["job_id"], "kept")
    assert await queue.show(leased["job_id"]) == before


async def test_a_key_is_free_again_when_its_job_has_ended(queue: Surface) -> None:
    """Completed, cancelled and failed jobs do not hold their dedupe key."""
    seen = set()
    for outcome in ("completed", "cancelled", "dead"):
        (row,) = await queue.enqueue(job(dedupe_key="k"))
        assert row["outcome"] == "created"
        await queue.finish(await queue.claim_one(), outcome)
        seen.add(row["job_id"])
    assert len(seen) == 3


async def test_the_table_itself_refuses_a_second_live_job(queue: Surface, owner: Database) -> None:
    """Behind all functions stands a unique index: no statement makes two live jobs of one dedupe key."""
    await queue.enqueue(job(dedupe_key="k"))
    with pytest.raises(asyncpg.UniqueViolationError, match="job_live_one_per_dedupe_key"):
        await owner.execute(
            "insert into livewell_private.job (lane_id, kind, priority, due_at, retries, payload, dedupe_key,"
            " created_at)"
            " select lane_id, kind, priority, due_at, retries, payload, dedupe_key, created_at from"
            " livewell_private.job"
        )


@pytest.mark.parametrize("choice", ["keep", "replace", "raise_priority"])
async def test_who_waits_for_a_key_gets_it_when_it_is_rolled_back(
    queue: Surface, database: Database, owner: Database, choice: str
) -> None:
    """An enqueue behind an uncommitted job of its key waits, and creates its own when that one never comes to be."""
    async with database.connection() as connection:
        await connection.execute("begin")
        await Surface(connection).enqueue(job(dedupe_key="k"))
        second = asyncio.create_task(queue.enqueue(job(dedupe_key="k", payload={"n": 2}), on_duplicate=choice))
        await until(lambda: somebody_waits(owner), "the second enqueue waits for the first")
        await connection.execute("rollback")
    (row,) = await second
    assert row["outcome"] == "created"
    assert await _number(queue, row["job_id"]) == 2


@pytest.mark.parametrize("choice", ["keep", "replace", "raise_priority"])
async def test_a_job_that_leaves_while_asked_for_is_made_anew(
    queue: Surface, database: Database, owner: Database, choice: str
) -> None:
    """An enqueue that meets a job just being finished never answers with the finished one."""
    await queue.enqueue(job(dedupe_key="k", priority=9))
    leased = await queue.claim_one()
    async with database.transaction() as connection:
        await Surface(connection).finish(leased)
        second = asyncio.create_task(queue.enqueue(job(dedupe_key="k", priority=1), on_duplicate=choice))
        await until(lambda: somebody_waits(owner), "the enqueue waits for the finish")
    (row,) = await second
    assert row["outcome"] == "created"
    assert await queue.states(leased["job_id"], row["job_id"]) == ["completed", "pending"]


async def test_rivals_with_the_same_keys_make_each_job_once(queue: Surface, database_url: str) -> None:
    """Eight batches of the same keys in different orders, at once: no deadlock, one job per key, one answer for all."""
    keys = [f"k{n}" for n in range(60)]
    batches = [[job(dedupe_key=key) for key in keys[start:] + keys[:start]] for start in range(0, 56, 7)]
    async with AsyncExitStack() as stack:
        rivals = [Surface(await stack.enter_async_context(connected(database_url))) for _ in batches]
        calls = (rival.enqueue(*batch) for rival, batch in zip(rivals, batches, strict=True))
        answers = await asyncio.gather(*calls)
    by_key: dict[str, set[int]] = {key: set() for key in keys}
    for batch, rows in zip(batches, answers, strict=True):
        for sent, row in zip(batch, rows, strict=True):
            by_key[sent["dedupe_key"]].add(row["job_id"])
    assert {len(ids) for ids in by_key.values()} == {1}
    assert sum(_outcomes(rows).count("created") for rows in answers) == 60
