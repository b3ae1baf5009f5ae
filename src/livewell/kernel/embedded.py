"""The PostgreSQL that Livewell brings itself, used when no DATABASE_URL is set.

One server per project folder, shared by all processes that name the folder. The first to come creates and starts it,
the others find it running. It is nobody's child: when the process that started it dies, the server and its other users
go on. Each process that uses it is registered; the last one to `release()` it stops it, and users that crashed do not
count. A server that was told to `keep()` running stays when its users have left. `stop()` stops it whoever uses it.

Daily work is done by the login `livewell`, a member of livewell_service and of nothing else, which makes no temporary
objects; reads for viewers by `livewell_viewers`, which has the rights of nobody until it takes those of a viewer. The
superuser is for the schema and for what is declared.

It listens on a socket in a folder that only its own user can enter, and on no network address unless `listen_port` is
given; over that port a password is asked (set one for the role first). All of it is for one machine: the processes
that share a server must see each other's pids.
"""

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, Self, TypeVar
from urllib.parse import quote

import asyncpg

from livewell.kernel.embedded_account import Account
from livewell.kernel.embedded_binaries import wheel_home
from livewell.kernel.embedded_cluster import START_LIMIT, STOP_LIMIT, SUPERUSER, Cluster, Postmaster, StopMode
from livewell.kernel.embedded_errors import (
    EmbeddedBusy,
    EmbeddedNotStarted,
    EmbeddedSettingRefused,
    folder_facts,
)
from livewell.kernel.embedded_place import Place, place_for
from livewell.kernel.embedded_processes import Users
from livewell.kernel.logger import Logger
from livewell.kernel.queries import QUERIES

P = ParamSpec("P")
T = TypeVar("T")

log = Logger("livewell.kernel")

DATABASE = "livewell"
SERVICE_LOGIN = "livewell"
READER_LOGIN = "livewell_viewers"
_NOT_YET = (
    asyncpg.CannotConnectNowError,
    asyncpg.ConnectionDoesNotExistError,
    asyncpg.TooManyConnectionsError,
    OSError,
    TimeoutError,
)
LOCK_LIMIT = START_LIMIT + STOP_LIMIT
_SETTING_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?")

DEFAULT_SETTINGS: Mapping[str, str] = {
    # No network unless asked for: whoever reaches the socket is trusted.
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    # Several processes with a pool of ten each, and their reserved connections.
    "max_connections": "200",
    # Holds the live part of a queue; taken from the system only as it is touched.
    "shared_buffers": "256MB",
    # An answered commit is on the disk. PostgreSQL's own defaults, said here because Livewell's promises rest on them.
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    # Every call is short; compiling it would take longer than running it.
    "jit": "off",
    # Times look the same on every machine.
    "timezone": "UTC",
    "log_timezone": "UTC",
    # The log is for what went wrong.
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] ",
}


@dataclass(frozen=True, kw_only=True)
class EmbeddedStatus:
    """What is known about an embedded server without touching it."""

    folder: Path
    pid: int | None
    users: int
    kept: bool = False

    @property
    def running(self) -> bool:
        return self.pid is not None


def default_folder() -> Path:
    """`.livewell/pg` below the current folder; LIVEWELL_DATA names another folder in place of `.livewell`."""
    return Path(os.environ.get("LIVEWELL_DATA") or ".livewell").resolve() / "pg"


