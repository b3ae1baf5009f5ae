"""`livewell warnings`: what was odd and survived."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from livewell.cli.inputs import duration
from livewell.cli.options import Json
from livewell.cli.output import show_list
from livewell.cli.session import run

EXAMPLE = "Example: livewell warnings fetching --last 1h"


def warnings(
    ctx: typer.Context,
    code: Annotated[
        str | None, typer.Argument(metavar="CODE", help="A room, or one of its codes; all if left out.")
    ] = None,
    last: Annotated[str, typer.Option("--last", metavar="DURATION", help="How far back.")] = "1d",
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")] = 50,
    as_json: Json = False,
) -> None:
    """List what was odd and survived, by hour: refused answers, checks that failed, sources that are silent."""
    from livewell.kernel import list_warnings

    back = duration(last)
    since = None if back is None else datetime.now(UTC) - back
    found = run(ctx, lambda app: list_warnings(app.database, since=since, code=code, limit=limit))
    show_list(
        found,
        ("LAST", "CODE", "ABOUT", "TIMES", "MESSAGE"),
        lambda warning: (warning.last_at, warning.code, warning.subject, warning.warnings, warning.message),
        as_json=as_json,
    )
