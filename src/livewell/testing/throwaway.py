"""The throwaway folder of a test run: made by its first process, shared with its workers, removed with its servers.

It lies in memory where the system offers that: a database of a test's own is some hundreds of small files, and making
them on a disk can take ten times as long. A TMPDIR that is set is obeyed.
"""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import psutil  # type: ignore[import-untyped]

from livewell.kernel import EmbeddedPostgres, LivewellError, birth_of
from livewell.testing.disks import unmount_below

T = TypeVar("T")

_PREFIX = "livewell-test-"
_OWNER = "owner"
_YOUNG_SECONDS = 600
_MEMORY = Path("/dev/shm")  # noqa: S108 - folders in it are made by mkdtemp
_ENOUGH = 4 * 1024**3


def run_apart(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in a thread with a loop of its own, beside any loop of the tests."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def make_folder() -> Path:
    """A new folder that the server's user can enter too, marked with the process it belongs to."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_place()))
    folder.chmod(0o755)
    (folder / _OWNER).write_text(f"{os.getpid()} {birth_of(os.getpid())}")
    return folder


async def remove_folder(folder: Path) -> None:
    """Stop every embedded server left in the folder, unmount what is mounted there, then remove it."""
    for marker in folder.rglob("livewell-embedded"):
        await EmbeddedPostgres(marker.parent).stop(mode="immediate")
    unmount_below(folder)
    shutil.rmtree(folder, ignore_errors=True)


async def sweep() -> None:
    """Remove the folders of test runs that were killed before they could do it themselves.

    Another run may be doing the same, and what cannot be removed must not keep this run from its tests.
    """
    places = {Path(tempfile.gettempdir()), _place()}
    for folder in [folder for place in places for folder in place.glob(f"{_PREFIX}*")]:
        with suppress(LivewellError, OSError):
            if _is_abandoned(folder):
                await remove_folder(folder)


def _place() -> Path:
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK | os.X_OK):
        return Path(tempfile.gettempdir())
    roomy = min(shutil.disk_usage(_MEMORY).free, psutil.virtual_memory().available) >= _ENOUGH
    return _MEMORY if roomy else Path(tempfile.gettempdir())


def _is_abandoned(folder: Path) -> bool:
    try:
        if folder.stat().st_uid != os.geteuid():
            return False
        pid, _, birth = (folder / _OWNER).read_text().partition(" ")
        return birth_of(int(pid)) != birth
    except FileNotFoundError:
        return folder.exists() and time.time() - folder.stat().st_mtime > _YOUNG_SECONDS
