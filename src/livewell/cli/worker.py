"""`livewell worker`: run the jobs of an application's kinds until told to stop."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.doors import door_options
from livewell.cli.options import KeyFiles, KeyVariables, chosen
from livewell.cli.session import run_on_uvloop, set_up_logs

if TYPE_CHECKING:
    from livewell.api import DoorOptions
    from livewell.app import Livewell
    from livewell.worker import WorkerOptions

EXAMPLE = "Example: livewell worker reports:app --group general=3 --group maintenance --concurrency 20"


def worker(
    ctx: typer.Context,
    application: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:APP", help="A Livewell object and the module it is in, looked for from the current folder."
        ),
    ] = "app:app",
    group: Annotated[
        list[str] | None,
        typer.Option("--group", metavar="NAME[=SHARE]", help="Serve this group, with a share; all groups if left out."),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", metavar="KIND", help="Only this kind; may be given several times.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", min=1, max=10_000, help="Jobs at once; else worker.concurrency.")
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option("--listen", metavar="HOST:PORT", help="Serve /healthz, /readyz and /metrics there; port 0: any."),
    ] = None,
    key_variables: KeyVariables = None,
    key_files: KeyFiles = None,
) -> None:
    """Run jobs until told to stop. The first SIGTERM or Ctrl-C lets running jobs finish, the second stops at once."""
    from livewell.cli.inputs import shares
    from livewell.cli.key_check import allow_keys
    from livewell.cli.loading import load_application
    from livewell.worker import WorkerOptions

    set_up_logs("info")
    options = WorkerOptions(shares=shares(group), kinds=kind, concurrency=concurrency)
    app = load_application(application, chosen(ctx))
    allow_keys(app, key_variables, key_files)
    door = None if listen is None else replace(door_options(listen), for_viewers=False)
    raise typer.Exit(run_on_uvloop(_serve(app, options, door)))


async def _serve(app: "Livewell", options: "WorkerOptions", door: "DoorOptions | None") -> int:
    async with app:
        return await app.run_worker(options, door=door)
