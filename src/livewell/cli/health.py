"""`livewell health` and `livewell watchdog`: whether every task runs in time, told to whoever asks."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from livewell.cli.options import Json, chosen
from livewell.cli.output import counted, say, show_json, show_table
from livewell.cli.session import run, set_up_logs

if TYPE_CHECKING:
    from livewell.schedule import Watchdog as WatchdogAgent

HEALTH_EXAMPLE = "Example: livewell health --json"
WATCHDOG_EXAMPLE = "Example: livewell watchdog --url http://127.0.0.1:8800/healthz --ping https://hc-ping.com/UUID"


def health(
    ctx: typer.Context,
    as_json: Json = False,
) -> None:
    """Say whether every task runs in time. Ends with 1 and the names of those that are late."""
    from livewell.cli.errors import TasksLate
    from livewell.schedule import late_names

    found = run(ctx, lambda app: app.tasks.task_health())
    if as_json:
        show_json(found)
    elif found["late"]:
        show_table(
            ("TASK", "LAST SUCCESS", "LATE BY"),
            [
                (task["task"], task["last_success_at"], timedelta(seconds=task["late_by_seconds"]))
                for task in found["late"]
            ],
        )
    elif found["ok"]:
        mode = ", in maintenance mode: none is expected to run" if found["maintenance"] else ""
        say(f"{counted(found['tasks'], 'task')} in time{mode}")
    problem = late_names(found)
    if problem is not None:
        raise TasksLate(problem, fix="livewell tasks history --failed")


def watchdog(
    ctx: typer.Context,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="The health address to ask, as http://…/healthz.")
    ] = None,
    ping: Annotated[
        str | None, typer.Option("--ping", metavar="URL", help="Told on success; on failure its /fail is.")
    ] = None,
    every: Annotated[str, typer.Option("--every", metavar="DURATION", help="How often.")] = "5m",
    timeout: Annotated[str, typer.Option("--timeout", metavar="DURATION", help="How long an answer may take.")] = "10s",
    database: Annotated[bool, typer.Option("--database", help="Ask the database as well, by SQL.")] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Look once, for an outside cron; ends with 1 on failure.")
    ] = False,
) -> None:
    """Look from outside whether everything runs, and tell a dead-man service. Needs no database, and runs apart."""
    from livewell.cli.errors import Misused, TasksLate
    from livewell.cli.inputs import duration
    from livewell.schedule import Watchdog, WatchdogOptions

    if url is None and not database:
        raise Misused("a watchdog needs something to watch", fix="give --url, or --database, or both")
    for address in (url, ping):
        if address is not None and not address.startswith(("http://", "https://")):
            raise Misused(f"{address!r} is no address", fix="write http://… or https://…")
    pause, limit = duration(every), duration(timeout)
    if not pause or not limit:
        raise Misused("--every and --timeout must be longer than nothing")
    set_up_logs("warning" if once else "info")
    options = WatchdogOptions(url=url, ping=ping, every=pause, timeout=limit)
    agent = Watchdog(options, _database_check(ctx) if database else None)
    if once:
        problems = asyncio.run(agent.run_once())
        if problems:
            raise TasksLate("; ".join(problems), fix="livewell health")
        say("all is well")
        return
    asyncio.run(_watch(agent))


async def _watch(agent: "WatchdogAgent") -> int:
    from livewell.kernel import Service

    return await Service(components=[agent]).run()


def _database_check(ctx: typer.Context) -> Any:
    """A look by SQL over a connection of its own each time, so that nothing of the last look is trusted."""
    from livewell.cli.errors import Misused
    from livewell.kernel import Database, DatabaseOptions
    from livewell.schedule import TaskStore, late_names

    url = chosen(ctx).database_url
    if url is None:
        raise Misused("--database needs an address", fix="give --database-url before the command, or set DATABASE_URL")

    async def check() -> str | None:
        async with await Database.open(DatabaseOptions(url=url)) as database:
            return late_names(await TaskStore(database).task_health())

    return check
