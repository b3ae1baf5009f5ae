"""`livewell init`: a `livewell.toml` to begin with."""

from pathlib import Path
from typing import Annotated

import typer

from livewell.cli.output import say

EXAMPLE = "Example: livewell init && livewell up"


def init(
    file: Annotated[
        Path, typer.Option("--file", "-f", metavar="FILE", help="What to write; livewell.toml unless named.")
    ] = Path("livewell.toml"),
    force: Annotated[bool, typer.Option("--force", help="Also over a file that is there.")] = False,
) -> None:
    """Write a commented livewell.toml: a provider, an endpoint with its limits, and a data type to be kept fresh."""
    from livewell.cli.errors import FileUnavailable
    from livewell.cli.first_file import FIRST_FILE

    try:
        with file.open("w" if force else "x", encoding="utf-8") as target:
            target.write(FIRST_FILE)
    except FileExistsError as error:
        raise FileUnavailable(f"{file} is there already", fix="name another with --file, or say --force") from error
    except OSError as error:
        raise FileUnavailable(f"cannot write {file}: {error.strerror}") from error
    say(f"{file} is written: livewell simulate plays its provider, livewell up runs it")
