"""The embedded PostgreSQL among processes: shared, raced for, crashed around, and stopped."""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import asyncpg
import psutil  # type: ignore[import-untyped]
import pytest
import pytest_asyncio

from livewell.kernel.embedded import EmbeddedPostgres
from livewell.kernel.embedded_account import Account
from livewell.kernel.embedded_errors import EmbeddedNotStarted
from livewell.testing import child, connected, until

QUICK = {"fsync": "off"}

USE = """
from pathlib import Path
from livewell.kernel.embedded import EmbeddedPostgres

async def main():
    server = EmbeddedPostgres(Path(sys.argv[1]), {"fsync": "off"})
    url = await server.start()
    answer([(await server.status()).pid, url])
    await told()
    await server.release()

asyncio.run(main())
"""


@pytest_asyncio.fixture
async def server(own_folder: Path) -> AsyncIterator[EmbeddedPostgres]:
    """A server that has not been started; stopped after the test if it has been."""
    embedded = EmbeddedPostgres(own_folder, QUICK)
    yield embedded
    await embedded.stop(mode="immediate")


async def test_two_processes_share_one_server_until_the_last_leaves(server: EmbeddedPostgres, own_folder: Path) -> None:
    """The second process finds the first one's server; it stops when both have released it, not before."""
    async with child(USE, own_folder) as first:
        pid, url = await first.answer()
        assert await server.start() == url
        assert (await server.status()).pid == pid
        assert (await server.status()).users == 2
        first.tell()
        assert await first.ended() == 0
    assert (await server.status()).pid == pid
    await server.release()
    assert not (await server.status()).running


async def test_a_kept_server_outlives_its_users_until_it_is_stopped(server: EmbeddedPostgres, own_folder: Path) -> None:
    """`keep()` counts as a user that only `stop()` sends away, and anybody can learn the server's address."""
    url = await server.keep()
    async with child(USE, own_folder) as user:
        assert (await user.answer())[1] == url
        user.tell()
        assert await user.ended() == 0
    other = EmbeddedPostgres(own_folder, QUICK)
    status = await other.status()
    assert (status.running, status.kept, status.users) == (True, True, 0)
    assert other.url() == url
    await other.stop()
    status = await server.status()
    assert (status.running, status.kept) == (False, False)
    with pytest.raises(EmbeddedNotStarted):
        server.url()


async def test_processes_that_race_for_the_first_start_get_one_server(
    server: EmbeddedPostgres, own_folder: Path
) -> None:
    """However many begin at once, one creates and starts the server and all use it."""
    async with AsyncExitStack() as stack:
        children = [await stack.enter_async_context(child(USE, own_folder)) for _ in range(3)]
        answers = [await child_process.answer() for child_process in children]
        assert len({tuple(answer) for answer in answers}) == 1
        assert (await server.status()).users == 3


async def test_the_server_outlives_a_killed_user_who_no_longer_counts(
    server: EmbeddedPostgres, own_folder: Path
) -> None:
    """After kill -9 of the process that started it the server goes on, and the dead user is forgotten."""
    async with child(USE, own_folder) as first:
        pid, _ = await first.answer()
        await first.kill()
    url = await server.start()
    async with connected(url) as connection:
        assert await connection.fetchval("select 1") == 1
    status = await server.status()
    assert (status.pid, status.users) == (pid, 1)
    await server.release()
    assert not (await server.status()).running


async def test_a_stopped_server_leaves_nothing_running(server: EmbeddedPostgres, own_folder: Path) -> None:
    """A clean stop ends every process of the server, though a client is connected, and removes pid file and socket."""
    url = await server.start()
    client = await asyncpg.connect(url)
    await server.stop()
    client.terminate()
    assert _processes_in(own_folder / "data") == []
    assert not (own_folder / "data/postmaster.pid").exists()
    assert list((own_folder / "run").iterdir()) == []
    assert "database system is shut down" in (own_folder / "server.log").read_text()


async def test_a_killed_server_starts_again_while_its_backends_linger(server: EmbeddedPostgres) -> None:
    """After kill -9 of the postmaster a start waits for its backends to go, recovers, and has what was committed."""
    client = await asyncpg.connect(await server.start())
    await client.execute("create table note (id int)")
    busy = asyncio.ensure_future(client.execute("insert into note select 1 from pg_sleep(600)"))
    killed = (await server.status()).pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    async with connected(await server.start()) as connection:
        assert await connection.fetchval("select count(*) from note") == 0
    assert (await server.status()).pid != killed
    await asyncio.gather(busy, return_exceptions=True)
    client.terminate()


