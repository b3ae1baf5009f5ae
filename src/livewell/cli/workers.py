"""`livewell workers`, `rescue` and `care`: who is there, and what two of the tasks do, by hand."""

import typer

from livewell.cli.options import Json
from livewell.cli.output import counted, say, show_json, show_table
from livewell.cli.session import run

LIST_EXAMPLE = "Example: livewell workers"
RESCUE_EXAMPLE = "Example: livewell rescue"
CARE_EXAMPLE = "Example: livewell care --json"


def list_workers(ctx: typer.Context, as_json: Json = False) -> None:
    """List the workers that are there."""
    workers = run(ctx, lambda app: app.jobs.list_workers())
    if as_json:
        show_json(workers)
        return
    fields = ("id", "queue_groups", "kinds", "slots", "idle", "started_at", "last_seen")
    show_table(
        ("WORKER", "GROUPS", "KINDS", "SLOTS", "IDLE", "STARTED", "LAST SEEN"),
        [[worker[field] for field in fields] for worker in workers],
    )


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


def care(ctx: typer.Context, as_json: Json = False) -> None:
    """Make and drop dated partitions. The tasks job_partitions and job_retention do this by themselves."""
    from livewell.jobs import care as care_for_all

    done = run(ctx, lambda app: care_for_all(app.jobs), log_level="error")
    if as_json:
        show_json(done)
        return
    say(
        f"{counted(len(done.made), 'partition')} made, {len(done.dropped)} dropped, {len(done.busy)} busy,"
        f" {len(done.unacknowledged)} kept for dead letters nobody acknowledged, {counted(done.stray, 'stray row')}"
    )
