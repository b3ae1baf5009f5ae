"""Options that several commands share, and what the root command was told."""

from dataclasses import dataclass
from typing import Annotated

import typer

_LARGEST_ID = 2**63 - 1


def as_id(text: str) -> int:
    """An id as the database counts them; anything else is refused before it is asked."""
    if text.isascii() and text.isdigit() and 0 < int(text) <= _LARGEST_ID:
        return int(text)
    raise ValueError(f"{text!r} is not an id")


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; goes to the audit log.")]
Kinds = Annotated[
    list[str] | None, typer.Option("--kind", metavar="KIND", help="Only this kind; may be given several times.")
]
Before = Annotated[int | None, typer.Option("--before", metavar="ID", parser=as_id, help="Older than this one.")]
KeyVariables = Annotated[
    str | None,
    typer.Option(
        "--key-variables", metavar="NAME,…", help="Variables to read API keys from; else LIVEWELL_KEY_VARIABLES."
    ),
]
KeyFiles = Annotated[
    str | None,
    typer.Option("--key-files", metavar="FOLDER:…", help="Folders with files of API keys; else LIVEWELL_KEY_FILES."),
]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Until then, as 2026-11-20T18:30.")]
For = Annotated[str | None, typer.Option("--for", metavar="DURATION", help="For so long, as 30m.")]
JobIds = Annotated[list[int] | None, typer.Argument(metavar="ID…", parser=as_id, help="The jobs, by id.")]


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The options before the command; `explicit` when the address was typed, not taken from the environment."""

    database_url: str | None
    explicit: bool


def chosen(ctx: typer.Context) -> Chosen:
    found = ctx.find_object(Chosen)
    return found or Chosen(database_url=None, explicit=False)
