"""`livewell workers`: who is there."""

import typer

from livewell.cli.options import Json
from livewell.cli.output import show_json, show_table
from livewell.cli.session import run

EXAMPLE = "Example: livewell workers"


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