async def test_a_pid_file_that_names_a_stranger_is_not_believed(server: EmbeddedPostgres, own_folder: Path) -> None:
    """When the killed server's pid belongs to another process by now, the server starts and the stranger lives on."""
    async with connected(await server.start()) as connection:
        await connection.execute("create table note (id int)")
    killed = (await server.status()).pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    await until(lambda: _gone(own_folder / "data"), "the killed server's processes are gone")
    stranger = subprocess.Popen(["sleep", "600"], **Account.unprivileged().identity)
    for name in ("data/postmaster.pid", "run/.s.PGSQL.5432.lock"):
        path = own_folder / name
        path.write_text(path.read_text().replace(f"{killed}\n", f"{stranger.pid}\n", 1))
    try:
        async with connected(await server.start()) as connection:
            assert await connection.fetchval("select count(*) from note") == 0
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


async def test_a_pid_file_that_names_a_dead_process_is_not_believed(server: EmbeddedPostgres, own_folder: Path) -> None:
    """After a crash and a reboot the pid file names nobody, and the server starts."""
    await server.start()
    killed = (await server.status()).pid
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    await until(lambda: _gone(own_folder / "data"), "the killed server's processes are gone")
    assert (own_folder / "data/postmaster.pid").exists()
    await server.start()
    assert (await server.status()).pid not in (None, killed)


async def test_a_killed_initdb_is_done_again(server: EmbeddedPostgres, own_folder: Path) -> None:
    """A data folder is complete or absent: what a process killed in initdb left is thrown away."""
    async with child(USE, own_folder) as first:
        await until(lambda: _begun(own_folder), "initdb has begun")
        await first.kill()
    assert not (own_folder / "data").exists()
    for orphan in psutil.process_iter(["cmdline"]):
        if any(str(own_folder) in word for word in orphan.info["cmdline"] or []):
            orphan.kill()
    await server.start()
    assert list(own_folder.glob("data.init-*")) == []


async def test_a_server_that_cannot_be_seen_is_not_doubled(server: EmbeddedPostgres, own_folder: Path) -> None:
    """When something answers on the socket though no process of the server is to be seen, nothing is started."""
    await server.start()
    await server.stop()
    unseen = await asyncio.start_unix_server(lambda _, writer: writer.close(), own_folder / "run/.s.PGSQL.5432")
    async with unseen:
        with pytest.raises(EmbeddedNotStarted, match="cannot be seen"):
            await server.start()


async def test_a_cancelled_start_leaves_a_server_that_can_be_used(server: EmbeddedPostgres, own_folder: Path) -> None:
    """Cancelling a start neither breaks the data folder nor gives the lock away while work goes on."""
    starting = asyncio.ensure_future(server.start())
    await until(lambda: _begun(own_folder), "initdb has begun")
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert (own_folder / "data/PG_VERSION").exists()
    async with connected(await server.start()) as connection:
        assert await connection.fetchval("select current_database()") == "livewell"


async def test_a_moved_folder_is_served_at_its_new_place(server: EmbeddedPostgres, own_folder: Path) -> None:
    """A server whose folder was moved under it is stopped and started where it is now."""
    await server.start()
    moved = own_folder.rename(own_folder.with_name(f"{own_folder.name}-moved"))
    again = EmbeddedPostgres(moved, QUICK)
    async with connected(await again.start()) as connection:
        assert await connection.fetchval("show data_directory") == str(moved / "data")
    await again.stop()
    assert _processes_in(moved / "data") == []


def _processes_in(data: Path) -> list[int]:
    """The server processes that stand in this data folder."""
    return [
        process.pid
        for process in psutil.process_iter(["name", "cwd"])
        if process.info["name"] == "postgres" and process.info["cwd"] == str(data)
    ]


async def _gone(data: Path) -> bool:
    return not _processes_in(data)


async def _begun(folder: Path) -> bool:
    return any(folder.glob("data.init-*/base"))


JOIN = """
from pathlib import Path
from livewell.kernel.embedded import EmbeddedPostgres

started = []
sys.addaudithook(lambda event, _: started.append(event) if event == "subprocess.Popen" else None)

async def main():
    server = EmbeddedPostgres(Path(sys.argv[1]), {"fsync": "off"})
    url = await server.join()
    answer([url, (await server.status()).users, started])
    await server.release()

asyncio.run(main())
"""


async def test_a_running_server_is_joined_by_files_alone(server: EmbeddedPostgres, own_folder: Path) -> None:
    """Who joins is a user of the server and starts no program to find it; what does not run is not joined, nor made."""
    assert await server.join() is None
    assert server.folder_to_make() == own_folder
    assert not (own_folder / "data").exists()
    url = await server.start()
    assert server.folder_to_make() is None
    async with child(JOIN, own_folder) as another:
        assert await another.answer() == [url, 2, []]
        assert await another.ended() == 0
    assert (await server.status()).users == 1
    await server.stop()
    assert await server.join() is None
