"""Where an embedded server lives on disk.

    <folder>/livewell-embedded   the marker: without it a folder that is not empty is somebody else's
             lock                held while the server is created, started or stopped
             users/              one file per process that uses the server
             data/               the PostgreSQL data folder; complete, or absent
             livewell.conf       the settings, written at each start
             server.log          the server's log
             run/                the socket; below the temporary folder when this path is not fit for a socket

As an ordinary user everything is that user's alone. As root the folder is root's; data, socket and log belong to the
unprivileged user that runs the server. When that user cannot enter the folder at all (a project below /root), the whole
folder is kept below /var/lib/livewell instead: the modes of folders that are not ours are never changed.
"""

import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from livewell.kernel.embedded_account import Account
from livewell.kernel.embedded_errors import EmbeddedFolderForeign, EmbeddedFolderRefused, folder_facts

SYSTEM_FOLDER = Path("/var/lib/livewell")
# The smallest limit of the supported systems (macOS: 104 bytes with the closing zero), for the longest socket name.
_SOCKET_FOLDER_LIMIT = 103 - len("/.s.PGSQL.65535")
# What needs no quoting in the list of folders that PostgreSQL's setting is.
_PLAIN = re.compile(r"[\w./+-]+", re.ASCII)
_MARKER_TEXT = "The embedded PostgreSQL of Livewell lives here. Stop it before moving or removing this folder.\n"


@dataclass(frozen=True, kw_only=True)
class Place:
    """The files of one embedded server."""

    folder: Path

    @property
    def marker(self) -> Path:
        return self.folder / "livewell-embedded"

    @property
    def lock(self) -> Path:
        return self.folder / "lock"

    @property
    def users(self) -> Path:
        return self.folder / "users"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def settings(self) -> Path:
        return self.folder / "livewell.conf"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def prepare(self, account: Account) -> None:
        """Create what is missing; refuse a folder that holds anything else."""
        with folder_facts(self.folder):
            _make_folders(self.folder, 0o755 if account.borrowed else 0o700)
            present = {path.name for path in self.folder.iterdir()}
            if present and self.marker.name not in present:
                raise EmbeddedFolderForeign(
                    f"{self.folder} holds files that are not Livewell's",
                    fix="set LIVEWELL_DATA to another folder, or empty this one",
                )
            if not present:
                self.marker.write_text(_MARKER_TEXT)

    def socket_folder(self, account: Account) -> Path:
        """A folder for the socket that nobody but the server's user (and root) can enter."""
        folder = self.folder / "run"
        if len(os.fsencode(folder)) > _SOCKET_FOLDER_LIMIT or not _PLAIN.fullmatch(str(folder)):
            folder = Path(tempfile.gettempdir()) / f"livewell-{_digest(self.folder)}"
        with folder_facts(folder):
            try:
                folder.mkdir(mode=0o700)
                account.own(folder)
            except FileExistsError:
                _require_private(folder, account)
        return folder


def place_for(folder: Path) -> Place:
    """The place a caller's folder stands for: itself, or for root its stand-in below /var/lib/livewell."""
    asked = Place(folder=folder.expanduser().resolve())
    if os.geteuid() != 0 or asked.data.exists():
        return asked
    stand_in, nearest = Place(folder=SYSTEM_FOLDER / _digest(asked.folder)), _nearest(asked.folder)
    if stand_in.data.exists() or (nearest.is_dir() and not Account.for_data(asked.data).can_enter(nearest)):
        return stand_in
    return asked


def _digest(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]


def _nearest(folder: Path) -> Path:
    """The folder itself, or the closest one above it that exists."""
    return next(path for path in (folder, *folder.parents) if path.exists())


def _make_folders(folder: Path, mode: int) -> None:
    """Create a folder and those above it, with a mode that does not depend on the caller's umask."""
    for path in reversed([folder, *folder.parents]):
        if not path.is_dir():
            path.mkdir(exist_ok=True)
            path.chmod(mode)


def _require_private(folder: Path, account: Account) -> None:
    found = folder.lstat()
    if folder.is_symlink() or not folder.is_dir() or found.st_uid != account.uid or found.st_mode & 0o077:
        raise EmbeddedFolderRefused(
            f"{folder} must be a folder that only the user with uid {account.uid} can enter", fix="remove it"
        )
