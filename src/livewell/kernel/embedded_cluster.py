"""One PostgreSQL cluster on disk: created once, started, found running, stopped. Blocking; called under the lock.

The server's own pid file says who serves the data folder. It is believed only as far as it can be checked: the pid
must be a living PostgreSQL process that stands in this data folder. After a crash or a reboot it may be a stranger's.
"""

import contextlib
import secrets
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from livewell.kernel.embedded_account import Account
from livewell.kernel.embedded_binaries import MAJOR, Binaries
from livewell.kernel.embedded_errors import (
    NO_SPACE,
    EmbeddedError,
    EmbeddedFolderForeign,
    EmbeddedNotStarted,
    EmbeddedNotStopped,
    EmbeddedVersionMismatch,
    disk_full,
    folder_facts,
)
from livewell.kernel.embedded_place import Place
from livewell.kernel.embedded_processes import is_postgres_in

StopMode = Literal["fast", "immediate"]

SUPERUSER = "postgres"
START_LIMIT = timedelta(seconds=60)
STOP_LIMIT = timedelta(seconds=60)
_LOG_KEPT = 10 * 1024 * 1024
_LIMIT_GRACE = timedelta(seconds=15)
# No system gives out a pid this large, so PostgreSQL finds nobody behind it.
_PID_OF_NOBODY = 2**30
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
    binaries: Binaries

    def create(self, *, durable: bool = True) -> None:
        """Make the data folder unless it is there; a half-made one of a killed process is thrown away."""
        for leftover in self.place.folder.glob("data.init-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        if self.place.data.exists():
            self._require_version()
            return
        fresh = self.place.folder / f"data.init-{secrets.token_hex(4)}"
        try:
            with folder_facts(self.place.folder):
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
        """The server that serves this data folder now, if there is one."""
        try:
            lines = (self.place.data / "postmaster.pid").read_text().splitlines()
            postmaster = Postmaster(pid=int(lines[0]), socket_folder=Path(lines[4]), port=int(lines[3]))
        except (FileNotFoundError, IndexError, ValueError):
            return None
        return postmaster if is_postgres_in(postmaster.pid, self.place.data) else None

    def start(self, settings: Mapping[str, str]) -> Postmaster:
        """Start the server and wait until it accepts connections; it is no child of ours and outlives us."""
        socket_folder = self.place.socket_folder(self.account)
        with folder_facts(self.place.folder):
            self._write_settings({**settings, "unix_socket_directories": str(socket_folder)})
            self._open_log()
            self._clear_remains(socket_folder)
        deadline = time.monotonic() + START_LIMIT.total_seconds()
        while True:
            offset = self.place.log.stat().st_size
            command: list[str | Path] = [self.binaries / "pg_ctl", "start", "-D", self.place.data, "-l", self.place.log]
            answer = self._run([*command, "-s", "-w", "-t", str(int(START_LIMIT.total_seconds()))])
            postmaster = self.running()
            if answer.returncode == 0 and postmaster is not None:
                return postmaster
            said = self._log_since(offset)
            # Backends of a killed server take a moment to notice; PostgreSQL refuses to start beside them, rightly.
            if _CRASHED_SERVER_REMAINS not in said or time.monotonic() > deadline:
                raise self._failure("the embedded PostgreSQL did not start", said or answer.stdout)
            time.sleep(0.1)

    def stop(self, mode: StopMode = "fast") -> None:
        """Stop the server, if it runs, and wait until its process is gone."""
        postmaster = self.running()
        if postmaster is None:
            return
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

    def _write_settings(self, settings: Mapping[str, str]) -> None:
        lines = ["# Written by Livewell at each start; changes made here are lost.\n"]
        lines += [f"{name} = '{value}'\n" for name, value in settings.items()]
        fresh = self.place.settings.with_suffix(".new")
        fresh.write_text("".join(lines))
        fresh.chmod(0o644)
        fresh.replace(self.place.settings)

    def _open_log(self) -> None:
        if self.place.log.exists() and self.place.log.stat().st_size > _LOG_KEPT:
            self.place.log.replace(self.place.log.with_suffix(".log.1"))
        self.place.log.touch(mode=0o600)
        self.account.own(self.place.log)

    def _clear_remains(self, socket_folder: Path) -> None:
        """Remove what a killed server left and PostgreSQL would believe if a stranger had its pid by now.

        The data folder's pid file is kept, with a pid that cannot be: it also names the shared memory by which
        PostgreSQL finds backends of the killed server that still live.
        """
        for remains in socket_folder.glob(".s.PGSQL.*"):
            remains.unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            pid_file = self.place.data / "postmaster.pid"
            rest = pid_file.read_text().partition("\n")[2]
            if rest:
                pid_file.write_text(f"{_PID_OF_NOBODY}\n{rest}")
            else:
                pid_file.unlink()

    def _run(self, command: list[str | Path]) -> "subprocess.CompletedProcess[str]":
        return self.account.run(command, limit=max(START_LIMIT, STOP_LIMIT) + _LIMIT_GRACE)

    def _checked(self, command: list[str | Path], failing: str, *, limit: timedelta) -> None:
        answer = self.account.run(command, limit=limit)
        if answer.returncode != 0:
            raise self._failure(failing, answer.stdout)

    def _log_since(self, offset: int) -> str:
        with self.place.log.open("rb") as log:
            log.seek(offset)
            return log.read().decode(errors="replace")

    def _failure(self, failing: str, said: str) -> EmbeddedError:
        """The fact behind a failed program, with the line that tells most and the last ones as detail."""
        if NO_SPACE in said:
            return disk_full(self.place.folder)
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        telling = [line for line in lines if "FATAL:" in line or "PANIC:" in line or "error:" in line]
        reason = (telling or lines or ["it said nothing"])[-1]
        return EmbeddedNotStarted(f"{failing}: {reason}", fix=f"see {self.place.log}", detail="\n".join(lines[-10:]))
