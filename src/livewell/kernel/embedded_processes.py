"""Processes around an embedded server: who a pid really is, and which processes use the server.

A pid alone says little: it is reused after a crash or a reboot. A process is known by its pid together with the moment
it began, so a user that crashed without saying goodbye is noticed, and a stranger with its pid is not taken for it.
"""

import contextlib
import os
import secrets
from pathlib import Path

import psutil  # type: ignore[import-untyped]

_PROC = Path("/proc")
_KEPT = ".kept"


def birth_of(pid: int) -> str | None:
    """When a process began, as a mark no later process with the same pid carries; None when it is not running."""
    if (_PROC / "self" / "stat").exists():
        return _linux_birth(pid)
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else f"{process.create_time():.2f}"
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def _linux_birth(pid: int) -> str | None:
    """Ticks since this boot: unlike a time of day, they do not move when the clock is set."""
    try:
        state, *fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    return None if state in ("Z", "X") else f"{boot}:{fields[18]}"


def is_postgres_in(pid: int, data: Path) -> bool:
    """Whether this pid is a server of this data folder; a server always stands in its data folder.

    Where that cannot be seen (root in a container may not look into other users' processes), its command line tells.
    """
    if birth_of(pid) is None:
        return False
    try:
        process = psutil.Process(pid)
        return "postgres" in process.name() and _stands_in(process, data.resolve())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def _stands_in(process: psutil.Process, data: Path) -> bool:
    try:
        return Path(process.cwd()) == data
    except psutil.AccessDenied:
        return str(data) in process.cmdline()


class Users:
    """The processes that use a server, one small file each; read and written only under the server's lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own: Path | None = None

    def register(self) -> None:
        self._folder.mkdir(exist_ok=True)
        if self._own is None or not self._own.exists():
            self._own = self._folder / f"{os.getpid()}.{secrets.token_hex(4)}"
            self._own.write_text(birth_of(os.getpid()) or "")

    def leave(self) -> None:
        if self._own is not None:
            self._own.unlink(missing_ok=True)

    def keep(self, server: int) -> None:
        """Let the server count as a user of its own, so that it stays when everybody has left."""
        self._folder.mkdir(exist_ok=True)
        (self._folder / f"{server}{_KEPT}").write_text(birth_of(server) or "")

    def kept(self) -> bool:
        return any(entry.name.endswith(_KEPT) for entry in self._entries())

    def forget_all(self) -> None:
        for entry in self._entries():
            entry.unlink(missing_ok=True)

    def alive(self) -> int:
        """How many users live, a server that is kept included; the files of those that crashed are removed."""
        living = 0
        for entry in self._entries():
            pid = entry.name.partition(".")[0]
            if pid.isdigit() and birth_of(int(pid)) == entry.read_text():
                living += 1
            else:
                entry.unlink(missing_ok=True)
        return living

    def _entries(self) -> list[Path]:
        with contextlib.suppress(FileNotFoundError):
            return list(self._folder.iterdir())
        return []
