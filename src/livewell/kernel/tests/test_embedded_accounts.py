"""The embedded PostgreSQL under root and under an ordinary user."""

import os
import pwd
import shutil
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
import pytest_asyncio

from livewell.kernel.embedded import EmbeddedPostgres
from livewell.kernel.embedded_account import Account
from livewell.kernel.embedded_binaries import wheel_home
from livewell.kernel.embedded_place import SYSTEM_FOLDER
from livewell.testing import child, connected, lack, require

QUICK = {"fsync": "off"}

USE = """
from datetime import timedelta
from pathlib import Path
from typing import Any
from livewell.kernel.embedded import EmbeddedPostgres
from livewell.kernel.errors import LivewellError

async def main():
    server = EmbeddedPostgres(Path(sys.argv[1]), {"fsync": "off"})
    try:
        url = await server.start()
    except LivewellError as fact:
        return answer([fact.code, str(fact)])
    answer([(await server.status()).pid, url])
    await told()
    await server.release()

asyncio.run(main())
"""


@pytest.fixture
def somebody() -> Account:
    """An ordinary user that root can step down to."""
    if os.geteuid() != 0:
        lack("only root can run a process as another user")
    entry = pwd.getpwnam("nobody")
    return Account(uid=entry.pw_uid, gid=entry.pw_gid, borrowed=True)


@pytest.fixture
def as_somebody(somebody: Account) -> dict[str, Any]:
    """What runs a child as that user, with a Python that it can reach and this process's packages."""
    packages = f"PYTHONPATH={os.pathsep.join(path for path in sys.path if path)}"
    for python in (sys.executable, "/usr/bin/python3"):
        probe = ["env", packages, python, "-c", "import livewell.kernel.embedded"]
        if somebody.run(probe, limit=timedelta(seconds=30)).returncode == 0:
            break
    else:
        lack("an ordinary user cannot run a Python with Livewell's packages here")
    return {"account": somebody, "python": ["env", packages, python]}


@pytest_asyncio.fixture
async def server(own_folder: Path) -> AsyncIterator[EmbeddedPostgres]:
    """A server that has not been started; stopped after the test if it has been."""
    embedded = EmbeddedPostgres(own_folder, QUICK)
    yield embedded
    await embedded.stop(mode="immediate")


async def test_an_ordinary_user_runs_the_server_as_itself(
    somebody: Account, as_somebody: dict[str, Any], own_folder: Path
) -> None:
    """Server and files are that user's, and nobody else can enter the folder."""
    own_folder.mkdir()
    somebody.own(own_folder)
    async with child(USE, own_folder / "pg", **as_somebody) as user:
        pid, _ = await user.answer()
        assert psutil.Process(pid).uids().real == somebody.uid
        for path in (own_folder / "pg", own_folder / "pg/data", own_folder / "pg/run"):
            assert (path.stat().st_uid, path.stat().st_mode & 0o777) == (somebody.uid, 0o700)
        user.tell()
        assert await user.ended() == 0
        assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


async def test_root_runs_a_users_server_as_that_user(
    somebody: Account, as_somebody: dict[str, Any], own_folder: Path
) -> None:
    """Root that comes to a user's project leaves it usable for the user."""
    own_folder.mkdir()
    somebody.own(own_folder)
    async with child(USE, own_folder / "pg", **as_somebody) as user:
        await user.answer()
        user.tell()
        await user.ended()
    async with EmbeddedPostgres(own_folder / "pg", QUICK) as server:
        pid = (await server.status()).pid
        assert psutil.Process(pid).uids().real == somebody.uid
    async with child(USE, own_folder / "pg", **as_somebody) as user:
        pid, url = await user.answer()
        assert url.startswith("postgresql://")


async def test_as_root_the_server_runs_unprivileged(server: EmbeddedPostgres, own_folder: Path) -> None:
    """Root can use the server, which is not root, and no other user can enter its data or its socket's folder."""
    if os.geteuid() != 0:
        lack("this test is about root")
    async with connected(await server.start()) as connection:
        assert await connection.fetchval("select 1") == 1
    owner = psutil.Process((await server.status()).pid).uids()
    assert 0 not in (owner.real, owner.effective, owner.saved)
    for path in (own_folder / "data", own_folder / "run"):
        assert (path.stat().st_uid, path.stat().st_mode & 0o777) == (owner.real, 0o700)


async def test_another_user_is_refused_with_a_fact(
    server: EmbeddedPostgres, as_somebody: dict[str, Any], own_folder: Path
) -> None:
    """A user who may not work in the folder is told so."""
    await server.start()
    async with child(USE, own_folder, **as_somebody) as user:
        code, text = await user.answer()
    assert code == "kernel.embedded_folder_refused"
    assert str(own_folder) in text


async def test_root_that_may_not_look_into_processes_finds_the_server(
    server: EmbeddedPostgres, own_folder: Path
) -> None:
    """In a container root may not see where a process stands; the running server is found all the same."""
    if os.geteuid() != 0:
        lack("this test is about root")
    await server.start()
    python = [require("setpriv"), "--bounding-set=-sys_ptrace", sys.executable]
    async with child(USE, own_folder, python=python) as restricted:
        pid, _ = await restricted.answer()
        assert pid == (await server.status()).pid


async def test_root_in_a_closed_folder_uses_the_system_folder(own_folder: Path) -> None:
    """A project that the server's user cannot enter is served from /var/lib/livewell, and its mode is not changed."""
    if os.geteuid() != 0:
        lack("this test is about root")
    own_folder.mkdir(mode=0o700)
    async with EmbeddedPostgres(own_folder / "project/.livewell/pg", QUICK) as server:
        used = (await server.status()).folder
        async with connected(server.url()) as connection:
            await connection.execute("create table note ()")
    async with EmbeddedPostgres(own_folder / "project/.livewell/pg", QUICK) as server, connected(server.url()) as again:
        assert await again.fetchval("select count(*) from note") == 0
    try:
        assert used.parent == SYSTEM_FOLDER
        assert own_folder.stat().st_mode & 0o777 == 0o700
        assert list(own_folder.iterdir()) == []
    finally:
        shutil.rmtree(used)


async def test_programs_in_a_closed_folder_are_copied(own_folder: Path) -> None:
    """When the server's user cannot reach the wheel, it runs a copy of the programs below /var/lib/livewell."""
    if os.geteuid() != 0:
        lack("this test is about root")
    closed, package = own_folder / "closed", wheel_home().parent
    shutil.copytree(wheel_home(), closed / package.name / wheel_home().name, symlinks=True)
    shutil.copytree(package.with_suffix(".libs"), closed / package.with_suffix(".libs").name, symlinks=True)
    (closed / package.name / "__init__.py").touch()
    closed.chmod(0o700)
    first = os.pathsep.join([str(closed), *sys.path])
    present = set(SYSTEM_FOLDER.iterdir()) if SYSTEM_FOLDER.exists() else set()
    try:
        async with child(USE, own_folder / "pg", environment={"PYTHONPATH": first}) as user:
            pid, _ = await user.answer()
            assert SYSTEM_FOLDER in Path(psutil.Process(pid).exe()).parents
            user.tell()
            assert await user.ended() == 0
        assert closed.stat().st_mode & 0o777 == 0o700
    finally:
        for made in set(SYSTEM_FOLDER.iterdir()) - present:
            shutil.rmtree(made)