class EmbeddedPostgres:
    """A PostgreSQL server of one's own, shared by the processes that name the same folder.

    `settings` override DEFAULT_SETTINGS; those of the process that starts the server hold until it stops.
    """

    def __init__(
        self,
        folder: Path | None = None,
        settings: Mapping[str, str] | None = None,
        *,
        listen_port: int | None = None,
    ) -> None:
        self._asked_folder = folder or default_folder()
        self._settings = _checked_settings(settings or {}, listen_port)
        self._cluster: Cluster | None = None
        self._users: Users | None = None
        self._postmaster: Postmaster | None = None

    async def start(self) -> str:
        """Find the server running or start it, and return the URL of its superuser on the database `livewell`."""
        cluster = await self.prepared()
        async with _locked(cluster.place):
            await _to_the_end(cluster.create, durable=self._settings["fsync"] == "on")
            await self._reach(cluster)
            self._users_of(cluster).register()
        return self.url()

    async def join(self) -> str | None:
        """Use the server that runs and return its URL, by looking at files alone; None when none runs."""
        cluster = await self._settled()
        if not cluster.place.marker.exists():
            return None
        async with _locked(cluster.place):
            found = await _to_the_end(cluster.running)
            if found is None or not found.socket.exists():
                return None
            self._postmaster = found
            self._users_of(cluster).register()
        return self.url()

    def folder_to_make(self) -> Path | None:
        """Where `start()` makes a new, empty database; None when there is one."""
        place = place_for(self._asked_folder)
        return None if place.data.exists() else place.folder

    async def keep(self) -> str:
        """Start the server if need be, and let it run on without users until `stop()`."""
        url = await self.start()
        cluster = await self._settled()
        async with _locked(cluster.place):
            if self._postmaster is not None:
                self._users_of(cluster).keep(self._postmaster.pid)
            self._users_of(cluster).leave()
        return url

    async def release(self) -> None:
        """Stop using the server; stop it when nobody else uses it."""
        cluster = await self._settled()
        if not cluster.place.marker.exists():
            return
        async with _locked(cluster.place):
            users = self._users_of(cluster)
            users.leave()
            if users.alive() == 0:
                await self._stop(cluster, "fast")

    async def stop(self, *, mode: StopMode = "fast") -> None:
        """Stop the server, whoever uses it."""
        cluster = await self._settled()
        if not cluster.place.marker.exists():
            return
        async with _locked(cluster.place):
            await self._stop(cluster, mode)
            self._users_of(cluster).forget_all()

    async def status(self) -> EmbeddedStatus:
        cluster = await self._settled()
        if not cluster.place.marker.exists():
            return EmbeddedStatus(folder=cluster.place.folder, pid=None, users=0)
        async with _locked(cluster.place):
            self._postmaster = await _to_the_end(cluster.running)
            users, kept = self._users_of(cluster).alive(), self._users_of(cluster).kept()
        pid = self._postmaster.pid if self._postmaster else None
        return EmbeddedStatus(folder=cluster.place.folder, pid=pid, users=users - kept, kept=kept)

    def service_url(self) -> str:
        """The address for daily work: of a login that is only a service."""
        return self.url(user=SERVICE_LOGIN)

    def reader_url(self) -> str:
        """The address for reads for viewers: of a login that is a member of their roles only, and inherits nothing."""
        return self.url(user=READER_LOGIN)

    def url(self, *, user: str = SUPERUSER, database: str = DATABASE) -> str:
        """The address of the running server, over its socket; the superuser's unless another login is named."""
        if self._postmaster is None:
            raise EmbeddedNotStarted("the embedded PostgreSQL is not running", fix="livewell postgres start")
        host, port = quote(str(self._postmaster.socket_folder), safe="/"), self._postmaster.port
        return f"postgresql://{quote(user)}@/{quote(database)}?host={host}&port={port}"

    async def prepared(self) -> Cluster:
        """Make the folder the server lives in, without starting it."""
        cluster = await self._settled()
        await asyncio.to_thread(cluster.place.prepare, cluster.account)
        return cluster

    async def _settled(self) -> Cluster:
        if self._cluster is None:
            self._cluster = await asyncio.to_thread(_settle, self._asked_folder)
        return self._cluster

    def _users_of(self, cluster: Cluster) -> Users:
        if self._users is None:
            self._users = Users(cluster.place.users)
        return self._users

    async def _reach(self, cluster: Cluster) -> None:
        """Use the server that runs, or start it; one that was dying when it was found is started again."""
        self._postmaster = await self._found(cluster)
        if self._postmaster is not None:
            try:
                return await self._ensure_database(cluster)
            except EmbeddedNotStarted:
                if await _to_the_end(cluster.running) is not None:
                    raise
        self._postmaster = await _to_the_end(cluster.start, self._settings)
        log.info("embedded_started", folder=str(cluster.place.folder), pid=self._postmaster.pid)
        return await self._ensure_database(cluster)

    async def _found(self, cluster: Cluster) -> Postmaster | None:
        postmaster = await _to_the_end(cluster.running)
        if postmaster is not None and not postmaster.socket.exists():
            # Its folder was moved, or its socket removed: it runs, but nobody can reach it any more.
            await self._stop(cluster, "fast")
            return None
        return postmaster

    async def _stop(self, cluster: Cluster, mode: StopMode) -> None:
        if await _to_the_end(cluster.stop, mode):
            log.info("embedded_stopped", folder=str(cluster.place.folder), mode=mode)

    async def _ensure_database(self, cluster: Cluster) -> None:
        connection = await self._connected(cluster)
        try:
            if not await connection.fetchval("select exists (select from pg_database where datname = $1)", DATABASE):
                await connection.execute(f"create database {DATABASE}")
            for statement in await connection.fetch(
                QUERIES["list_logins_to_make"], SERVICE_LOGIN, DATABASE, READER_LOGIN
            ):
                await connection.execute(statement[0])
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise cluster.failure(f"cannot create the database {DATABASE}", str(error)) from error
        finally:
            await connection.close()

    async def _connected(self, cluster: Cluster) -> "asyncpg.Connection[asyncpg.Record]":
        """Connect as soon as the server lets us; one that is recovering from a crash takes a while."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + START_LIMIT.total_seconds()
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    return await asyncpg.connect(self.url(database="postgres"))
            except _NOT_YET as error:
                if loop.time() > deadline or await _to_the_end(cluster.running) is None:
                    reason = str(error) or type(error).__name__
                    raise cluster.failure("the embedded PostgreSQL does not accept connections", reason) from error
                await asyncio.sleep(0.1)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.release()


@asynccontextmanager
async def _locked(place: Place) -> AsyncIterator[None]:
    """Alone among all processes; the system gives the lock back when its holder dies."""
    import fcntl  # noqa: PLC0415 - absent on Windows, where this is never reached

    with folder_facts(place.folder):
        handle = os.open(place.lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        deadline = time.monotonic() + LOCK_LIMIT.total_seconds()
        try:
            while True:
                with suppress(BlockingIOError):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                if time.monotonic() > deadline:
                    raise EmbeddedBusy(f"another process has held {place.lock} for {LOCK_LIMIT}", fix="end it")
                await asyncio.sleep(0.02)
            yield
        finally:
            os.close(handle)


async def _to_the_end(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking work in a thread; a caller that is cancelled still holds its lock until the work is over."""
    thread = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        await asyncio.wait([thread])
        raise


def _settle(folder: Path) -> Cluster:
    """Decide where the server lives and who runs it; creates nothing there."""
    wheel_home()
    place = place_for(folder)
    if place.folder != folder.expanduser().resolve():
        log.info("embedded_folder_replaced", asked=str(folder), used=str(place.folder))
    account = Account.for_data(place.data)
    return Cluster(place=place, account=account)


def _checked_settings(overrides: Mapping[str, str], listen_port: int | None) -> dict[str, str]:
    for name, value in overrides.items():
        if not _SETTING_NAME.fullmatch(name) or re.search(r"['\\\n\r\0]", value):
            raise EmbeddedSettingRefused(f"cannot write the setting {name!r} with the value {value!r}")
    network = {"listen_addresses": "127.0.0.1", "port": str(listen_port)} if listen_port is not None else {}
    return {**DEFAULT_SETTINGS, **network, **overrides}
