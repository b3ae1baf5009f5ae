"""The scheduler in a process: what is due runs, beside each other, under leases it keeps and gives up in time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from livewell.app import Livewell
from livewell.kernel import Database
from livewell.schedule import InvalidTask, Scheduler, TaskContext, TaskLeases, TaskStore
from livewell.schedule.leases import LeasedTask, Stop
from livewell.schedule.store import SqlTaskStore
from livewell.schedule.tests.sql_surface import make_function, only
from livewell.settings import SettingsWatcher
from livewell.testing import until


@asynccontextmanager
async def scheduling(app: Livewell) -> AsyncIterator[Livewell]:
    """The application with its scheduler at work; drained at the end."""
    async with app:
        running = asyncio.create_task(app.run_scheduler())
        try:
            yield app
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def _outcomes(app: Livewell, task: str) -> list[str]:
    return [run.outcome for run in await app.tasks.list_runs(task)]


async def test_due_tasks_run_where_they_can(database_url: str, owner: Database) -> None:
    """SQL tasks run anywhere, handlers where they are declared; what nobody here can run is left alone."""
    await only(owner)
    run = await make_function(owner, "work", "return jsonb_build_object('done', 1);")
    app = Livewell(database_url)
    seen: list[TaskContext] = []

    @app.task("mine", every="1 hour")
    async def mine(ctx: TaskContext) -> dict[str, int]:
        seen.append(ctx)
        return {"done": 2}

    async with scheduling(app):
        await app.tasks.apply_tasks(
            {"sql": {"run": run, "every": "1 hour"}, "elsewhere": {"every": "1 hour"}}, plan_only=False, actor="tests"
        )
        await until(lambda: _outcomes(app, "sql"), "the SQL task has run")
        await until(lambda: _outcomes(app, "mine"), "the handler has run")
        assert await _outcomes(app, "elsewhere") == []
        (ran,) = await app.tasks.list_runs("mine")
    assert (ran.result, ran.outcome, seen[0].epoch, len(seen)) == ({"done": 2}, "succeeded", 1, 1)


async def test_a_change_wakes_the_scheduler(database_url: str, owner: Database, database: Database) -> None:
    """A task enabled or declared now runs now, though the next poll is minutes away."""
    await only(owner)
    await database.fetchval("select livewell.set_setting('schedule.poll_interval', '10 minutes')")
    app = Livewell(database_url)
    ran = asyncio.Event()

    @app.task("mine", every="1 hour", enabled=False)
    async def mine() -> None:
        ran.set()

    async with scheduling(app):
        await until(lambda: _listening(owner), "the listener is there")
        await app.tasks.set_task("mine", {"enabled": True}, reason=None, actor="tests")
        async with asyncio.timeout(10):
            await ran.wait()


async def test_a_program_that_stops_before_its_commit_gives_the_task_up(database: Database, owner: Database) -> None:
    """A node stopped between a run and its commit keeps the task from others for seconds, and its run is undone."""
    await only(owner)
    await owner.execute("create table public.done (at timestamptz)")
    run = await make_function(owner, "work", "insert into public.done values (p_now); return null;")
    await TaskStore(database).apply_tasks({"sql": {"run": run, "every": "1 hour"}}, plan_only=False, actor="tests")
    async with database.connection() as stopped:
        begun = stopped.transaction()
        await begun.start()
        store = SqlTaskStore(stopped)
        limit = await store.limit_task("sql")
        assert (await store.run_task("sql", "stopped", force=False, within=limit))["ran"]

        async def another_has_run() -> bool:
            answer = await database.fetchval("select livewell.run_task('sql', false, 'another')::text")
            return '"ran"' in answer

        await until(another_has_run, "the task is free again", within=timedelta(seconds=20))
        assert stopped.is_closed()
    assert await owner.fetchval("select count(*) from public.done") == 1


async def _listening(owner: Database) -> bool:
    asked = "select count(*) from pg_stat_activity where query ilike 'listen %' and datname = current_database()"
    return bool(await owner.fetchval(asked))


async def test_a_failing_handler_backs_off_and_stops_nobody(database_url: str, owner: Database) -> None:
    """What a handler raises is on record with its type; others run on."""
    await only(owner)
    app = Livewell(database_url)

    @app.task("bad", every="100ms", backoff=("1 hour", "2 hours"))
    async def bad() -> None:
        raise LookupError("nothing\0there")

    @app.task("good", every="100ms")
    async def good() -> int:
        return 1

    async with scheduling(app):
        await until(lambda: _ran_often(app, "good", 3), "the good one ran three times")
        (failed,) = await app.tasks.list_runs("bad")
    assert failed.error == {"type": "LookupError", "message": "nothing\\0there"}


async def _ran_often(app: Livewell, task: str, times: int) -> bool:
    return len(await app.tasks.list_runs(task)) >= times


async def test_a_long_run_keeps_its_lease(database_url: str, owner: Database, database: Database) -> None:
    """A handler that takes several times its lease is renewed all along, and its end is accepted."""
    await only(owner)
    app = Livewell(database_url)
    go_on = asyncio.Event()

    @app.task("long", every="1 hour", lease="900ms")
    async def long() -> str:
        await go_on.wait()
        return "whole"

    async with scheduling(app):
        await until(lambda: _held_for(owner, timedelta(seconds=2)), "it has been held for twice its lease")
        assert (await TaskStore(database).take_tasks(["long"], "other"))[0].reason == "locked"
        go_on.set()
        await until(lambda: _outcomes(app, "long"), "it has ended")
        assert await _outcomes(app, "long") == ["succeeded"]


async def _held_for(owner: Database, length: timedelta) -> bool:
    return bool(
        await owner.fetchval(
            "select true from livewell_private.task where lease_until - started_at > $1 and lease_until >"
            " clock_timestamp()",
            length,
        )
    )


async def test_a_run_whose_lease_is_gone_is_stopped(database_url: str, owner: Database) -> None:
    """Told by the database that another has the task, the run is cancelled and overwrites nothing."""
    await only(owner)
    app = Livewell(database_url)
    stopped = asyncio.Event()

    @app.task("mine", every="1 hour", lease="900ms")
    async def mine() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with scheduling(app):
        await until(lambda: owner.fetchval("select lease_token from livewell_private.task"), "it is held")
        token = uuid4()
        await owner.execute(
            "update livewell_private.task set lease_token = $1, lease_until = now() + interval '1 hour', holder"
            " = 'other'",
            token,
        )
        async with asyncio.timeout(10):
            await stopped.wait()
        assert await owner.fetchval("select lease_token from livewell_private.task") == token
        assert await _outcomes(app, "mine") == []


async def test_a_run_past_its_time_limit_is_stopped(database_url: str, owner: Database) -> None:
    """A handler by cancellation, a function by the server's time limit: both fail, and say why."""
    await only(owner)
    run = await make_function(owner, "slow", "perform pg_sleep(60); return null;")
    app = Livewell(database_url)

    @app.task("mine", every="1 hour", time_limit="300ms")
    async def mine() -> None:
        await asyncio.Event().wait()

    async with scheduling(app):
        await app.tasks.apply_tasks(
            {"sql": {"run": run, "every": "1 hour", "time_limit": "300 milliseconds"}}, plan_only=False, actor="tests"
        )
        for task in ("mine", "sql"):
            await until(lambda task=task: _outcomes(app, task), f"{task} has ended")  # type: ignore[misc]
        errors = {run.task: run.error for run in await app.tasks.list_runs()}
    assert errors["mine"] == {"type": "overdue", "message": "the run was stopped: it reached its time limit"}
    assert (errors["sql"] or {})["type"] == "57014"


