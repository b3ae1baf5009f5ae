"""`run_task`: take, run and finish in one call, answered by one document whatever happens."""

import asyncio
from datetime import timedelta

import pytest

from livewell.kernel import Database
from livewell.schedule import InvalidTask, NotRunnableHere, TaskBusy
from livewell.schedule.tests.sql_surface import MINUTE, NOON, SECOND, Schedule, make_function
from livewell.testing import connected


async def test_a_run_is_answered_with_what_it_did(schedule: Schedule, owner: Database) -> None:
    """A due task runs with the time passed in; asked again it is skipped, and that is fine."""
    run = await make_function(owner, "work", "return jsonb_build_object('at', p_now, 'done', 3);")
    await schedule.put("t", every="1 minute", run=run)
    answer = await schedule.run("t", NOON)
    assert answer == {"ok": True, "ran": True, "result": {"at": NOON.isoformat(), "done": 3}}
    assert await schedule.run("t", NOON) == {"ok": True, "skipped": True, "reason": "not_due"}
    (run_row,) = await schedule.runs("t")
    assert (run_row["outcome"], run_row["node"], run_row["quiet"]) == ("succeeded", "n1", False)


async def test_a_failing_run_is_undone_recorded_and_backed_off(schedule: Schedule, owner: Database) -> None:
    """What a failed run wrote is gone, its error stays, the caller is told and not thrown at."""
    await owner.execute("create table public.effects (n integer)")
    run = await make_function(owner, "bad", "insert into public.effects values (1); perform 1 / 0; return null;")
    await schedule.put("t", every="1 minute", run=run)
    answer = await schedule.run("t", NOON)
    assert (answer["ok"], answer["ran"], answer["error"]["type"]) == (False, True, "22012")
    assert await owner.fetchval("select count(*) from public.effects") == 0
    row = await schedule.row("t")
    assert (row["failures"], row["last_success_at"], row["lease_until"]) == (1, None, None)
    assert 2 * MINUTE <= row["due_at"] - NOON < 4 * MINUTE + 10 * SECOND
    (failed,) = await schedule.runs("t")
    assert (failed["outcome"], "division by zero" in str(failed["error"])) == ("failed", True)


async def test_a_check_at_commit_fails_the_run_not_the_call(schedule: Schedule, owner: Database) -> None:
    """What is only checked at the end of a transaction is checked before the run is recorded."""
    await owner.execute(
        "create table public.p (id integer primary key);"
        " create table public.c (id integer references public.p deferrable initially deferred)"
    )
    run = await make_function(owner, "orphan", "insert into public.c values (7); return null;")
    await schedule.put("t", every="1 minute", run=run)
    assert (await schedule.run("t", NOON))["error"]["type"] == "23503"
    assert (await schedule.row("t"))["failures"] == 1


async def test_a_cancelled_run_is_a_failed_run(schedule: Schedule, owner: Database, database: Database) -> None:
    """A run stopped by the server's time limit is recorded as failed, in the same call."""
    run = await make_function(owner, "slow", "perform pg_sleep(30); return null;")
    await schedule.put("t", every="1 minute", run=run)
    async with database.transaction() as connection:
        await connection.execute("set local statement_timeout = '200ms'")
        answer = await Schedule(connection).run("t", NOON)
    assert (answer["ok"], answer["error"]["type"]) == (False, "57014")
    assert (await schedule.row("t"))["failures"] == 1


async def test_a_damaged_schedule_runs_nothing_and_says_so(schedule: Schedule, owner: Database) -> None:
    """Whatever keeps the schedule from being read, nothing runs, and the answer says why."""
    await owner.execute("create table public.effects (n integer)")
    run = await make_function(owner, "work", "insert into public.effects values (1); return null;")
    await schedule.put("t", every="1 minute", run=run)
    for damage, repair in (
        (
            "alter table livewell_private.task rename to task_away",
            "alter table livewell_private.task_away rename to task",
        ),
        (
            "alter table livewell_private.task rename column due_at to x",
            "alter table livewell_private.task rename column x to due_at",
        ),
        (
            "revoke select, update on livewell_private.task from livewell_owner",
            "grant all on livewell_private.task to livewell_owner",
        ),
        ("delete from livewell_private.setting where name = 'maintenance.enabled'", "select 1"),
    ):
        await owner.execute(damage)
        answer = await schedule.run("t", NOON)
        await owner.execute(repair)
        assert (answer["ok"], answer["skipped"], answer["reason"]) == (True, True, "schedule_read_error"), damage
        assert answer["error"]
    assert await owner.fetchval("select count(*) from public.effects") == 0


async def test_the_first_runs_on_an_empty_database_work(database: Database) -> None:
    """Just migrated, every shipped task can be run, and none is skipped for anything but its time."""
    everything = Schedule(database)
    for row in await database.fetch("select name from livewell.tasks"):
        answer = await everything.run(row["name"], (await everything.row(row["name"]))["due_at"])
        assert (answer["ok"], answer["ran"]) == (True, True), row["name"]


async def test_a_task_of_a_program_is_not_for_sql(schedule: Schedule) -> None:
    """A task without a function is refused with a fact, and stays due."""
    await schedule.put("t", every="1 minute")
    with pytest.raises(NotRunnableHere):
        await schedule.run("t", NOON)
    assert (await schedule.take("t", NOON))["reason"] is None


