"""One PostgreSQL cluster on disk: created once, started, found running, stopped. Blocking; called under the lock.

The server's own pid file says who serves the data folder. It is believed only as far as it can be checked: the pid
must be a living PostgreSQL process that stands in this data folder. After a crash or a reboot it may be a stranger's.
"""

import contextlib
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Literal

import psutil  # type: ignore[import-untyped]

from livewell.kernel.embedded_account import Account
from livewell.kernel.embedded_binaries import MAJOR, Binaries, find_binaries
from livewell.kernel.embedded_errors import (
    NO_SPACE,
    EmbeddedError,
    EmbeddedFolderForeign,
    EmbeddedNotStarted,
    EmbeddedNotStopped,
    EmbeddedVersionMismatch,
    disk_full,
)
from livewell.kernel.embedded_place import SYSTEM_FOLDER, Place
from livewell.kernel.embedded_processes import is_postgres_in

StopMode = Literal["fast", "immediate"]

SUPERUSER = "postgres"
START_LIMIT = timedelta(seconds=60)
STOP_LIMIT = timedelta(seconds=60)
_LOG_KEPT = 10 * 1024 * 1024
_LEAST_FREE = 1024 * 1024
_LIMIT_GRACE = timedelta(seconds=15)
# No system gives out a pid this large, so PostgreSQL finds nobody behind it.
_PID_OF_NOBODY = 2**30
_STATUS_LINE = 8
_CRASHED_SERVER_REMAINS = "pre-existing shared memory block"


