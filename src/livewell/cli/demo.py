"""`livewell demo`: data kept fresh while people look at it, on a PostgreSQL of its own, though a worker is killed."""

import sys
from typing import Annotated

import typer

from livewell import __version__
from livewell.cli.options import chosen
from livewell.cli.output import say
from livewell.cli.session import set_up_logs

EXAMPLE = "Example: livewell demo --seconds 30"
TITLE = f"Livewell {__version__}: data kept fresh while people look at it"


def demo(
    ctx: typer.Context,
    seconds: Annotated[int, typer.Option("--seconds", min=3, max=86_400, help="How long to go on.")] = 30,
) -> None:
    """See data kept fresh: a pretend provider that lies now and then, people who look, two workers, one of them killed.

    It ends with an account: how fresh it was, what the provider counted, and what became of every job.
    """
    import asyncio

    # Printed before anything else is loaded, so that something is seen at once.
    say(TITLE)
    sys.stdout.flush()
    from livewell.cli.demo_watch import watching_on
    from livewell.cli.live_view import view_for
    from livewell.demo import Stage

    set_up_logs("error")
    where = chosen(ctx)
    # A demonstration never runs by accident on the database the environment names.
    url = where.database_url if where.explicit else None
    with view_for("") as view:
        stage = Stage(seconds=seconds, database_url=url, screen=view, watching=watching_on(view))
        account = asyncio.run(stage.play())
    if account is None:
        raise typer.Abort
    for line in account.lines():
        say(line)
    account.require_kept()
