"""Kinds are data: declared by programs, tuned by people, paused and resumed, on record."""

import json
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from livewell.jobs import InvalidKind, UnknownKind
from livewell.jobs.tests.sql_surface import MINUTE, NOW, Row, Surface, job
from livewell.kernel import Database

SEEDED = {
    **dict.fromkeys(("audit_cleanup", "notification_delivery", "report_generation"), "maintenance"),
    **dict.fromkeys(("backup_operation", "system_maintenance", "consent_verification"), "maintenance"),
}


async def _kind(queue: Surface, kind: str) -> Row:
    (row,) = await queue.caller.fetch("select * from livewell.job_kinds where kind = $1", kind)
    return row


async def _audited(queue: Surface, kind: str) -> list[Row]:
    statement = "select * from livewell.list_audit(p_table_name => 'job_kind', p_record_id => $1) order by id"
    return await queue.caller.fetch(statement, kind)


async def test_the_seeded_kinds_are_there(database: Database) -> None:
    """The six kinds of maintenance that ship; those of documents are a preset."""
    rows = await database.fetch("select kind, queue_group from livewell.job_kinds")
    assert {row["kind"]: row["queue_group"] for row in rows} == SEEDED


async def test_a_declared_kind_has_what_it_was_given_and_defaults(queue: Surface) -> None:
    """Declaring makes a kind with the given fields, defaults for the rest, and answers with what is new."""
    given = {
        "kind": "rich",
        "queue_group": "post",
        "retries": 0,
        "backoff_first": "1 second",
        "backoff_max": "1 minute",
        "lease": "10 seconds",
        "time_limit": "2 minutes",
        "concurrency": 3,
        "default_priority": -2,
        "payload_schema": {"type": "object"},
        "description": "Letters",
    }
    assert await queue.declare_all([given, {"kind": "poor"}, {"kind": "plain"}]) == ["poor", "rich"]
    rich, poor = await _kind(queue, "rich"), await _kind(queue, "poor")
    assert (rich["queue_group"], rich["retries"], rich["default_priority"], rich["concurrency"]) == ("post", 0, -2, 3)
    assert (rich["backoff_first"], rich["backoff_max"]) == (timedelta(seconds=1), MINUTE)
    assert (rich["lease"], rich["time_limit"], rich["description"]) == (timedelta(seconds=10), 2 * MINUTE, "Letters")
    assert json.loads(rich["payload_schema"]) == {"type": "object"}
    assert (poor["queue_group"], poor["retries"], poor["default_priority"]) == ("general", 3, 5)
    assert (poor["backoff_first"], poor["backoff_max"]) == (timedelta(seconds=10), timedelta(hours=1))
    assert (poor["lease"], poor["time_limit"], poor["concurrency"], poor["payload_schema"]) == (None,) * 4


async def test_declaring_again_overwrites_nothing_tuned(queue: Surface) -> None:
    """A deployment declares its kinds each time; only the payload's schema follows it."""
    await queue.set_kind("plain", {"retries": 9, "concurrency": 2, "queue_group": "post"})
    await queue.pause("plain")
    before = await _kind(queue, "plain")
    again = {"kind": "plain", "retries": 1, "queue_group": "general", "description": "new"}
    assert await queue.declare_all([again]) == []
    assert await _kind(queue, "plain") == before
    await queue.declare_all([{**again, "payload_schema": {"type": "object"}}])
    assert {**await _kind(queue, "plain")} == {**before, "payload_schema": '{"type": "object"}'}
    await queue.declare_all([again])
    assert (await _kind(queue, "plain"))["payload_schema"] == '{"type": "object"}'


@pytest.mark.parametrize(
    "fields",
    [
        *({"kind": "Upper"}, {"kind": ""}, {"kind": "a b"}, {"kind": "ok", "queue_group": "No"}),
        *(
            {"kind": "ok", "retries": -1},
            {"kind": "ok", "backoff_first": "0 seconds"},
            {"kind": "ok", "concurrency": 0},
        ),
        *({"kind": "ok", "lease": "-1 second"}, {"kind": "ok", "backoff_first": "2 hours"}),
    ],
)
async def test_a_kind_that_cannot_be_is_not_declared(queue: Surface, fields: dict[str, Any]) -> None:
    """Names and bounds are constraints of the table; the whole declaration is refused."""
    with pytest.raises(asyncpg.CheckViolationError):
        await queue.declare_all([{"kind": "fine"}, fields])
    assert await queue.caller.fetch("select from livewell.job_kinds where kind = 'fine'") == []


