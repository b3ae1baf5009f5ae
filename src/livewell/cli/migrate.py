"""`livewell migrate`: bring the database to the shape this program needs."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from livewell.cli.options import Json, chosen
from livewell.cli.output import counted, note, progress, say, show_json
from livewell.cli.session import logs_later, tell_made

if TYPE_CHECKING:
    from livewell.kernel import CheckReport, MigrationReport

T = TypeVar("T")

EXAMPLE = "Example: livewell migrate --plan"


def migrate(
    ctx: typer.Context,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be done; change nothing.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 when something is pending or differs; change nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Bring the database up to date. Safe to repeat, to kill, and to run on several machines at once."""
    logs_later("error")
    if plan or check:
        _look(ctx, check=check, as_json=as_json)
    else:
        _apply(ctx, as_json=as_json)


def _look(ctx: typer.Context, *, check: bool, as_json: bool) -> None:
    from livewell.kernel import check as look

    report = _at_database(ctx, look)
    if as_json:
        show_json({"pending": report.pending, "drift": report.drift})
    else:
        _show(report)
    if check and not report.is_clean:
        from livewell.cli.errors import SchemaNotCurrent

        raise SchemaNotCurrent(
            f"{counted(len(report.pending), 'step')} pending, {counted(len(report.drift), 'difference')}",
            fix="run livewell migrate" if report.pending else "a table was changed by hand: put it back",
        )


def _show(report: "CheckReport") -> None:
    for step in report.pending:
        say(str(step))
    for drift in report.drift:
        say(f"differs: {drift}")
    if report.is_clean:
        say("nothing to do")


def _apply(ctx: typer.Context, *, as_json: bool) -> None:
    report = _at_database(ctx, _migrated)
    if as_json:
        show_json({"applied": report.steps, "drift": report.drift})
        return
    say(f"{counted(len(report.steps), 'step')} applied" if report.steps else "nothing to do")
    for drift in report.drift:
        note(f"differs: {drift}")


async def _migrated(url: str) -> "MigrationReport":
    from livewell.kernel import Step
    from livewell.kernel import migrate as apply
    from livewell.kernel import plan as planned

    steps: list[Step] = []
    total = len(await planned(url))
    with progress("migrating") as done:

        def on_step(step: Step) -> None:
            steps.append(step)
            done(len(steps), total)

        report = await apply(url, on_step=on_step)
    await _make_partitions(url)
    return report


async def _make_partitions(url: str) -> None:
    """Make partitions, so that a job that ends before the first worker starts has one."""
    from livewell.jobs import JobStore, make_partitions
    from livewell.kernel import Database, DatabaseOptions

    async with await Database.open(DatabaseOptions(url=url)) as database:
        await make_partitions(JobStore(database))


def _at_database(ctx: typer.Context, work: Callable[[str], Awaitable[T]]) -> T:
    """Like a session, but without an application, which wants a migrated database."""
    from livewell.kernel import EmbeddedPostgres

    async def opened() -> T:
        url = chosen(ctx).database_url
        if url is not None:
            return await work(os.environ.get("LIVEWELL_OWNER_URL") or url)
        embedded = EmbeddedPostgres()
        tell_made(embedded.folder_to_make())
        async with embedded:
            return await work(embedded.url())

    return asyncio.run(opened())
