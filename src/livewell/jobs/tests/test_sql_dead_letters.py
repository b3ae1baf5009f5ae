"""Dead letters: another life, or an acknowledgement, and nothing of either by accident."""

import asyncio
import json
from typing import Any

from livewell.jobs.tests.sql_surface import MINUTE, NOW, SECOND, Surface, job


async def test_a_retried_dead_letter_has_a_new_life(queue: Surface) -> None:
    """It is ready now, as it was asked for, with all its retries; its attempts go on counting."""
    asked: dict[str, Any] = {
        "payload": {"n": 5},
        "category": "bulk",
        "serial_key": "s",
        "dedupe_key": "d",
        "retries": 1,
    }
    job_id = await queue.dead(**asked)
    later = NOW + MINUTE
    assert await queue.retry(job_id, now=later) == {job_id: ("retried", None)}
    shown = await queue.show(job_id)
    assert (shown["state"], shown["shown_state"], shown["due_at"]) == ("pending", "retrying", later)
    assert (shown["failures"], shown["retries"], shown["attempt"], shown["created_at"]) == (0, 1, 1, NOW)
    assert (shown["error"], shown["reason"], shown["finished_at"], shown["worker"]) == (None, None, None, None)
    assert json.loads(shown["payload"]) == {"n": 5}
    leased = await queue.claim_one(now=later)
    assert (leased["job_id"], leased["attempt"], leased["failures"], leased["serial_key"]) == (job_id, 2, 0, "s")
    assert await queue.finish(leased, "failed", delay_seconds=1, now=later) == "pending"
    assert await queue.finish(await queue.claim_one(now=later + MINUTE), "failed", now=later + MINUTE) == "failed"


async def test_a_retry_keeps_the_history(queue: Surface) -> None:
    """The attempt that failed for good stays on record as such, with its reason, before those of the new life."""
    job_id = await queue.enqueue_one(retries=1)
    await queue.finish(await queue.claim_one(), "failed", delay_seconds=1)
    await queue.finish(await queue.claim_one(now=NOW + MINUTE), "failed", reason="for good", now=NOW + MINUTE)
    await queue.retry(job_id, now=NOW + 2 * MINUTE)
    await queue.finish(await queue.claim_one(now=NOW + 2 * MINUTE), now=NOW + 2 * MINUTE)
    assert await queue.outcomes(job_id) == [(1, "failed"), (2, "dead"), (3, "completed")]
    _, dead, _ = await queue.attempts(job_id)
    assert (dead["reason"], dead["worker"], dead["ended_at"]) == ("for good", "w1", NOW + MINUTE)


async def test_only_dead_letters_can_be_retried(queue: Surface) -> None:
    """Pending, running, completed, cancelled and unknown jobs are answered as not dead and stay as they are."""
    completed, cancelled, running, pending = await queue.enqueue_ids(*(job(priority=9 - n) for n in range(4)))
    await queue.finish(await queue.claim_one())
    await queue.cancel(cancelled)
    await queue.claim_one()
    ids = [completed, cancelled, running, pending]
    before = [await queue.show(job_id) for job_id in ids]
    assert await queue.retry(*ids, 10**9) == dict.fromkeys([*ids, 10**9], ("not_dead", None))
    assert [await queue.show(job_id) for job_id in ids] == before


async def test_a_key_that_is_live_again_is_answered_not_forced(queue: Surface) -> None:
    """A dead letter whose dedupe key another job has meanwhile stays dead; the answer names the live one."""
    dead = await queue.dead(dedupe_key="k")
    live = await queue.enqueue_one(dedupe_key="k")
    assert await queue.retry(dead) == {dead: ("duplicate", live)}
    assert await queue.states(dead, live) == ["failed", "pending"]
    await queue.finish(await queue.claim_one())
    assert await queue.retry(dead) == {dead: ("retried", None)}


async def test_of_two_dead_letters_of_one_key_the_older_is_retried(queue: Surface) -> None:
    """Retrying both at once revives the first and answers the second with it."""
    one, two = await queue.dead(dedupe_key="k"), await queue.dead(dedupe_key="k")
    other = await queue.dead()
    answers = await queue.retry(two, other, one)
    assert answers == {one: ("retried", None), two: ("duplicate", one), other: ("retried", None)}


