"""`livewell worker`: run the jobs of an application's kinds until told to stop."""

import asyncio
import importlib
import os
import sys
import traceback
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from livewell.cli.options import chosen
from livewell.cli.session import set_up_logs

if TYPE_CHECKING:
    from livewell.app import Livewell
    from livewell.cli.errors import NoApplication
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
) -> None:
    """Run jobs until told to stop. The first SIGTERM or Ctrl-C lets running jobs finish, the second stops at once."""
    from livewell.cli.inputs import shares
    from livewell.worker import WorkerOptions

    set_up_logs("info")
    options = WorkerOptions(shares=shares(group), kinds=kind, concurrency=concurrency)
    where = chosen(ctx)
    if where.explicit and where.database_url:
        os.environ["DATABASE_URL"] = where.database_url
    app = load_application(application)
    if where.explicit and where.database_url:
        app.connect_to(where.database_url)
    with _metrics(metrics_port):
        raise typer.Exit(_run(_serve(app, options)))


def load_application(name: str) -> "Livewell":
    """The application behind MODULE:APP; MODULE alone means its `app`."""
    from livewell.app import Livewell
    from livewell.cli.errors import NoApplication

    module_name, _, attribute = name.partition(":")
    module = _import(module_name)
    found: Any = module
    for step in (attribute or "app").split("."):
        found = getattr(found, step, None)
    if isinstance(found, Livewell):
        return found
    there = [f"{module_name}:{key}" for key, value in vars(module).items() if isinstance(value, Livewell)]
    raise NoApplication(
        f"{module_name}:{attribute or 'app'} is not a Livewell application",
        fix=f"did you mean {there[0]}?" if there else "make one there: app = Livewell()",
    )


def _import(name: str) -> Any:
    from livewell.cli.errors import NoApplication

    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except (ModuleNotFoundError, TypeError, ValueError) as error:
        if isinstance(error, ModuleNotFoundError) and not _is_part(error.name, name):
            raise _broken(name, error) from error
        raise NoApplication(
            f"there is no module {name!r} to be found from {here}", fix="livewell worker MODULE:APP"
        ) from error
    except Exception as error:
        raise _broken(name, error) from error


def _is_part(missing: str | None, name: str) -> bool:
    """Whether it is the named module itself, or a package it is in, that is missing."""
    return missing is not None and (name == missing or name.startswith(f"{missing}."))


def _broken(name: str, error: Exception) -> "NoApplication":
    """Where in the module it went wrong, in one line."""
    from livewell.cli.errors import NoApplication

    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}:{frame.lineno}"
    if isinstance(error, SyntaxError) and error.filename:
        where = f"{Path(error.filename).name}:{error.lineno}"
    return NoApplication(f"cannot import {name}: {where}: {type(error).__name__}: {error}", fix="mend it there")


async def _serve(app: "Livewell", options: "WorkerOptions") -> int:
    async with app:
        return await app.run_worker(options)


def _run(work: Coroutine[Any, Any, int]) -> int:
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    return uvloop.run(work)


@contextmanager
def _metrics(port: int | None) -> Iterator[None]:
    """Serve what Prometheus asks for, to this machine only."""
    if port is None:
        yield
        return
    import structlog
    from prometheus_client import start_http_server

    from livewell.cli.errors import PortUnavailable

    try:
        server, _ = start_http_server(port, addr="127.0.0.1")
    except OSError as error:
        raise PortUnavailable(
            f"cannot serve metrics on port {port}: {error.strerror}", fix="name another port, or 0 for any"
        ) from error
    structlog.get_logger("livewell.cli").info("metrics_served", port=server.server_port)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
