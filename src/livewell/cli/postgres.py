"""`livewell postgres`: the server that Livewell brings itself, kept running or stopped by hand."""

import asyncio
from typing import Annotated

import typer

from livewell.cli.groups import listing
from livewell.cli.options import Json
from livewell.cli.output import counted, say, show_json
from livewell.cli.session import logs_later, tell_made

group = listing(
    "The embedded PostgreSQL. It lives in .livewell/pg (or below LIVEWELL_DATA), for when no database is named."
)


@group.command("status", epilog="Example: livewell postgres status")
def status(as_json: Json = False) -> None:
    """Say whether it runs, where, and for whom. Ends with 1 when it does not."""
    from livewell.kernel import EmbeddedPostgres

    logs_later("error")
    found = asyncio.run(EmbeddedPostgres().status())
    if as_json:
        running = {"running": found.running, "pid": found.pid}
        show_json({**running, "folder": str(found.folder), "users": found.users, "kept": found.kept})
    elif found.running:
        kept = ", kept running" if found.kept else ""
        users = counted(found.users, "process uses", "processes use")
        say(f"running as process {found.pid} in {found.folder}; {users} it{kept}")
    else:
        say(f"not running; its folder {found.folder} {'is there' if found.folder.exists() else 'does not exist'}")
    if not found.running:
        raise typer.Exit(1)


@group.command("start", epilog="Example: livewell postgres start")
def start() -> None:
    """Start the server and keep it running. It is migrated, and prints its address."""
    from livewell.kernel import EmbeddedPostgres, migrate

    logs_later("error")

    async def kept() -> str:
        server = EmbeddedPostgres()
        tell_made(server.folder_to_make())
        await migrate(await server.keep())
        return server.service_url()

    say(asyncio.run(kept()))


@group.command("stop", epilog="Example: livewell postgres stop")
def stop(
    at_once: Annotated[
        bool, typer.Option("--immediate", help="Do not close files in order; the next start recovers.")
    ] = False,
) -> None:
    """Stop the server, whoever uses it."""
    from livewell.kernel import EmbeddedPostgres

    logs_later("error")

    async def stopped() -> bool:
        server = EmbeddedPostgres()
        ran = (await server.status()).running
        await server.stop(mode="immediate" if at_once else "fast")
        return ran

    say("stopped" if asyncio.run(stopped()) else "it was not running")


@group.command("url", epilog='Example: psql "$(livewell postgres url)"')
def url(
    owner: Annotated[
        bool,
        typer.Option("--owner", help="Of its superuser, who may migrate and apply; else of a login for daily work."),
    ] = False,
) -> None:
    """Print the address of the running server."""
    from livewell.kernel import EmbeddedPostgres

    logs_later("error")

    async def address() -> str:
        server = EmbeddedPostgres()
        await server.status()
        return server.url() if owner else server.service_url()

    say(asyncio.run(address()))
