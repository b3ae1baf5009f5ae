"""PgBouncer in transaction mode before a server, as Debian ships it."""

import asyncio
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from livewell.kernel import Account
from livewell.testing.addresses import Address
from livewell.testing.requirements import require
from livewell.testing.waiting import until

_HOST = "127.0.0.1"
_ATTEMPTS = 3


@dataclass(frozen=True, kw_only=True)
class PgBouncer:
    """A running pooler; `url` is a login by way of it, `direct_url` the same login without it."""

    url: str
    direct_url: str


@asynccontextmanager
async def pgbouncer_before(url: str, folder: Path, *, pool_size: int = 5) -> AsyncIterator[PgBouncer]:
    """Run PgBouncer before the server of this URL, with few server connections so that clients must share them."""
    program, server = require("pgbouncer"), Address.of(url)
    account = Account.unprivileged()
    folder.mkdir(mode=0o700)
    account.own(folder)
    process, port = await _started(program, account, server, folder, pool_size)
    try:
        yield PgBouncer(url=replace(server, host=_HOST, port=port, options={"sslmode": "disable"}).url, direct_url=url)
    finally:
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.wait)


async def _started(
    program: str, account: Account, server: Address, folder: Path, pool_size: int
) -> "tuple[subprocess.Popen[bytes], int]":
    """Start on a free port; more than once if need be, for another process may take the port in the same moment."""
    for _ in range(_ATTEMPTS):
        port = _free_port()
        settings = _write_settings(folder, server, port, pool_size)
        with (folder / "log").open("ab") as log:
            process = subprocess.Popen([program, str(settings)], stdout=log, stderr=log, cwd="/", **account.identity)
        if await _listens(process, port):
            return process, port
    raise RuntimeError(f"pgbouncer did not start: {(folder / 'log').read_text()}")


def _write_settings(folder: Path, server: Address, port: int, pool_size: int) -> Path:
    """PgBouncer asks clients for the password in its list, and gives the same one to the server."""
    users = folder / "users.txt"
    users.write_text(f'"{server.user}" "{server.password or ""}"\n')
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        "[databases]\n"
        f"* = host={server.host} port={server.port}\n"
        "[pgbouncer]\n"
        f"listen_addr = {_HOST}\n"
        f"listen_port = {port}\n"
        "unix_socket_dir =\n"
        "auth_type = scram-sha-256\n"
        f"auth_file = {users}\n"
        "pool_mode = transaction\n"
        f"default_pool_size = {pool_size}\n"
        "server_lifetime = 3600\n"
        "server_login_retry = 1\n"
    )
    return settings


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


async def _listens(process: "subprocess.Popen[bytes]", port: int) -> bool:
    """Whether it listens; not when it gave up first."""

    async def decided() -> bool:
        return process.poll() is not None or await asyncio.to_thread(_accepts, port)

    await until(decided, "pgbouncer listens or has given up")
    return process.poll() is None


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((_HOST, port)) == 0
