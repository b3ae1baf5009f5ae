"""The root command, and the entry point that turns facts into one line and an exit code."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from livewell import __version__
from livewell.cli.commands import Root
from livewell.cli.options import Chosen

INTERRUPTED = 130

app = typer.Typer(
    name="livewell",
    cls=Root,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from livewell.cli.output import say  # as all that is not needed by every command

        say(f"livewell {__version__}")
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
    if isinstance(error, NotMigrated):
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
    from livewell.cli.output import note

    note(line)
