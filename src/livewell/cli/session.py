"""Opening the database that the options name, for the length of one command."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from livewell.cli.options import chosen

if TYPE_CHECKING:
    from livewell.app import Livewell
    from livewell.jobs import JobStore

T = TypeVar("T")


def run(ctx: typer.Context, work: "Callable[[Livewell], Awaitable[T]]", *, log_level: str = "warning") -> T:
    """Do one thing with an open application, and close it."""
    from livewell.app import Livewell

    set_up_logs(log_level)
    url = chosen(ctx).database_url

    async def opened() -> T:
        app = Livewell(url)
        with _patience(shown=url is None):
            await app.__aenter__()
        try:
            return await work(app)
        finally:
            await app.__aexit__()

    return asyncio.run(opened())


def run_on_uvloop(work: Coroutine[Any, Any, int]) -> int:
    """Run to the end on the faster loop, where there is one; the exit code."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    return uvloop.run(work)


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


@contextmanager
def _patience(*, shown: bool) -> Iterator[None]:
    """Say what takes so long when the embedded server has to be made or started first."""
    if not shown or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status("starting the embedded PostgreSQL …"):
        yield
