"""`livewell worker`: run the jobs of an application's kinds until told to stop."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.options import KeyFiles, KeyVariables, chosen
from livewell.cli.session import run_on_uvloop, set_up_logs

if TYPE_CHECKING:
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
    metrics_port: Annotated[
        int | None,
        typer.Option("--metrics-port", min=0, max=65_535, help="Serve Prometheus metrics on 127.0.0.1; 0: any port."),
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
    with _metrics(metrics_port):
        raise typer.Exit(run_on_uvloop(_serve(app, options)))


async def _serve(app: "Livewell", options: "WorkerOptions") -> int:
    async with app:
        return await app.run_worker(options)


@contextmanager
def _metrics(port: int | None) -> Iterator[None]:
    """Serve what Prometheus asks for, to this machine only."""
    if port is None:
        yield
        return
    from prometheus_client import start_http_server

    from livewell.cli.errors import PortUnavailable
    from livewell.kernel import Logger

    try:
        server, _ = start_http_server(port, addr="127.0.0.1")
    except OSError as error:
        raise PortUnavailable(
            f"cannot serve metrics on port {port}: {error.strerror}", fix="name another port, or 0 for any"
        ) from error
    Logger("livewell.cli").info("metrics_served", port=server.server_port)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
