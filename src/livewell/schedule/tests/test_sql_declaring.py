"""Tasks are data: declared once, applied from a plan, tuned while everything runs, audited."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from livewell.kernel import Database, LivewellError
from livewell.schedule import InvalidCron, InvalidTask, TaskDeclaration, TaskStore
from livewell.schedule.tests.sql_surface import MINUTE, NOON, Schedule


async def test_the_plan_and_the_change_are_the_same(schedule: Schedule, database: Database) -> None:
    """What a plan says is what applying does; a plan does nothing; applied again, all is the same."""
    store = TaskStore(database)
    declared = {"t": TaskDeclaration.model_validate({"every": "10 minutes", "jitter": "5m"}).written()}
    planned = await store.apply_tasks(declared, plan_only=True, actor="tests")
    assert await store.list_tasks() == []
    assert await store.apply_tasks(declared, plan_only=False, actor="tests") == planned
    assert {change.change for change in planned} == {"add"}
    (same,) = await store.apply_tasks(declared, plan_only=False, actor="tests")
    assert (same.change, same.field) == ("same", None)
    declared["t"]["lease"] = "1 minute"
    (changed,) = await store.apply_tasks(declared, plan_only=True, actor="tests")
    assert (changed.change, changed.field, changed.old, changed.new) == ("change", "lease", "00:05:00", "00:01:00")


async def test_what_was_tuned_stays(schedule: Schedule, database: Database) -> None:
    """A program that declares its tasks again overwrites nothing; two that start at once agree."""
    store = TaskStore(database)
    declared = {"t": {"every": "1 minute"}, "u": {"cron": "@daily"}}
    both = await asyncio.gather(*(store.declare_tasks(declared, actor="tests") for _ in range(2)))
    assert sorted(name for names in both for name in names) == ["t", "u"]
    await schedule.change("t", every="2 minutes")
    assert await store.declare_tasks(declared, actor="tests") == []
    assert (await schedule.row("t"))["every"] == 2 * MINUTE


@pytest.mark.parametrize(
    ("fields", "fact", "words"),
    [
        ({"every": "1 minute", "cron": "@daily"}, InvalidTask, "both"),
        ({"evry": "1 minute"}, InvalidTask, 'unknown field "evry"'),
        ({"every": "soon"}, InvalidTask, "interval"),
        ({"every": "-1 minute"}, InvalidTask, "cannot be so"),
        ({"cron": "0 0 30 2 *"}, InvalidCron, "never comes"),
        ({"cron": "61 * * * *"}, InvalidCron, "minute 61"),
        ({"cron": "@daily", "time_zone": "Mars/Olympus"}, InvalidCron, "no time zone"),
        ({"run": "livewell.nothing"}, InvalidTask, "no function livewell.nothing"),
        ({"run": "livewell_private.check_task"}, InvalidTask, "no function"),
        ({"run": "pg_catalog.pg_sleep; drop table x"}, InvalidTask, "no function"),
        ({"backoff_min": "1 hour", "backoff_max": "1 minute"}, InvalidTask, "task_backoff_is_a_range"),
        ({"lease": "0 seconds"}, InvalidTask, "task_lease_is_at_least_a_moment"),
    ],
)
async def test_a_task_that_cannot_be_is_refused(
    schedule: Schedule, fields: dict[str, Any], fact: type[LivewellError], words: str
) -> None:
    """What could not run is refused whole, with a fact that says what is wrong."""
    with pytest.raises(fact, match=words):
        await schedule.put("t", **fields)
    assert await schedule.look(NOON, "t") == ([], None)


async def test_every_change_is_audited_and_told(schedule: Schedule, owner: Database) -> None:
    """Declared, changed, disabled, enabled: each with who, why and what; runs are not."""
    await schedule.put("t", every="1 minute", run="livewell.task_rescue")
    await schedule.change("t", lease="1 minute")
    await schedule.change("t", enabled=False)
    await schedule.change("t", enabled=True)
    assert not await schedule.change("t", enabled=True)
    await schedule.run("t", NOON)
    rows = await owner.fetch(
        "select event, actor, reason, new::text from livewell_private.audit_entry where record_id = 't' order by id"
    )
    assert [row["event"] for row in rows] == ["task_declared", "task_changed", "task_disabled", "task_enabled"]
    assert {row["actor"] for row in rows} == {"tests"}
    assert rows[1]["new"] == '{"lease": "00:01:00"}'


async def test_a_changed_schedule_counts_from_now(schedule: Schedule) -> None:
    """A shorter interval takes effect at once, and what follows from the schedule follows it unless it is said."""
    await schedule.put("t", every="1 day", late_after="2 days")
    taken = await schedule.take("t", NOON)
    await schedule.finish("t", taken["token"], NOON)
    await schedule.change("t", every="1 minute")
    row = await schedule.row("t")
    assert (row["due_at"], row["late_after"]) == (NOON + MINUTE, 11 * MINUTE)
    await schedule.change("t", cron="0 9 * * 1-5", late_after="4 days")
    row = await schedule.row("t")
    assert (row["every"], row["due_at"], row["late_after"]) == (None, NOON + timedelta(hours=21), timedelta(days=4))


async def test_enabled_again_it_does_not_make_good_what_it_missed(schedule: Schedule) -> None:
    """A cron task that was disabled over its time waits for the next one."""
    await schedule.put("t", cron="0 13 * * *", enabled=False)
    later = NOON + timedelta(days=1, hours=2)
    await schedule.change("t", later, enabled=True)
    assert (await schedule.row("t"))["due_at"] == later + timedelta(hours=23)


async def test_shipped_tasks_are_what_their_rooms_need(database: Database) -> None:
    """The tasks of the rooms are there after migration, each with a function that pg_cron can run."""
    tasks = {task.name: task for task in await TaskStore(database).list_tasks()}
    assert set(tasks) >= {"rescue", "job_partitions", "job_retention", "audit_seal", "settings_care", "task_history"}
    assert all((task.run or "").partition(".")[2] == f"task_{task.name}" for task in tasks.values())
    assert tasks["job_retention"].cron == "0 2 * * 0"
    assert tasks["job_retention"].due_at.isoweekday() == 7
    assert tasks["rescue"].every == timedelta(seconds=1)
