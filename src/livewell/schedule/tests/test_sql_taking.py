"""Taking, renewing and finishing: one holder at a time, told by its token alone."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from livewell.kernel import Database
from livewell.schedule import UnknownTask
from livewell.schedule.tests.sql_surface import MINUTE, NOON, SECOND, Schedule
from livewell.testing import connected


async def test_a_due_task_is_taken_once(schedule: Schedule) -> None:
    """Due and free it is taken; held it is locked; finished it is not due until its interval is over."""
    await schedule.put("t", every="1 minute")
    taken = await schedule.take("t", NOON)
    assert (taken["reason"], taken["epoch"], taken["lease_seconds"]) == (None, 1, 300)
    assert (await schedule.take("t", NOON + SECOND, "n2"))["reason"] == "locked"
    assert await schedule.finish("t", taken["token"], NOON + SECOND) == "succeeded"
    assert (await schedule.take("t", NOON + MINUTE, "n2"))["reason"] == "not_due"
    assert (await schedule.take("t", NOON + MINUTE + SECOND, "n2"))["epoch"] == 2


async def test_disabled_and_maintenance_hold_back(schedule: Schedule, database: Database) -> None:
    """A disabled task says so, maintenance mode says so for all, and force overrides the first alone."""
    await schedule.put("t", every="1 minute", enabled=False)
    assert (await schedule.take("t", NOON))["reason"] == "disabled"
    await database.fetchval("select livewell.set_setting('maintenance.enabled', 'true')")
    assert (await schedule.take("t", NOON, force=True))["reason"] == "maintenance"
    assert await schedule.look(NOON) == ([], None)
    await database.fetchval("select livewell.set_setting('maintenance.enabled', 'false')")
    assert (await schedule.take("t", NOON, force=True))["reason"] is None


async def test_force_takes_what_is_not_due_but_never_what_is_held(schedule: Schedule, owner: Database) -> None:
    """A forced run is early, not double, and it is on record who forced it."""
    await schedule.put("t", cron="0 0 1 1 *")
    assert (await schedule.take("t", NOON))["reason"] == "not_due"
    assert (await schedule.take("t", NOON, "hand", force=True))["reason"] is None
    assert (await schedule.take("t", NOON, force=True))["reason"] == "locked"
    forced = await owner.fetch("select actor, record_id from livewell_private.audit_entry where event = 'task_forced'")
    assert [tuple(row) for row in forced] == [("hand", "t")]


async def test_an_expired_lease_is_free_and_its_holder_is_refused(schedule: Schedule) -> None:
    """A silent holder's task goes to another; when it comes back, nothing it does counts, and history tells."""
    await schedule.put("t", every="1 minute", lease="30 seconds")
    late = await schedule.take("t", NOON)
    assert (await schedule.take("t", NOON + 29 * SECOND, "n2"))["reason"] == "locked"
    taken = await schedule.take("t", NOON + 30 * SECOND, "n2")
    assert taken["reason"] is None
    assert await schedule.renew("t", late["token"], NOON + 31 * SECOND) == "lost"
    before = await schedule.row("t")
    assert await schedule.finish("t", late["token"], NOON + 31 * SECOND, result={"done": 1}) == "lost"
    assert await schedule.row("t") == before
    (lost,) = await schedule.runs("t")
    assert (lost["outcome"], lost["node"], lost["epoch"]) == ("lost", "n1", 1)
    assert await schedule.finish("t", taken["token"], NOON + 40 * SECOND, result={"done": 1}) == "succeeded"


async def test_a_renewed_lease_lasts_from_its_renewal(schedule: Schedule) -> None:
    """While it is renewed nobody else gets the task."""
    await schedule.put("t", every="1 minute", lease="30 seconds")
    taken = await schedule.take("t", NOON)
    assert await schedule.renew("t", taken["token"], NOON + 20 * SECOND) == "renewed"
    assert (await schedule.take("t", NOON + 49 * SECOND, "n2"))["reason"] == "locked"
    assert await schedule.renew("t", uuid4(), NOON + 20 * SECOND) == "lost"


async def test_the_token_decides_not_the_time(schedule: Schedule) -> None:
    """An expired lease that nobody has taken may still finish, once."""
    await schedule.put("t", every="1 minute", lease="30 seconds")
    taken = await schedule.take("t", NOON)
    assert await schedule.finish("t", taken["token"], NOON + MINUTE) == "succeeded"
    assert await schedule.finish("t", taken["token"], NOON + MINUTE) == "lost"


async def test_success_goes_on_with_jitter_and_failure_backs_off(schedule: Schedule) -> None:
    """Where nothing is said: 10 to 15 minutes after a success, 20 to 40 after a failure, a lease of 5 minutes."""
    await schedule.put("t")
    now, waits = NOON, {"succeeded": set[float](), "failed": set[float]()}
    for number in range(60):
        outcome = "failed" if number % 2 else "succeeded"
        taken = await schedule.take("t", now)
        assert taken["lease_seconds"] == 300
        await schedule.finish("t", taken["token"], now, outcome, error={"message": "no"} if number % 2 else None)
        row = await schedule.row("t")
        waits[outcome].add((row["due_at"] - now) / MINUTE)
        assert row["failures"] == number % 2
        now = row["due_at"]
    assert 10 <= min(waits["succeeded"]) < 11.5
    assert 13.5 < max(waits["succeeded"]) <= 15
    assert 20 <= min(waits["failed"]) < 26
    assert 34 < max(waits["failed"]) <= 40