async def test_a_lease_that_cannot_be_renewed_is_given_up_by_the_own_clock(database: Database) -> None:
    """Past the moment until which its lease is trusted a run is stopped, without asking anybody."""
    leases = TaskLeases(TaskStore(database))
    now = asyncio.get_running_loop().time()
    trusted, past = (
        LeasedTask(name=name, token=uuid4(), lease_seconds=900, trusted_until=until, time_limit_seconds=500.0)
        for name, until in (("trusted", now + 800), ("past", now))
    )
    async with leases.keeper.at_work():
        leases.add(trusted)
        leases.add(past)
        leases.keeper.watch()
    assert (trusted.stop, past.stop) == (None, Stop.LOST)


async def test_a_schedule_that_cannot_be_read_runs_nothing(database_url: str, owner: Database) -> None:
    """Whoever asks by name is told so, for a function and for a handler."""
    app = Livewell(database_url)
    ran: list[Any] = []

    @app.task("mine", every="1 hour")
    async def mine() -> None:
        ran.append(1)

    async with app:
        await owner.execute("alter table livewell_private.task rename to task_away")
        for task in ("rescue", "mine"):
            answer = await app.run_task(task)
            assert (answer["ok"], answer["skipped"], answer["reason"]) == (True, True, "schedule_read_error")
    assert ran == []


async def test_a_handler_that_cannot_be_called_is_refused(database_url: str) -> None:
    """Not async, or with more parameters than its context: told when it is declared."""
    app = Livewell(database_url)
    with pytest.raises(InvalidTask):

        @app.task("mine")
        async def mine(ctx: TaskContext, other: int) -> None: ...


async def test_what_nobody_foresaw_stops_no_other_task(database_url: str, owner: Database) -> None:
    """A run that ends in an error of the scheduler's own is held off, and the others go on."""
    await only(owner)
    run = await make_function(owner, "work", "return jsonb_build_object('done', 1);")
    app = Livewell(database_url)
    async with app:
        settings = await SettingsWatcher.begin(app.database)
        scheduler = Scheduler(
            app.database,
            {},
            poll_interval=lambda: settings.current.schedule_poll_interval,
            tell={"odd": lambda result: result["nothing"]},
        )
        fields = {"run": run, "every": "100 milliseconds"}
        await app.tasks.apply_tasks({"odd": fields, "even": fields}, plan_only=False, actor="tests")
        stop = asyncio.Event()
        running = asyncio.create_task(scheduler.run(stop))
        await until(lambda: _ran_often(app, "even", 5), "the other ran five times")
        stop.set()
        await running
        assert 1 <= len(await app.tasks.list_runs("odd")) < len(await app.tasks.list_runs("even"))
