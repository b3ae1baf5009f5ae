"""A disk of a test's own that is small enough to be filled: a file system in memory with a size.

Only root can mount one (or who may use sudo without a password); elsewhere the test is skipped by name.
"""

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from livewell.testing.requirements import lack, require

_BLOCKS = (1024 * 1024, 4096)


@dataclass(frozen=True, kw_only=True)
class SmallDisk:
    """A mounted folder; `fill()` takes what room is left, `free()` gives it back."""

    folder: Path

    def fill(self) -> None:
        """Take all the room there is now; what others give back afterwards is theirs until the next call."""
        handle = os.open(self._ballast, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            for block in _BLOCKS:
                while _written(handle, bytes(block)):
                    pass
        finally:
            os.close(handle)

    def free(self) -> None:
        self._ballast.unlink(missing_ok=True)

    @property
    def _ballast(self) -> Path:
        return self.folder / "ballast"


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[SmallDisk]:
    """Mount a disk of this size at a folder, which is made; unmounted with everything on it at the end."""
    folder.mkdir(mode=0o755)
    answer = _as_root(
        "mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755,uid={os.getuid()}", "tmpfs", str(folder)
    )
    if answer.returncode != 0:
        folder.rmdir()
        lack(f"no small disk can be mounted here: {answer.stdout.strip()}")
    try:
        yield SmallDisk(folder=folder)
    finally:
        unmount_below(folder)


def unmount_below(folder: Path) -> None:
    """Unmount what is mounted at or below a folder, also what a killed test left."""
    mounts = Path("/proc/self/mounts")
    lines = mounts.read_text().splitlines() if mounts.exists() else []
    for place in [Path(line.split()[1]) for line in lines if line.startswith("tmpfs ")]:
        if place.is_relative_to(folder):
            _as_root("umount", "--lazy", str(place))


def _as_root(program: str, *args: str) -> "subprocess.CompletedProcess[str]":
    command = [require(program), *args]
    if os.geteuid() != 0:
        command = [require("sudo"), "-n", *command]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def _written(handle: int, block: bytes) -> bool:
    """Whether it still fitted."""
    try:
        return os.write(handle, block) == len(block)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return False