async def test_tuning_changes_what_is_named_and_tells_whether_anything_changed(queue: Surface) -> None:
    """Only named fields change; null sets one back to its default; the same again is no change."""
    assert await queue.set_kind("plain", {"retries": 9, "lease": "30 seconds", "concurrency": 4})
    before = await _kind(queue, "plain")
    assert (before["retries"], before["lease"], before["concurrency"]) == (9, timedelta(seconds=30), 4)
    assert not await queue.set_kind("plain", {"retries": 9})
    assert not await queue.set_kind("plain", {})
    assert await queue.set_kind("plain", {"retries": None, "concurrency": None})
    assert {**await _kind(queue, "plain")} == {**before, "retries": 3, "concurrency": None}


@pytest.mark.parametrize(
    "changes",
    [
        *({"retrys": 1}, {"kind": "other"}, {"paused_until": None}, {"retries": "many"}, {"retries": -1}),
        *({"retries": 10**12}, {"lease": "soon"}, {"lease": "0 seconds"}, {"queue_group": "No"}, {"concurrency": 0}),
        *({"backoff_max": "1 second"}, {"payload_schema": []}, {"lease": "1e30 years"}, [1], "retries"),
    ],
)
async def test_a_kind_is_not_tuned_to_nonsense(queue: Surface, changes: Any) -> None:
    """What a kind cannot be is refused with a fact, and nothing changes or is recorded."""
    before = await _kind(queue, "plain")
    with pytest.raises(InvalidKind):
        await queue.set_kind("plain", changes)
    assert await _kind(queue, "plain") == before
    assert [row["event"] for row in await _audited(queue, "plain")] == ["kind_declared"]


async def test_an_unknown_kind_is_neither_tuned_nor_paused(queue: Surface) -> None:
    """Tune, pause and resume name a kind that exists, or the fact that it does not."""
    for call in (queue.set_kind("nosuch", {"retries": 1}), queue.pause("nosuch"), queue.resume("nosuch")):
        with pytest.raises(UnknownKind, match="nosuch"):
            await call


@pytest.mark.parametrize("until", [NOW, NOW - MINUTE])
async def test_a_pause_ends_in_the_future(queue: Surface, until: Any) -> None:
    """A pause that would be over already is refused."""
    with pytest.raises(InvalidKind):
        await queue.pause("plain", until=until)


async def test_a_tuned_kind_is_obeyed_from_the_next_job_on(queue: Surface) -> None:
    """New jobs get the new retries; those queued before keep theirs."""
    before = await queue.enqueue_one()
    await queue.set_kind("plain", {"retries": 9, "default_priority": 8})
    after = await queue.enqueue_one()
    assert [(await queue.show(job_id))["retries"] for job_id in (before, after)] == [3, 9]
    assert await queue.claim_ids() == [after, before]


async def test_a_kind_moved_to_another_group_takes_its_jobs_along(queue: Surface) -> None:
    """Jobs follow their kind, so that a fleet can be split while the queue is full."""
    job_id = await queue.enqueue_one()
    await queue.set_kind("plain", {"queue_group": "post"})
    assert await queue.claim(groups=["general"]) == []
    assert await queue.claim_ids(groups=["post"]) == [job_id]


async def test_changes_of_kinds_are_on_record(queue: Surface) -> None:
    """Declared, changed, paused and resumed: each entry has who, why, what it was and what it is."""
    await queue.set_kind("plain", {"retries": 9, "concurrency": 1}, reason="slow upstream")
    await queue.set_kind("plain", {"retries": None})
    await queue.pause("plain", until=NOW + MINUTE)
    await queue.resume("plain")
    assert not await queue.resume("plain")
    declared, changed, defaulted, paused, resumed = await _audited(queue, "plain")
    events = [row["event"] for row in (declared, changed, defaulted, paused, resumed)]
    assert events == ["kind_declared", "kind_changed", "kind_changed", "kind_paused", "kind_resumed"]
    assert {row["actor"] for row in (declared, changed, defaulted, paused, resumed)} == {"tester"}
    assert (changed["reason"], paused["reason"], resumed["reason"]) == ("slow upstream", "too hot", "cooled down")
    old, new = json.loads(changed["old"]), json.loads(changed["new"])
    assert (old["retries"], new["retries"], old["concurrency"], new["concurrency"]) == (3, 9, None, 1)
    assert json.loads(defaulted["new"])["retries"] == 3
    assert json.loads(paused["old"]) == {"paused_until": None}
    assert json.loads(paused["new"])["paused_until"].startswith("2025-01-01T12:01:00")
    assert json.loads(resumed["new"]) == {"paused_until": None}


async def test_a_kind_shows_how_many_workers_handle_it(queue: Surface) -> None:
    """The view of kinds counts the registered workers that name the kind."""
    await queue.register("w1", kinds=["plain", "other"])
    await queue.register("w2", kinds=["plain"])
    assert (await _kind(queue, "plain"))["workers"] == 2
    assert (await _kind(queue, "backup_operation"))["workers"] == 0
    assert await queue.enqueue(job())
