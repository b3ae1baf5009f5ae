"""`livewell admin`: what tasks do by themselves, by hand, and how to hand them to pg_cron."""

from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from livewell.cli.options import Json
from livewell.cli.output import counted, say, show_json, show_table
from livewell.cli.session import run

if TYPE_CHECKING:
    from livewell.audit import Head, SealOutcome

group = typer.Typer(
    help="Do by hand what tasks do by themselves.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)


@group.command("rescue", epilog="Example: livewell admin rescue")
def rescue(ctx: typer.Context, as_json: Json = False) -> None:
    """Take back jobs of silent workers. The task rescue does this by itself each second."""
    from livewell.jobs import rescue as rescue_all

    rescued = run(ctx, lambda app: rescue_all(app.jobs), log_level="error")
    if as_json:
        show_json(rescued)
        return
    if rescued:
        show_table(
            ("ID", "KIND", "WORKER", "STATE"), [(job.job_id, job.kind, job.worker, job.state) for job in rescued]
        )
    say(f"{counted(len(rescued), 'job')} rescued")


@group.command("care", epilog="Example: livewell admin care --json")
def care(ctx: typer.Context, as_json: Json = False) -> None:
    """Make and drop dated partitions. The tasks job_partitions, job_retention and brief_retention do this."""
    from livewell.jobs import care as care_for_all

    done = run(ctx, lambda app: care_for_all(app.jobs), log_level="error")
    if as_json:
        show_json(done)
        return
    say(
        f"{counted(len(done.made), 'partition')} made, {len(done.dropped)} dropped, {len(done.busy)} busy,"
        f" {len(done.unacknowledged)} kept for dead letters nobody acknowledged, {counted(done.stray, 'stray row')}"
    )


@group.command("seal", epilog="Example: livewell admin seal")
def seal(ctx: typer.Context, as_json: Json = False) -> None:
    """Chain what is not sealed yet. The task audit_seal does this by itself."""
    from livewell.audit import AuditStore, Sealer

    outcome = run(ctx, lambda app: Sealer(AuditStore(app.database)).run_once())
    word, head = _sealing(outcome)
    if as_json:
        show_json({"outcome": word, "head": head})
    else:
        say(f"{word.replace('_', ' ')}, head {head}" if head else "another sealer is at work")


@group.command("cron-export", epilog="Example: livewell admin cron-export | psql postgres")
def export_cron(
    ctx: typer.Context,
    database: Annotated[
        str | None,
        typer.Option("--database", metavar="NAME", help="The name of Livewell's database, if not the one asked."),
    ] = None,
) -> None:
    """Print the SQL that makes pg_cron run the tasks. For the database that pg_cron lives in."""
    for statement in run(ctx, lambda app: app.tasks.cron_statements(database)):
        say(statement)


def _sealing(outcome: "SealOutcome") -> "tuple[str, Head | None]":
    from livewell.audit import NothingToSeal, Sealed, SealerBusy

    match outcome:
        case Sealed():
            return "sealed", outcome.head
        case NothingToSeal():
            return "nothing_to_seal", outcome.head
        case SealerBusy():
            return "busy", None
        case _:
            assert_never(outcome)