@dataclass(frozen=True, kw_only=True)
class Postmaster:
    """A running server, as its pid file tells."""

    pid: int
    socket_folder: Path
    port: int

    @property
    def socket(self) -> Path:
        return self.socket_folder / f".s.PGSQL.{self.port}"


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """The data folder of one server and the means to run it."""

    place: Place
    account: Account

    @cached_property
    def binaries(self) -> Binaries:
        """The programs, looked for when one has to be run."""
        return find_binaries(self.account, SYSTEM_FOLDER)

    def create(self, *, durable: bool) -> None:
        """Make the data folder unless it is there; a half-made one of a killed process is thrown away."""
        for leftover in self.place.folder.glob("data.init-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        if self.place.data.exists():
            self._require_version()
            return
        fresh = self.place.folder / f"data.init-{secrets.token_hex(4)}"
        try:
            self._initdb(fresh, durable=durable)
            fresh.rename(self.place.data)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise

    def _initdb(self, fresh: Path, *, durable: bool) -> None:
        fresh.mkdir(mode=0o700)
        self.account.own(fresh)
        command: list[str | Path] = [self.binaries / "initdb", "-D", fresh, "-U", SUPERUSER, "--encoding=UTF8"]
        # The builtin locale sorts the same on every system and after every upgrade of it.
        command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
        command += ["--auth-local=trust", "--auth-host=scram-sha-256"]
        command += [] if durable else ["--no-sync"]
        self._checked(command, "initdb failed", limit=START_LIMIT + _LIMIT_GRACE)
        include = f"include_if_exists = '../{self.place.settings.name}'"
        appending: list[str | Path] = ["/bin/sh", "-c", 'echo "$1" >> "$2"', "sh", include, fresh / "postgresql.conf"]
        self._checked(appending, "cannot write postgresql.conf", limit=_LIMIT_GRACE)

    def _require_version(self) -> None:
        try:
            version = (self.place.data / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            raise EmbeddedFolderForeign(
                f"{self.place.data} is not a PostgreSQL data folder: it has no PG_VERSION", fix="move it away"
            ) from None
        if version != str(MAJOR):
            raise EmbeddedVersionMismatch(
                f"{self.place.data} was made by PostgreSQL {version}; this Livewell brings PostgreSQL {MAJOR}",
                fix=f"move the folder away, or dump it with PostgreSQL {version} and load the dump into a new one",
            )

    def running(self) -> Postmaster | None:
        """The server that serves this data folder now, if there is one; one that only begins is waited for."""
        deadline = time.monotonic() + START_LIMIT.total_seconds()
        while (pid := self._pid_on_file()) is not None and is_postgres_in(pid, self.place.data):
            lines = self._pid_file_lines()
            # The status comes last, when the socket is there.
            if len(lines) >= _STATUS_LINE and lines[0] == str(pid):
                return Postmaster(pid=pid, socket_folder=Path(lines[4]), port=int(lines[3]))
            if time.monotonic() > deadline:
                raise EmbeddedNotStarted(
                    f"the embedded PostgreSQL (pid {pid}) does not come up", fix=f"see {self.place.log}"
                )
            time.sleep(0.01)
        return None

    def _pid_on_file(self) -> int | None:
        lines = self._pid_file_lines()
        return int(lines[0]) if lines and lines[0].isdigit() else None

    def _pid_file_lines(self) -> list[str]:
        with contextlib.suppress(FileNotFoundError):
            return (self.place.data / "postmaster.pid").read_text().splitlines()
        return []

    def start(self, settings: Mapping[str, str]) -> Postmaster:
        """Start the server and wait until it accepts connections; it is no child of ours and outlives us."""
        socket_folder = self.place.socket_folder(self.account)
        self._require_silence(socket_folder)
        self._clear_remains(socket_folder)
        self._write_settings({**settings, "unix_socket_directories": str(socket_folder)})
        self._open_log()
        deadline = time.monotonic() + START_LIMIT.total_seconds()
        while True:
            offset = self.place.log.stat().st_size
            command: list[str | Path] = [self.binaries / "pg_ctl", "start", "-D", self.place.data, "-l", self.place.log]
            answer = self._run([*command, "-s", "-w", "-t", str(int(START_LIMIT.total_seconds()))])
            postmaster = self.running()
            if postmaster is not None:
                return postmaster
            said = self._log_since(offset)
            # Backends of a killed server take a moment to notice; PostgreSQL refuses to start beside them, rightly.
            if _CRASHED_SERVER_REMAINS not in said or time.monotonic() > deadline:
                raise self.failure("the embedded PostgreSQL did not start", said or answer.stdout)
            time.sleep(0.1)

    def stop(self, mode: StopMode) -> bool:
        """Stop the server and wait until its process is gone; False when none runs."""
        postmaster = self.running()
        if postmaster is None:
            return False
        seconds = str(int(STOP_LIMIT.total_seconds()))
        self._run([self.binaries / "pg_ctl", "stop", "-D", self.place.data, "-m", mode, "-s", "-w", "-t", seconds])
        deadline = time.monotonic() + _LIMIT_GRACE.total_seconds()
        while is_postgres_in(postmaster.pid, self.place.data):
            if time.monotonic() > deadline:
                raise EmbeddedNotStopped(
                    f"the embedded PostgreSQL (pid {postmaster.pid}) does not stop",
                    fix=f"see {self.place.log}; `kill -QUIT {postmaster.pid}` stops it at once, without loss",
                )
            time.sleep(0.01)
        if postmaster.socket_folder.parent != self.place.folder:
            with contextlib.suppress(OSError):
                postmaster.socket_folder.rmdir()
        return True

    def _write_settings(self, settings: Mapping[str, str]) -> None:
        lines = ["# Written by Livewell at each start; changes made here are lost.\n"]
        lines += [f"{name} = '{value}'\n" for name, value in settings.items()]
        fresh = self.place.settings.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with fresh.open("x") as file:
            file.writelines(lines)
        fresh.chmod(0o644)
        fresh.replace(self.place.settings)

    def _open_log(self) -> None:
        if self.place.log.exists() and self.place.log.stat().st_size > _LOG_KEPT:
            self.place.log.replace(self.place.log.with_suffix(".log.1"))
        self.place.log.touch(mode=0o600)
        self.account.own(self.place.log)

    def _clear_remains(self, socket_folder: Path) -> None:
        """Undo what a killed server left and PostgreSQL believes while its pid is taken: by a stranger, or by the dead
        process itself where nothing reaps it.

        The pid file of the data folder is kept, with a pid that cannot be: it also names the shared memory by which
        PostgreSQL finds backends of the killed server that still live. A free pid PostgreSQL handles itself.
        """
        for remains in socket_folder.glob(".s.PGSQL.*"):
            remains.unlink(missing_ok=True)
        pid = self._pid_on_file()
        if pid is not None and psutil.pid_exists(pid):
            _, *rest = self._pid_file_lines()
            lines = "\n".join([str(_PID_OF_NOBODY), *rest, ""])
            self._checked(
                ["/bin/sh", "-c", 'printf %s "$1" > "$2"', "sh", lines, self.place.data / "postmaster.pid"],
                "cannot correct postmaster.pid",
                limit=_LIMIT_GRACE,
            )

    def _require_silence(self, socket_folder: Path) -> None:
        """Refuse to start beside a server whose process cannot be seen, as from inside another container."""
        for path in socket_folder.glob(".s.PGSQL.*[0-9]"):
            with socket.socket(socket.AF_UNIX) as probe:
                if probe.connect_ex(str(path)) == 0:
                    raise EmbeddedNotStarted(
                        f"{self.place.data} is served by a process that cannot be seen from here",
                        fix="stop it where it runs; all processes that share a folder must see each other's pids",
                    )

    def _run(self, command: list[str | Path]) -> "subprocess.CompletedProcess[str]":
        return self.account.run(command, limit=max(START_LIMIT, STOP_LIMIT) + _LIMIT_GRACE)

    def _checked(self, command: list[str | Path], failing: str, *, limit: timedelta) -> None:
        answer = self.account.run(command, limit=limit)
        if answer.returncode != 0:
            raise self.failure(failing, answer.stdout)

    def _log_since(self, offset: int) -> str:
        with self.place.log.open("rb") as log:
            log.seek(offset)
            return log.read().decode(errors="replace")

    def failure(self, failing: str, said: str) -> EmbeddedError:
        """The fact behind a failed program, with the line that tells most and the last ones as detail."""
        # On a full disk even the server's log cannot tell.
        if NO_SPACE in said or shutil.disk_usage(self.place.folder).free < _LEAST_FREE:
            return disk_full(self.place.folder)
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        telling = [line for line in lines if "FATAL:" in line or "PANIC:" in line or "error:" in line]
        reason = (telling or lines or ["it said nothing"])[-1]
        return EmbeddedNotStarted(f"{failing}: {reason}", fix=f"see {self.place.log}", detail="\n".join(lines[-10:]))
