"""`livewell up`: everything a `livewell.toml` declares, running, until told to stop."""

import asyncio
import sys
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from livewell.cli.doors import Listen, door_options
from livewell.cli.options import KeyFiles, KeyVariables, chosen
from livewell.cli.output import alarm, note, say
from livewell.cli.session import run_on_uvloop, set_up_logs, tell_made
from livewell.kernel import LivewellError, wait_for_any

if TYPE_CHECKING:
    from livewell.api import DoorOptions
    from livewell.app import Livewell
    from livewell.kernel import Declarations
    from livewell.worker import WorkerOptions

EXAMPLE = "Example: livewell up --watch"
_TICK = 0.5
_PATIENCE = 15.0
ROLES = {
    "worker": "runs jobs and refreshes",
    "checker": "looks at what is due, and runs the other tasks",
    "api": "answers viewers and programs over HTTP",
}


def up(
    ctx: typer.Context,
    application: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODULE:APP]", help="A Livewell object with fetchers and jobs in Python; none is needed without."
        ),
    ] = None,
    file: Annotated[
        Path, typer.Option("--file", "-f", metavar="FILE", help="What is declared; livewell.toml unless named.")
    ] = Path("livewell.toml"),
    only: Annotated[
        str | None, typer.Option("--only", metavar="ROLE,…", help=f"Only these of: {', '.join(ROLES)}.")
    ] = None,
    apply: Annotated[bool, typer.Option(help="Make things as the file declares them first.")] = True,
    listen: Listen = "127.0.0.1:8800",
    origin: Annotated[
        list[str] | None,
        typer.Option("--origin", metavar="URL", help="A page from here may connect too; may be given several times."),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option("--trusted-proxy", metavar="ADDRESS", help="Believe what this proxy says of who asks."),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", min=1, max=10_000, help="Jobs at once; else worker.concurrency.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Show how things stand, live, and of the log only errors.")
    ] = False,
    key_variables: KeyVariables = None,
    key_files: KeyFiles = None,
) -> None:
    """Apply a file and run what it declares: checker, worker and API, on as many machines as you like.

    Without DATABASE_URL the embedded PostgreSQL is used. The first Ctrl-C or SIGTERM lets running jobs finish, the
    second stops at once. An API key that is declared and cannot be read is said at the start, loudly; what needs no key
    runs all the same.
    """
    from livewell.app import Livewell
    from livewell.cli.apply import problems_told, read_file
    from livewell.cli.key_check import allow_keys
    from livewell.cli.loading import load_application
    from livewell.worker import WorkerOptions

    roles = _roles(only)
    door = door_options(listen, origin, trusted_proxy) if "api" in roles else None
    set_up_logs("error" if watch else "info")
    with problems_told():
        # Also a file that is not applied says which keys this process reads.
        declared = read_file(file) if file.exists() or (apply and application is None) else None
        app = load_application(application, chosen(ctx)) if application else Livewell(chosen(ctx).database_url)
        allow_keys(app, key_variables, key_files, declared)
        if application is None:
            tell_made(app.folder_to_make())
        options = WorkerOptions(concurrency=concurrency, patient=True)
        raise typer.Exit(run_on_uvloop(_run(app, declared if apply else None, roles, options, door, watch=watch)))


async def _run(
    app: "Livewell",
    declared: "Declarations | None",
    roles: Collection[str],
    options: "WorkerOptions",
    door: "DoorOptions | None",
    *,
    watch: bool,
) -> int:
    from livewell.access import READER_URL
    from livewell.budgets import OwnersChoice
    from livewell.cli.apply import Wish, carry_out
    from livewell.registry import ReadOnlyRegistry

    async with app:
        if declared is not None:
            wish = Wish(declared=declared, plan_only=False, agreed=True, verbose=False, as_json=False)
            try:
                async with app.as_owner() as owner:
                    await carry_out(owner, wish)
            except (OwnersChoice, ReadOnlyRegistry) as fact:
                note(f"{declared.file} is not applied: {fact}")
        if "worker" in roles:
            await _tell_missing_keys(app)
        if door is not None and app.reader_url is None and len(roles) > 1:
            note(f"no API: no login reads for viewers; livewell access login NAME --as reader, its URL in {READER_URL}")
            roles, door = set(roles) - {"api"}, None
        title = f"up: {', '.join(sorted(roles))} (Ctrl-C ends it)"
        if watch:
            async with _watched(app, title):
                return await _serve(app, roles, options, door)
        say(title)
        sys.stdout.flush()
        return await _serve(app, roles, options, door)


async def _serve(app: "Livewell", roles: Collection[str], options: "WorkerOptions", door: "DoorOptions | None") -> int:
    if "worker" in roles:
        return await app.run_worker(options, scheduled="checker" in roles, door=door)
    if "checker" in roles:
        return await app.run_scheduler(door=door)
    assert door is not None  # noqa: S101 - there is a role left
    return await app.run_api(door)


async def _tell_missing_keys(app: "Livewell") -> None:
    """Once and loudly: without its key a provider refuses everything, and what needs no key runs all the same."""
    from livewell.budgets import KeyRing
    from livewell.cli.key_check import missing_keys

    for line in await missing_keys(app.budgets, KeyRing(sources=app.key_sources)):
        alarm(line)


@asynccontextmanager
async def _watched(app: "Livewell", title: str) -> AsyncIterator[None]:
    """Show how things stand for as long as it is entered. When showing fails, the work goes on."""
    stop = asyncio.Event()

    async def show() -> None:
        try:
            await _show(app, title, stop)
        except Exception as error:  # noqa: BLE001 - whatever keeps it from being shown, it is only shown
            note(f"nothing is shown any more, but work goes on: {type(error).__name__}: {error}")

    showing = asyncio.create_task(show())
    try:
        yield
    finally:
        stop.set()
        await showing


async def _show(app: "Livewell", title: str, stop: asyncio.Event) -> None:
    from livewell.cli.live_view import view_for
    from livewell.cli.news import news_of
    from livewell.cli.queue_figures import Observer
    from livewell.cli.type_figures import TypesObserver

    queue, types, begun = Observer(app.jobs), TypesObserver(app), False
    with view_for(title) as view:
        async with news_of(app) as news:
            while not stop.is_set():
                try:
                    async with asyncio.timeout(_PATIENCE):
                        if not begun:
                            await queue.begin()
                            await types.begin()
                            begun = True
                        figures = await queue.look(), await types.look(), await news.look()
                except LivewellError as fact:
                    view.lose(fact.message)
                except TimeoutError:
                    view.lose("the database does not answer")
                else:
                    view.show(*figures)
                await wait_for_any(stop, timeout=_TICK)


def _roles(only: str | None) -> set[str]:
    from livewell.cli.inputs import known

    asked = None if only is None else [role.strip() for role in only.split(",")]
    return set(known(asked, list(ROLES), "role") or ROLES)
