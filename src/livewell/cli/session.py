"""Opening the database that the options name, for the length of one command.

What a command asks goes over one connection, and only what it asks is imported. A database that should be there is not
made: only commands that set one up make the embedded one, and they say so.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from livewell.cli.options import chosen
from livewell.cli.output import console, note
from livewell.stores import OpenStores

if TYPE_CHECKING:
    from livewell.app import Livewell
    from livewell.jobs import JobStore
    from livewell.kernel import Database

T = TypeVar("T")


def run(
    ctx: typer.Context,
    work: Callable[[OpenStores], Awaitable[T]],
    *,
    log_level: str = "warning",
    makes: bool = False,
    as_owner: bool = False,
) -> T:
    """Do one thing with an open database, and close it; `makes` the embedded one where there is none yet.

    `as_owner` for what a service may not: it uses LIVEWELL_OWNER_URL, or the owner's login of the embedded server.
    """
    logs_later(log_level)
    url = chosen(ctx).database_url

    async def opened() -> T:
        async with (
            at_database(url, makes=makes, as_owner=as_owner) as address,
            _database_at(address, as_owner=as_owner) as database,
            OpenStores(database) as stores,
        ):
            return await work(stores)

    return asyncio.run(opened())


def run_application(ctx: typer.Context, work: "Callable[[Livewell], Awaitable[T]]", *, log_level: str = "warning") -> T:
    """Do one thing with an open application, for what no store does alone, and close it."""
    from livewell.app import Livewell

    set_up_logs(log_level)
    url = chosen(ctx).database_url

    async def opened() -> T:
        async with at_database(url) as address, Livewell(address) as app:
            return await work(app)

    return asyncio.run(opened())


@asynccontextmanager
async def at_database(url: str | None, *, makes: bool = False, as_owner: bool = False) -> AsyncIterator[str]:
    """The address of the database that is meant, with the embedded server running for as long as it is entered."""
    if url is not None:
        yield (os.environ.get("LIVEWELL_OWNER_URL") if as_owner else None) or url
        return
    from livewell.kernel import EmbeddedPostgres, migrate

    server = EmbeddedPostgres()
    try:
        if await server.join() is None:
            _require_or_tell(server.folder_to_make(), makes=makes)
            with _patience():
                await migrate(await server.start())
        yield server.url() if as_owner else server.service_url()
    finally:
        await server.release()


def tell_made(folder: Path | None) -> None:
    """Say that a new database is made, if one is: nobody should find out by missing the old one."""
    if folder is not None:
        note(f"there is no database in {folder}: a new, empty one is made")


def run_on_uvloop(work: Coroutine[Any, Any, int]) -> int:
    """Run to the end on the faster loop, where there is one; the exit code."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    return uvloop.run(work)


def logs_later(level: str) -> None:
    """Set logs up when there is something to log, which for most commands is never."""
    from livewell.kernel import before_the_first_line

    before_the_first_line(lambda: set_up_logs(level))


def set_up_logs(level: str) -> None:
    """Logs go to standard error; the environment's level wins over the command's."""
    from livewell.kernel import configure_logs

    configure_logs(environment={"LIVEWELL_LOG_LEVEL": level, **os.environ})


def who() -> str:
    """Who sits before this terminal, for the audit log."""
    import getpass
    import socket

    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = str(os.getuid())
    return f"{name}@{socket.gethostname()}"


async def require_kinds(store: "JobStore", wanted: list[str] | None) -> None:
    """Refuse a kind that nobody declared, which would otherwise just match nothing."""
    if not wanted:
        return
    from livewell.cli.inputs import near
    from livewell.jobs import UnknownKind

    known = [kind.kind for kind in await store.list_kinds()]
    for kind in wanted:
        if kind not in known:
            raise UnknownKind(f"unknown kind {kind}", fix=near(kind, known) or "livewell kinds list")


@asynccontextmanager
async def _database_at(url: str, *, as_owner: bool) -> "AsyncIterator[Database]":
    from livewell.kernel import Database, DatabaseOptions

    options = DatabaseOptions(
        url=url,
        direct_url=os.environ.get("LIVEWELL_DIRECT_URL"),
        # No prepared statements in an owner's session: users' code that runs in it could put its own in their place.
        pooled=as_owner or os.environ.get("LIVEWELL_POOLED") == "1",
    )
    async with await Database.open(options) as database:
        yield database


def _require_or_tell(missing: Path | None, *, makes: bool) -> None:
    if missing is None:
        return
    if makes:
        tell_made(missing)
        return
    from livewell.cli.errors import NoDatabase

    raise NoDatabase(
        f"there is no database in {missing}",
        fix="livewell up or livewell migrate makes one; or name yours by DATABASE_URL",
    )


@contextmanager
def _patience() -> Iterator[None]:
    """Say what takes so long when the embedded server has to be made or started first."""
    if not sys.stderr.isatty():
        yield
        return
    with console(stderr=True).status("starting the embedded PostgreSQL …"):
        yield
