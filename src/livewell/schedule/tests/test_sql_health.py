"""Health: from the last success of every expected task, never from the absence of complaints."""

from datetime import timedelta

from livewell.kernel import Database
from livewell.schedule.tests.sql_surface import MINUTE, NOON, SECOND, Schedule


async def _late(schedule: Schedule, now: object) -> list[str]:
    health = await schedule.health(now)  # type: ignore[arg-type]
    assert health["ok"] is not bool(health["late"])
    return [task["task"] for task in health["late"]]


async def test_a_task_that_never_ran_is_late(schedule: Schedule) -> None:
    """From its declaration on a task has its time; after that its silence is a complaint."""
    await schedule.put("t", every="1 minute", late_after="5 minutes")
    assert await _late(schedule, NOON + 5 * MINUTE) == []
    assert await _late(schedule, NOON + 5 * MINUTE + SECOND) == ["t"]


async def test_a_failed_run_is_no_run(schedule: Schedule) -> None:
    """Only a success counts: a task that runs and fails is late like one that does not run."""
    await schedule.put("t", every="1 minute", late_after="5 minutes")
    for minutes, outcome in ((0, "succeeded"), (4, "failed")):
        taken = await schedule.take("t", NOON + minutes * MINUTE, force=True)
        await schedule.finish("t", taken["token"], NOON + minutes * MINUTE, outcome, error={"message": "no"})
    health = await schedule.health(NOON + 6 * MINUTE)
    assert [(task["task"], task["last_error"]) for task in health["late"]] == [("t", {"message": "no"})]
    taken = await schedule.take("t", NOON + 6 * MINUTE, force=True)
    await schedule.finish("t", taken["token"], NOON + 6 * MINUTE)
    assert await _late(schedule, NOON + 7 * MINUTE) == []


async def test_disabled_is_not_late_and_enabled_again_has_its_time(schedule: Schedule) -> None:
    """Nobody expects a disabled task; enabled again it is expected from then on."""
    await schedule.put("t", every="1 minute", late_after="5 minutes")
    await schedule.change("t", enabled=False)
    assert await _late(schedule, NOON + timedelta(days=1)) == []
    await schedule.change("t", NOON + timedelta(days=1), enabled=True)
    assert await _late(schedule, NOON + timedelta(days=1, minutes=5)) == []
    assert await _late(schedule, NOON + timedelta(days=1, minutes=6)) == ["t"]


async def test_maintenance_is_stated_and_expects_nothing(schedule: Schedule, database: Database) -> None:
    """In maintenance mode nothing is late, and the answer says so; after it every task has its time again."""
    await schedule.put("t", every="1 minute", late_after="5 minutes")
    switch = "select livewell.set_setting('maintenance.enabled', $1, 'tests', null, $2)"
    await database.fetchval(switch, "true", NOON)
    health = await schedule.health(NOON + timedelta(days=1))
    assert (health["ok"], health["maintenance"], health["late"]) == (True, True, [])
    await database.fetchval(switch, "false", NOON + timedelta(days=1))
    assert await _late(schedule, NOON + timedelta(days=1, minutes=5)) == []
    assert await _late(schedule, NOON + timedelta(days=1, minutes=6)) == ["t"]


async def test_an_empty_schedule_is_not_healthy(schedule: Schedule) -> None:
    """Where nothing is expected at all, somebody has lost the schedule."""
    health = await schedule.health(NOON)
    assert (health["ok"], health["tasks"]) == (False, 0)