async def test_a_retry_waits_its_turn_behind_its_serial_key(queue: Surface) -> None:
    """A revived job of a key that runs is parked like any other."""
    dead = await queue.dead(serial_key="s")
    await queue.enqueue(job(serial_key="s"))
    leased = await queue.claim_one()
    await queue.retry(dead)
    assert await queue.claim() == []
    await queue.finish(leased)
    assert await queue.claim_ids() == [dead]


async def test_a_dead_letter_is_retried_once(queue: Surface) -> None:
    """Two people retrying the same dead letters at once revive each of them once."""
    ids = [await queue.dead() for _ in range(5)]
    one, two = await asyncio.gather(queue.retry(*ids), queue.retry(*reversed(ids)))
    for job_id in ids:
        assert sorted([one[job_id][0], two[job_id][0]]) == ["not_dead", "retried"]
    assert sorted(await queue.claim_ids()) == ids


async def test_acknowledging_is_for_dead_letters_and_once(queue: Surface) -> None:
    """A dead letter is marked with who saw it and when; a second time, and other jobs, change nothing."""
    dead, pending = await queue.dead(), await queue.enqueue_one()
    assert await queue.acknowledge(dead, pending, 10**9, now=NOW + SECOND) == {
        dead: "acknowledged",
        pending: "not_dead",
        10**9: "not_dead",
    }
    assert await queue.acknowledge(dead, now=NOW + MINUTE) == {dead: "already_acknowledged"}
    shown = await queue.show(dead)
    assert (shown["state"], shown["acknowledged_at"], shown["acknowledged_by"]) == ("failed", NOW + SECOND, "tester")


async def test_an_acknowledged_dead_letter_can_still_be_retried(queue: Surface) -> None:
    """Having been seen is no reason not to be tried again; the new life begins unacknowledged."""
    dead = await queue.dead()
    await queue.acknowledge(dead)
    assert await queue.retry(dead) == {dead: ("retried", None)}
    await queue.finish(await queue.claim_one(), "dead")
    shown = await queue.show(dead)
    assert (shown["acknowledged_at"], shown["acknowledged_by"]) == (None, None)


async def test_what_people_do_to_dead_letters_is_on_record(queue: Surface) -> None:
    """Each retry and acknowledgement that happened has an audit entry, and none that did not."""
    one, two = await queue.dead(), await queue.dead()
    await queue.acknowledge(one, two, 10**9)
    await queue.acknowledge(one)
    await queue.retry(two, 10**9)
    rows = await queue.caller.fetch("select * from livewell.list_audit(p_table_name => 'job') order by id")
    assert [(row["event"], row["job_id"], row["reason"], row["actor"]) for row in rows] == [
        ("job_acknowledged", one, "seen", "tester"),
        ("job_acknowledged", two, "seen", "tester"),
        ("job_retried", two, "mended", "tester"),
    ]


async def test_nobody_but_a_person_acknowledges(queue: Surface) -> None:
    """However an ordinary job fails for good, and whatever runs after, its dead letter waits for a person."""
    told = await queue.dead(payload={"type": "note", "key": "A", "item": 1})
    used_up = await queue.enqueue_one(retries=0)
    await queue.finish(await queue.claim_one(), "failed")
    silent = await queue.enqueue_one(retries=0)
    await queue.claim_one()
    later = NOW + 10 * MINUTE
    await queue.caller.execute("select livewell.rescue_jobs(10, $1)", later)
    for task in ("rescue", "job_partitions", "job_retention"):
        await queue.caller.execute(f"select livewell.task_{task}()")
    dead = await queue.caller.fetch(
        "select id, acknowledged_at, acknowledged_by from livewell.jobs where state = 'failed'"
    )
    assert {row["id"]: (row["acknowledged_at"], row["acknowledged_by"]) for row in dead} == dict.fromkeys(
        (told, used_up, silent), (None, None)
    )
    await queue.caller.execute("select livewell.acknowledge_jobs($1, 'seen', 'ada')", [told])
    assert (await queue.show(told))["acknowledged_by"] == "ada"