async def test_the_backoff_follows_a_shorter_interval_and_never_passes_the_next_cron_time(schedule: Schedule) -> None:
    """A task that ticks every ten seconds is not put off for twenty minutes, nor a cron task past its next time."""
    await schedule.put("tick", every="10 seconds")
    await schedule.put("hourly", cron="@hourly")
    for name, bound in (("tick", 40 * SECOND), ("hourly", timedelta(minutes=30))):
        now = (await schedule.row(name))["due_at"] + timedelta(minutes=30)
        taken = await schedule.take(name, now)
        await schedule.finish(name, taken["token"], now, "failed", error={"message": "no"})
        assert SECOND < (await schedule.row(name))["due_at"] - now <= bound


async def test_missed_runs_come_once(schedule: Schedule) -> None:
    """After a week of silence a task runs once, and then by its schedule from now."""
    await schedule.put("hourly", cron="0 * * * *")
    await schedule.put("often", every="1 minute")
    later = NOON + timedelta(days=7, minutes=10)
    for name, wait in (("hourly", 50 * MINUTE), ("often", MINUTE)):
        taken = await schedule.take(name, later)
        assert await schedule.finish(name, taken["token"], later) == "succeeded"
        assert (await schedule.row(name))["due_at"] == later + wait
        assert (await schedule.take(name, later))["reason"] == "not_due"


async def test_a_run_may_ask_to_be_run_again(schedule: Schedule) -> None:
    """`again_in` in the answer sets the next run; what is not an interval is ignored."""
    await schedule.put("t", every="1 hour")
    for asked, wait in (
        ("0 seconds", 0 * SECOND),
        ("7 seconds", 7 * SECOND),
        ("soon", 3600 * SECOND),
        (None, 3600 * SECOND),
    ):
        taken = await schedule.take("t", NOON, force=True)
        await schedule.finish("t", taken["token"], NOON, result={"again_in": asked})
        assert (await schedule.row("t"))["due_at"] == NOON + wait


async def test_looking_tells_what_is_due_and_when_to_look_again(schedule: Schedule) -> None:
    """Oldest first, handlers only where they are; then the next time, and a held task after its interval."""
    await schedule.put("a", NOON - MINUTE, every="1 minute")
    await schedule.put("b", NOON - 2 * MINUTE, every="1 minute", run="livewell.task_rescue")
    await schedule.put("c", NOON, cron="5 12 * * *")
    assert (await schedule.look(NOON, "a"))[0] == ["b", "a"]
    assert (await schedule.look(NOON))[0] == ["b"]
    await schedule.take("b", NOON)
    assert await schedule.look(NOON, "c") == ([], 60)
    taken = await schedule.take("a", NOON)
    await schedule.finish("a", taken["token"], NOON, result={"again_in": "4 seconds"})
    assert await schedule.look(NOON, "a", "c") == ([], 4)


async def test_an_unknown_task_is_a_fact(schedule: Schedule) -> None:
    """Asked for a task that is not there, everything says so, and which one was probably meant."""
    await schedule.put("job_retention", every="1 day")
    for asked in (
        schedule.take("job_retenton", NOON),
        schedule.run("job_retenton", NOON),
        schedule.change("job_retenton"),
    ):
        with pytest.raises(UnknownTask) as told:
            await asked
        assert told.value.fix == "did you mean job_retention?"


async def test_a_locked_row_is_never_waited_for(schedule: Schedule, database_url: str) -> None:
    """While a transaction holds a task, others are told so at once."""
    await schedule.put("t", every="1 minute", run="livewell.task_rescue")
    async with connected(database_url) as holding:
        await holding.execute("begin")
        assert (await Schedule(holding).run("t", NOON))["ran"]
        async with asyncio.timeout(5):
            assert await schedule.run("t", NOON) == {"ok": True, "skipped": True, "reason": "locked"}
            assert (await schedule.take("t", NOON))["reason"] == "locked"
        await holding.execute("rollback")
    assert (await schedule.run("t", NOON))["ran"]


async def test_eight_nodes_race_for_a_thousand_runs(schedule: Schedule, owner: Database, database_url: str) -> None:
    """A thousand due tasks and eight connections: every task ran exactly once, by the tasks' own record."""
    await owner.execute(
        "create table public.seen (task text, node text); grant insert on public.seen to livewell_service"
    )
    await owner.execute(
        "insert into livewell_private.task (name, every, late_after, due_at)"
        " select 't' || n, '1 hour', '1 day', $1 from generate_series(1, 1000) as n",
        NOON,
    )

    async def node(number: int) -> None:
        async with connected(database_url) as connection:
            mine = Schedule(connection)
            while due := (await mine.look(NOON, *(f"t{n}" for n in range(1, 1001))))[0]:
                for name in due[number * 7 % len(due) :][:20] or due:
                    taken = await mine.take(name, NOON, f"n{number}")
                    if taken["reason"] is None:
                        await connection.execute("insert into public.seen values ($1, $2)", name, f"n{number}")
                        assert await mine.finish(name, taken["token"], NOON) == "succeeded"

    await asyncio.gather(*(node(number) for number in range(8)))
    counts = await owner.fetchrow("select count(*), count(distinct task), count(distinct node) from public.seen")
    assert counts is not None
    assert tuple(counts)[:2] == (1000, 1000)
    assert counts[2] > 1
