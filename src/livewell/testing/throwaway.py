"""The throwaway folder of a test run: made by its first process, shared with its workers, removed with its servers."""

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

from livewell.kernel import EmbeddedPostgres, LivewellError, birth_of

T = TypeVar("T")

_PREFIX = "livewell-test-"
_OWNER = "owner"
_YOUNG_SECONDS = 600


def run_apart(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in a thread with a loop of its own, beside any loop of the tests."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def make_folder() -> Path:
    """A new folder that the server's user can enter too, marked with the process it belongs to."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    folder.chmod(0o755)
    (folder / _OWNER).write_text(f"{os.getpid()} {birth_of(os.getpid())}")
    return folder


async def remove_folder(folder: Path) -> None:
    """Stop every embedded server left in the folder, then remove it."""
    for marker in folder.rglob("livewell-embedded"):
        await EmbeddedPostgres(marker.parent).stop(mode="immediate")
    shutil.rmtree(folder, ignore_errors=True)


async def sweep() -> None:
    """Remove the folders of test runs that were killed before they could do it themselves.

    Another run may be doing the same, and what cannot be removed must not keep this run from its tests.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(LivewellError, OSError):
            if _is_abandoned(folder):
                await remove_folder(folder)


def _is_abandoned(folder: Path) -> bool:
    try:
        if folder.stat().st_uid != os.geteuid():
            return False
        pid, _, birth = (folder / _OWNER).read_text().partition(" ")
        return birth_of(int(pid)) != birth
    except FileNotFoundError:
        return folder.exists() and time.time() - folder.stat().st_mtime > _YOUNG_SECONDS
