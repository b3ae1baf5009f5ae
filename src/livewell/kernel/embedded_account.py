"""The operating-system user the embedded server runs as.

PostgreSQL refuses to run as root. An ordinary user runs the server as itself; root runs it as the owner of the data
folder, or for a new one as `postgres`, or where there is none as `nobody`.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

from livewell.kernel.embedded_errors import EmbeddedNotStarted

_UNPRIVILEGED = ("postgres", "nobody")
_TIMED_OUT = 124
# Programs and libraries are found by these, temporary files and times of day depend on them.
_NEEDED = ("PATH", "HOME", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


@dataclass(frozen=True, kw_only=True)
class Account:
    """A user that may run PostgreSQL; `borrowed` when this process is root and steps down to it."""

    uid: int
    gid: int
    borrowed: bool

    @classmethod
    def for_data(cls, data: Path) -> Self:
        """Who runs the server of this data folder, which need not exist yet."""
        if os.geteuid() == 0 and data.exists() and (owner := data.stat()).st_uid != 0:
            return cls(uid=owner.st_uid, gid=owner.st_gid, borrowed=True)
        return cls.unprivileged()

    @classmethod
    def unprivileged(cls) -> Self:
        """The user of this process; when that is root, the first there is of those meant for such work."""
        if os.geteuid() != 0:
            return cls(uid=os.geteuid(), gid=os.getegid(), borrowed=False)
        import pwd  # noqa: PLC0415 - absent on Windows, where this is never reached

        for name in _UNPRIVILEGED:
            try:
                entry = pwd.getpwnam(name)
            except KeyError:
                continue
            return cls(uid=entry.pw_uid, gid=entry.pw_gid, borrowed=True)
        raise EmbeddedNotStarted(
            "PostgreSQL does not run as root, and there is no user postgres or nobody to run it",
            fix="run as an ordinary user, or create the user postgres",
        )

    @property
    def identity(self) -> dict[str, Any]:
        """What subprocess needs to run a program as this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.borrowed else {}

    def run(self, command: Sequence[str | Path], *, limit: timedelta) -> "subprocess.CompletedProcess[str]":
        """Run a program as this user, in a session of its own so that a Ctrl-C in the terminal does not reach it."""
        words = [str(part) for part in command]
        try:
            return subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                cwd="/",
                env=_environment(),
                start_new_session=True,
                timeout=limit.total_seconds(),
                check=False,
                **self.identity,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, _TIMED_OUT, stdout=f"{words[0]} did not end within {limit}")

    def can_enter(self, folder: Path) -> bool:
        """Whether this user can reach a folder, asked of the operating system itself."""
        shell = shutil.which("sh") or "/bin/sh"
        return self.run([shell, "-c", 'cd "$1"', "sh", folder], limit=timedelta(seconds=10)).returncode == 0

    def own(self, path: Path) -> None:
        if self.borrowed:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def _environment() -> dict[str, str]:
    """What running needs and no more: who may run a program inside the database reads the server's environment.

    Messages in English; the caller's PG* variables would redirect PostgreSQL's programs.
    """
    return {**{name: os.environ[name] for name in _NEEDED if name in os.environ}, "LC_ALL": "C"}
