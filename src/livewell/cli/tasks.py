"""`livewell tasks`: what runs again and again, when, and how it went."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Before, Json, Reason, chosen
from livewell.cli.output import say, show_list, show_one, shown_json
from livewell.cli.session import run, run_application, set_up_logs, who

if TYPE_CHECKING:
    from livewell.schedule import RunAnswer, Task
    from livewell.stores import Stores

group = listing("Show, run, tune, enable and disable tasks.")

Name = Annotated[str, typer.Argument(metavar="TASK", help="The task.")]


@group.command("list", epilog="Example: livewell tasks list")
def list_tasks(ctx: typer.Context, as_json: Json = False) -> None:
    """List tasks, when each runs next, and how it went."""
    tasks = run(ctx, lambda app: app.tasks.list_tasks())
    show_list(
        tasks,
        ("TASK", "RUNS", "NEXT", "LAST SUCCESS", "FAILURES", "HOLDER", "ENABLED"),
        lambda task: (
            task.name,
            task.every or f"{task.cron} {task.time_zone}",
            task.due_at,
            task.last_success_at,
            task.failures,
            task.holder,
            task.enabled,
        ),
        as_json=as_json,
    )


@group.command("show", epilog="Example: livewell tasks show rescue")
def show_task(ctx: typer.Context, task: Name, as_json: Json = False) -> None:
    """Show one task. With everything that can be tuned."""
    found = run(ctx, lambda app: _one(app, task))
    show_one(found, as_json=as_json)


@group.command("history", epilog="Example: livewell tasks history rescue --failed")
def show_history(
    ctx: typer.Context,
    task: Annotated[str | None, typer.Argument(metavar="TASK", help="The task; all if left out.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only runs that failed or were lost.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")] = 50,
    before: Before = None,
    as_json: Json = False,
) -> None:
    """List ended runs, newest first. Quiet ones share a line per hour."""
    outcomes = ["failed", "lost"] if failed else None

    async def runs(app: "Stores") -> Any:
        if task is not None:
            await _one(app, task)
        return await app.tasks.list_runs(task, before=before, outcomes=outcomes, limit=limit)

    found = run(ctx, runs)
    show_list(
        found,
        ("ID", "TASK", "OUTCOME", "RUNS", "STARTED", "LONGEST", "NODE", "WHAT"),
        lambda run: (
            run.id,
            run.task,
            "quiet" if run.quiet else run.outcome,
            run.runs,
            run.started_at,
            run.longest_time,
            run.node,
            run.error or run.result,
        ),
        as_json=as_json,
    )


@group.command("run", epilog="Example: livewell tasks run job_retention --force")
def run_task(
    ctx: typer.Context,
    task: Name,
    force: Annotated[bool, typer.Option("--force", help="Also when it is not due, or disabled.")] = False,
    application: Annotated[
        str | None,
        typer.Option("--app", metavar="MODULE:APP", help="The application whose handler runs it, if one does."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a task here if it is due and free. Ends with 0 when it ran or was skipped, with 1 when it failed."""
    from livewell.cli.errors import TaskFailed

    answer = _answered(ctx, task, application, force=force)
    if as_json:
        say(shown_json(answer))
    elif "ran" not in answer:
        say(f"{task} was skipped: {answer['reason']}")
    elif answer["ok"]:
        say(f"{task} ran: {shown_json(answer['result'])}")
    if not answer["ok"]:
        raise TaskFailed(f"task {task} failed: {answer['error']['message']}", fix=f"livewell tasks history {task}")


@group.command("enable", epilog="Example: livewell tasks enable job_retention")
def enable_task(ctx: typer.Context, task: Name, reason: Reason = None) -> None:
    """Let a task run again. An interval counts from now, a missed time of a cron expression is not made good."""
    _set(ctx, task, {"enabled": True}, reason, "is enabled", "was enabled already")


@group.command("disable", epilog="Example: livewell tasks disable job_retention --reason 'looking into it'")
def disable_task(ctx: typer.Context, task: Name, reason: Reason = None) -> None:
    """Run a task no more. What is running ends; health no longer asks for it."""
    _set(ctx, task, {"enabled": False}, reason, "is disabled", "was disabled already")


@group.command("set", epilog="Example: livewell tasks set report cron='0 9 * * 1-5' time_zone=Europe/Berlin")
def set_task(
    ctx: typer.Context,
    task: Name,
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE…",
            help="description, run, every, cron, time_zone, jitter, backoff_min, backoff_max, lease, time_limit,"
            " late_after, enabled; NAME= for the default.",
        ),
    ],
    reason: Reason = None,
) -> None:
    """Tune a task while everything runs. Only the named fields change."""
    from livewell.cli.inputs import task_changes

    _set(ctx, task, task_changes(changes), reason, "changed", "is so already")


def _answered(ctx: typer.Context, task: str, application: str | None, *, force: bool) -> "RunAnswer":
    """What the run answers; a schedule that cannot be reached runs nothing and says so."""
    from livewell.cli.errors import CliError
    from livewell.kernel import LivewellError
    from livewell.schedule import TaskError, skipped

    try:
        if application is None:
            return run_application(ctx, lambda app: app.run_task(task, force=force), log_level="error")
        return _run_with(ctx, application, task, force=force)
    except (CliError, TaskError):
        raise
    except LivewellError as error:
        return skipped("schedule_read_error", error=str(error))


def _run_with(ctx: typer.Context, application: str, task: str, *, force: bool) -> "RunAnswer":
    import asyncio

    from livewell.cli.loading import load_application

    set_up_logs("error")
    app = load_application(application, chosen(ctx))

    async def ran() -> "RunAnswer":
        async with app:
            return await app.run_task(task, force=force)

    return asyncio.run(ran())


def _set(ctx: typer.Context, task: str, changes: dict[str, Any], reason: str | None, done: str, was: str) -> None:
    changed = run(ctx, lambda app: app.tasks.set_task(task, changes, reason=reason, actor=who()))
    say(f"{task} {done}" if changed else f"{task} {was}")


async def _one(app: "Stores", task: str) -> "Task":
    from livewell.cli.inputs import named
    from livewell.schedule import UnknownTask

    return named(task, await app.tasks.list_tasks(), UnknownTask, "there is no task", "tasks")