async def test_a_function_that_would_get_our_rights_is_refused(schedule: Schedule, owner: Database) -> None:
    """A task runs with its function's owner's rights: declared without that it is refused, changed since it fails."""
    run = await make_function(owner, "invoker", "return null;", security="invoker")
    with pytest.raises(InvalidTask, match="security definer"):
        await schedule.put("t", every="1 minute", run=run)
    await make_function(owner, "invoker", "return null;")
    await schedule.put("t", every="1 minute", run=run)
    await make_function(owner, "invoker", "return null;", security="invoker")
    assert "security definer" in (await schedule.run("t", NOON))["error"]["message"]


async def test_quiet_runs_share_a_row_per_hour(schedule: Schedule, owner: Database) -> None:
    """Ticks of an hour that found nothing are one row with their number and times; what did something has its own."""
    run = await make_function(
        owner, "tick", "return jsonb_build_object('done', case when extract(second from p_now) = 7 then 1 else 0 end);"
    )
    await schedule.put("t", every="1 second", run=run)
    now = NOON
    for _ in range(10):
        now = max(now, (await schedule.row("t"))["due_at"])
        assert (await schedule.run("t", now.replace(microsecond=0) + SECOND))["ran"]
    runs = await schedule.runs("t")
    busy = sum(1 for run in runs if not run["quiet"])
    assert len(runs) == busy + 1
    (quiet,) = [run for run in runs if run["quiet"]]
    assert (quiet["runs"] + busy, quiet["total_time"] >= quiet["longest_time"] > timedelta()) == (10, True)


async def test_history_is_forgotten_in_time(schedule: Schedule, database: Database, owner: Database) -> None:
    """Runs past their retention go, newer ones stay; more than a batch asks to be run again at once."""
    await owner.execute(
        "insert into livewell_private.task_run (task, epoch, node, outcome, started_at, ended_at, total_time,"
        " longest_time)"
        " select 't', n, 'n', 'failed', $1, $1, '1 s', '1 s' from generate_series(1, 5001) as n",
        NOON - timedelta(days=15),
    )
    await schedule.put("t", every="1 minute", run="livewell_private.task_task_history")
    assert (await schedule.run("t", NOON))["result"] == {"forgotten": 5000, "again_in": "0 seconds"}
    now = (await schedule.row("t"))["due_at"]
    assert now - NOON < 10 * SECOND
    assert (await schedule.run("t", now))["result"] == {"forgotten": 1, "again_in": None}
    assert {run["outcome"] for run in await schedule.runs("t")} == {"succeeded"}


async def test_a_partition_is_dropped_per_run(database: Database, owner: Database) -> None:
    """Retention drops one partition per transaction and goes on at once, so that no lock outlives a drop."""
    everything = Schedule(database)
    long_ago = NOON - timedelta(days=60)
    await owner.fetch("select livewell.make_job_partitions(1, $1)", long_ago)
    now = max(NOON, (await everything.row("job_retention"))["due_at"])
    dropped = []
    while "ran" in (answer := await everything.run("job_retention", now)):
        dropped += answer["result"]["dropped"]
        assert len(answer["result"]["dropped"]) <= 1
        if answer["result"]["again_in"] is None:
            break
        now = (await everything.row("job_retention"))["due_at"]
    assert len(dropped) == 6
    assert (await everything.row("job_retention"))["due_at"].isoweekday() == 7


async def test_sealing_follows_its_setting(database: Database) -> None:
    """The task audit_seal runs again after `audit.seal_interval`, whatever that is now."""
    everything = Schedule(database)
    await database.fetchval("select livewell.set_setting('audit.seal_interval', '42 seconds')")
    now = (await everything.row("audit_seal"))["due_at"]
    assert (await everything.run("audit_seal", now))["ran"]
    assert 42 * SECOND <= (await everything.row("audit_seal"))["due_at"] - now < 44 * SECOND


async def test_settings_care_names_what_is_out_of_bounds(database: Database, owner: Database) -> None:
    """A value that no longer is what it may be is named with what it should be, and left as it is."""
    everything = Schedule(database)
    await owner.execute(
        "update livewell_private.setting set value = '00:10:00' where name = 'worker.heartbeat_interval'"
    )
    now = (await everything.row("settings_care"))["due_at"]
    unfit = (await everything.run("settings_care", now))["result"]["unfit"]
    assert {setting["setting"] for setting in unfit} == {"worker.heartbeat_interval", "worker.timeout"}


async def test_a_running_function_is_not_waited_for_long(schedule: Schedule, database_url: str) -> None:
    """Changing a task whose function is at work is refused in seconds, with a fact, and works afterwards."""
    await schedule.put("t", every="1 minute", run="livewell.task_rescue")
    async with connected(database_url) as holding:
        await holding.execute("begin")
        assert (await Schedule(holding).run("t", NOON))["ran"]
        async with asyncio.timeout(10):
            with pytest.raises(TaskBusy):
                await schedule.change("t", enabled=False)
        await holding.execute("commit")
    assert await schedule.change("t", enabled=False)


async def test_a_partition_in_use_is_tried_again_soon(database: Database, owner: Database) -> None:
    """Retention that finds a partition busy does not wait for its next Sunday."""
    everything = Schedule(database)
    await owner.fetch("select livewell.make_job_partitions(0, $1)", NOON - timedelta(days=60))
    now = max(NOON, (await everything.row("job_retention"))["due_at"])
    async with owner.transaction() as reader:
        await reader.execute(
            "lock table livewell_private.job_done, livewell_private.job_failed, livewell_private.job_attempt in"
            " access share mode"
        )
        answer = await everything.run("job_retention", now)
    assert (answer["result"]["dropped"], len(answer["result"]["busy"])) == ([], 3)
    assert timedelta(minutes=15) <= (await everything.row("job_retention"))["due_at"] - now < timedelta(minutes=16)
