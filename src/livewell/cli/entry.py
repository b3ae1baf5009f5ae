"""The root command, and the entry point that turns facts into one line and an exit code."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from livewell import __version__
from livewell.cli import (
    apply,
    audit,
    budget,
    calendar,
    demo,
    drain,
    endpoints,
    freshness,
    health,
    jobs,
    keys_of,
    kinds,
    lint,
    maintenance,
    migrate,
    outcomes,
    postgres,
    presence,
    providers,
    settings,
    simulate,
    tasks,
    types,
    watch,
    worker,
    workers,
)
from livewell.cli.options import Chosen

INTERRUPTED = 130

app = typer.Typer(
    name="livewell",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)

app.command("migrate", epilog=migrate.EXAMPLE)(migrate.migrate)
app.command("worker", epilog=worker.EXAMPLE)(worker.worker)
app.command("workers", epilog=workers.LIST_EXAMPLE)(workers.list_workers)
app.add_typer(jobs.group, name="jobs")
jobs.group.command("retry", epilog=outcomes.RETRY_EXAMPLE)(outcomes.retry)
jobs.group.command("cancel", epilog=outcomes.CANCEL_EXAMPLE)(outcomes.cancel)
jobs.group.command("ack", epilog=outcomes.ACK_EXAMPLE)(outcomes.ack)
jobs.group.command("drain", epilog=drain.EXAMPLE)(drain.drain)
app.add_typer(kinds.group, name="kinds")
app.command("apply", epilog=apply.EXAMPLE)(apply.apply)
app.command("budget", epilog=budget.EXAMPLE)(budget.budget)
app.command("freshness", epilog=freshness.EXAMPLE)(freshness.freshness)
app.command("watch", epilog=watch.EXAMPLE)(watch.watch)
app.add_typer(endpoints.group, name="endpoint")
app.add_typer(providers.group, name="provider")
app.add_typer(providers.keys, name="keys")
app.add_typer(types.group, name="types")
app.add_typer(keys_of.group, name="keys-of")
app.add_typer(calendar.group, name="calendar")
app.add_typer(presence.sessions, name="sessions")
app.command("viewers", epilog=presence.VIEWERS_EXAMPLE)(presence.list_viewers)
app.add_typer(presence.group, name="presence")
app.add_typer(tasks.group, name="tasks")
app.add_typer(tasks.single, name="task")
app.add_typer(tasks.cron, name="cron")
app.command("health", epilog=health.HEALTH_EXAMPLE)(health.health)
app.command("watchdog", epilog=health.WATCHDOG_EXAMPLE)(health.watchdog)
app.add_typer(settings.group, name="settings")
app.add_typer(maintenance.group, name="maintenance")
app.add_typer(audit.group, name="audit")
app.add_typer(postgres.group, name="postgres")
app.command("rescue", epilog=workers.RESCUE_EXAMPLE)(workers.rescue)
app.command("care", epilog=workers.CARE_EXAMPLE)(workers.care)
app.command("lint", epilog=lint.EXAMPLE)(lint.lint)
app.command("demo", epilog=demo.EXAMPLE)(demo.demo)
app.command("simulate", epilog=simulate.EXAMPLE)(simulate.simulate)


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"livewell {__version__}\n")
        raise typer.Exit


@app.callback(epilog="Start with `livewell demo`, or `livewell worker --help`.")
def root(
    ctx: typer.Context,
    database_url: Annotated[
        str | None,
        typer.Option(
            "--database-url",
            metavar="URL",
            help="The database; else DATABASE_URL, else an embedded PostgreSQL below .livewell.",
        ),
    ] = None,
    version: Annotated[  # noqa: ARG001 - its callback does it
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Keeps the data people are looking at fresh: the queue, its workers, settings and audit log."""
    url = database_url or os.environ.get("DATABASE_URL") or None
    ctx.obj = Chosen(database_url=url, explicit=bool(database_url))


def main(args: Sequence[str] | None = None) -> None:
    """Run a command line and end the process with its exit code."""
    sys.exit(run_command(sys.argv[1:] if args is None else args))


def run_command(args: Sequence[str]) -> int:
    """Run a command line; what goes wrong is one line on standard error."""
    try:
        outcome = app(args, prog_name="livewell", standalone_mode=False)
    except typer.TyperException as error:
        _tell(_misuse(error))
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:
        fact = _fact(error)
        if fact is None:
            raise
        _tell(fact)
        return getattr(error, "exit_code", 1)
    return outcome if isinstance(outcome, int) else 0


def _fact(error: Exception) -> str | None:
    """A fact as one line; None for anything else, which is a bug and shows its traceback."""
    from livewell.kernel import LivewellError, NotMigrated

    if not isinstance(error, LivewellError):
        return None
    if isinstance(error, NotMigrated) and error.fix is None:
        error.fix = "run livewell migrate"
    return " ".join(str(error).split())


def _misuse(error: typer.TyperException) -> str:
    """What Typer has to say as one line; a group without a command shows its help."""
    message = error.format_message()
    if message.startswith("Usage:"):
        return message
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "livewell"
    return f"{' '.join(message.split()).rstrip('.')} ({path} --help) [cli.misused]"


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
