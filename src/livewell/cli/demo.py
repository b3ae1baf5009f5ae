"""`livewell demo`: the queue at work on a PostgreSQL of its own, with a producer, two workers, and a murder."""

from typing import Annotated

import typer

from livewell.cli.options import chosen
from livewell.cli.session import set_up_logs

EXAMPLE = "Example: livewell demo --seconds 30"


def demo(
    ctx: typer.Context,
    seconds: Annotated[int, typer.Option("--seconds", min=3, max=86_400, help="How long to go on.")] = 30,
) -> None:
    """See the queue at work. A producer, two workers, one of which is killed; then an account of every job."""
    import asyncio

    from livewell.cli.demo_stage import Stage

    set_up_logs("error")
    where = chosen(ctx)
    # A demonstration never runs by accident on the database the environment names.
    stage = Stage(seconds=seconds, database_url=where.database_url if where.explicit else None)
    raise typer.Exit(asyncio.run(stage.play()))
