"""A stopped, migrated server in the user's cache, which the servers of test runs begin as copies of.

The name of its folder carries a checksum of all SQL files and of the server's programs: a change of either makes a new
one, and the newest few are kept. A folder has its name only when it is complete. Its database `livewell` is migrated,
and there is a template of the same for databases to be copied from.
"""

import asyncio
import fcntl
import hashlib
import os
import secrets
import shutil
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from livewell.kernel import EmbeddedPostgres, SqlFiles, migrate
from livewell.testing.addresses import Address
from livewell.testing.logins import connected
from livewell.testing.throwaway import make_folder, remove_folder

THROWAWAY_SETTINGS: Mapping[str, str] = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "128MB",
    "min_wal_size": "32MB",
}

_CACHE = "XDG_CACHE_HOME"
KEPT = 3


def template_name() -> str:
    """What the template of today's SQL files is called, on every server."""
    return f"livewell_template_{_checksum_of_sql()}"


async def begin_as_copy(embedded: EmbeddedPostgres) -> None:
    """Give a server that has no data yet those of the prepared one; of several processes, one does it."""
    cluster = await embedded.prepared()
    data = cluster.place.data
    async with _alone(cluster.place.folder / "copying"):
        if not data.exists():
            unfinished = data.with_name("data.copy")
            await asyncio.to_thread(_copy, await _prepared(cluster.binaries.version), unfinished)
            unfinished.rename(data)


async def _prepared(version: str) -> Path:
    """The data folder of the prepared server; made where there is none."""
    cache_folder = Path(os.environ.get(_CACHE) or Path.home() / ".cache") / "livewell" / "testing"
    cache_folder.mkdir(parents=True, exist_ok=True)
    kept = cache_folder / f"postgresql-{version}-{_checksum_of_sql()}"
    async with _alone(cache_folder / "making"):
        if not kept.exists():
            await _make(kept)
        os.utime(kept)
        _forget_older(cache_folder)
    return kept


async def _make(kept: Path) -> None:
    folder = make_folder()
    try:
        embedded = EmbeddedPostgres(folder / "server", THROWAWAY_SETTINGS)
        url = await embedded.start()
        await migrate(url)
        async with connected(replace(Address.of(url), database="postgres").url) as connection:
            await connection.execute(f"create database {template_name()} template {Address.of(url).database}")
        await embedded.stop()
        unfinished = kept.with_name(f"unfinished-{secrets.token_hex(4)}")
        await asyncio.to_thread(_copy, (await embedded.prepared()).place.data, unfinished)
        unfinished.rename(kept)
    finally:
        await remove_folder(folder)


def _forget_older(cache_folder: Path) -> None:
    """Remove those not used for longest, and what killed processes left half-made."""
    folders = sorted((path for path in cache_folder.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
    unfinished = [path for path in folders if path.name.startswith("unfinished-")]
    finished = [path for path in folders if path not in unfinished]
    for path in [*unfinished, *finished[:-KEPT]]:
        shutil.rmtree(path, ignore_errors=True)


@asynccontextmanager
async def _alone(lock: Path) -> AsyncIterator[None]:
    """Alone among all processes; the system gives the lock back when its holder dies."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        await asyncio.to_thread(fcntl.flock, handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _copy(folder: Path, target: Path) -> None:
    """With owners and modes, which shutil does not keep."""
    subprocess.run(["cp", "-a", folder, target], check=True)


@cache
def _checksum_of_sql() -> str:
    files = SqlFiles.shipped()
    sums = [migration.checksum for migration in files.migrations] + [item.checksum for item in files.objects]
    return hashlib.sha256("".join(sums).encode()).hexdigest()[:16]
