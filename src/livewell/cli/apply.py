"""`livewell apply`: makes things as a file declares them, after showing what that changes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from livewell.cli.options import Json
from livewell.cli.output import counted, note, say, show_json, shown, shown_field
from livewell.cli.session import run, who
from livewell.kernel import shown_interval

if TYPE_CHECKING:
    from livewell.fetching import Scope
    from livewell.kernel import Connection, Database, Declarations, LivewellError, PlannedChange, Section
    from livewell.stores import Stores

    Planned: TypeAlias = list[tuple[Section, PlannedChange]]

EXAMPLE = "Example: livewell apply --file livewell.toml --yes"


@dataclass(frozen=True, kw_only=True)
class Wish:
    """How a file is to be applied."""

    declared: "Declarations"
    plan_only: bool
    agreed: bool
    verbose: bool
    as_json: bool


def apply(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Option("--file", "-f", metavar="FILE", help="What is declared; livewell.toml unless named.")
    ] = Path("livewell.toml"),
    plan: Annotated[bool, typer.Option("--plan", help="Show what would change; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show also what stays: as declared, or not in the file.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make providers, keys, kinds, types and tasks as a file declares them. Shows what will change, then asks."""
    from livewell.cli.errors import Misused

    if as_json and not (yes or plan):
        raise Misused("--json cannot ask", fix="say --yes, or --plan to change nothing")
    with problems_told():
        wish = Wish(declared=read_file(file), plan_only=plan, agreed=yes, verbose=verbose, as_json=as_json)
        run(ctx, lambda app: carry_out(app, wish), makes=True, as_owner=True)


@contextmanager
def problems_told() -> Iterator[None]:
    """Say every problem of a file on a line of its own."""
    from livewell.cli.errors import Misused
    from livewell.kernel import DeclarationsRefused

    try:
        yield
    except DeclarationsRefused as refused:
        for problem in refused.problems:
            note(str(problem))
        raise typer.Exit(Misused.exit_code) from refused


def sections(checked: "Scope" = "changed") -> "list[Section]":
    """What the rooms take from a file, in the order it is applied; types are checked when they change, or all."""
    from livewell.access import AccessSection
    from livewell.budgets import ProviderSection
    from livewell.fetching import TypeSection
    from livewell.jobs import KindSection
    from livewell.presence import PresenceSection
    from livewell.schedule import TaskSection

    return [ProviderSection(), KindSection(), TypeSection(checked), AccessSection(), PresenceSection(), TaskSection()]


def read_file(file: Path) -> "Declarations":
    """What a file declares, or the problems in it, each with its line."""
    from livewell.cli.errors import FileUnavailable
    from livewell.kernel import read_declarations

    try:
        content = file.read_bytes()
    except FileNotFoundError as error:
        raise FileUnavailable(
            f"there is no {file} here", fix="livewell init writes one to begin with, --file names another"
        ) from error
    except OSError as error:
        raise FileUnavailable(f"cannot read {file}: {error.strerror}") from error
    return read_declarations(content, str(file), sections())


async def carry_out(app: "Stores", wish: Wish) -> None:
    """Show what a file changes, and change it if that is agreed."""
    planned = await _planned(app.database, wish.declared)
    if not wish.as_json:
        _show(wish, planned)
        if wish.verbose:
            await _show_undeclared(app, wish.declared)
    wanted = bool(_things(planned)) and not wish.plan_only
    if wanted and (wish.agreed or _agreed()):
        planned = await apply_declared(app, wish.declared)
        if not wish.as_json:
            say(f"applied: {counted(len(_things(planned)), 'thing')} changed")
    if wish.as_json:
        changes = [change for _, change in planned]
        show_json({"file": wish.declared.file, "applied": not wish.plan_only, "changes": changes})


async def apply_declared(app: "Stores", declared: "Declarations") -> "Planned":
    """Make everything as it is declared: all of it, or nothing."""
    async with app.database.transaction() as connection:
        return await _through_sections(connection, declared, plan_only=False)


async def _planned(database: "Database", declared: "Declarations") -> "Planned":
    """What applying would change. It is applied as far as later parts of the file need it, and rolled back."""
    planned: Planned = []
    with suppress(_Undone):
        async with database.transaction() as connection:
            planned = await _through_sections(connection, declared, plan_only=True, checked="all")
            raise _Undone
    return planned


class _Undone(Exception):
    """The plan is made: nothing of it stays."""


async def _through_sections(
    connection: "Connection", declared: "Declarations", *, plan_only: bool, checked: "Scope" = "changed"
) -> "Planned":
    from livewell.kernel import LivewellError

    planned: Planned = []
    named = [section for section in sections(checked) if declared.sections.get(section.word)]
    for section in named:
        tables = declared.sections[section.word]
        # A type needs endpoints of the same file: all sections but the last are applied, also for a plan.
        last = section.word == named[-1].word
        try:
            changes = await section.apply(connection, tables, plan_only=plan_only and last, actor=who())
        except LivewellError as fact:
            _tell_where(section, declared, fact)
            raise
        planned += [(section, change) for change in changes]
    return planned


def _tell_where(section: "Section", declared: "Declarations", fact: "LivewellError") -> None:
    """A refusal of the database is a problem of the file, when it says of what."""
    from livewell.kernel import DeclarationsRefused

    problems = [declared.problem(place, plain) for place, plain in section.told_of(fact)]
    if problems:
        raise DeclarationsRefused(declared.file, sorted(problems, key=lambda problem: problem.line)) from fact


def _agreed() -> bool:
    from livewell.cli.errors import Misused

    if not sys.stdin.isatty():
        raise Misused("nothing was applied: there is nobody to ask", fix="say --yes")
    if typer.confirm("apply this?", err=True):
        return True
    raise typer.Exit(1)


def _show(wish: Wish, planned: "Planned") -> None:
    for section, change in planned:
        match change.change:
            case "add":
                say(f"+ {change.thing} {change.name} ({section.summary(change)})")
            case "change":
                old, new = (_value(change.field, value) for value in (change.old, change.new))
                say(f"~ {change.thing} {change.name}: {change.field} {old} → {new}")
            case _ if wish.verbose:
                say(f"= {change.thing} {change.name}: as declared")
    if not _things(planned):
        say(f"nothing to change: everything is as {wish.declared.file} declares it")


async def _show_undeclared(app: "Stores", declared: "Declarations") -> None:
    for section in sections():
        for thing, name in await section.undeclared(app.database, declared.sections.get(section.word, {})):
            say(f"  {thing} {name}: not in the file, left alone")


def _things(planned: "Planned") -> set[tuple[str, str]]:
    return {(change.thing, change.name) for _, change in planned if change.change != "same"}


def _value(field: str | None, value: Any) -> str:
    """A value of a plan; lengths of time come as the database writes them."""
    if isinstance(value, str):
        return shown_interval(value) if value else shown(None)
    return shown_field(field or "", value)
