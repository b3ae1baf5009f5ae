"""A throwaway PostgreSQL from the system's packages, which, unlike the embedded one, can have extensions."""

import asyncio
import os
import pwd
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from livewell.testing import lack


def programs(extension: str) -> Path:
    """The folder of the newest installed server that the extension was installed for."""
    found = sorted(Path("/usr/share/postgresql").glob(f"*/extension/{extension}.control"))
    if not found:
        lack(f"no installed PostgreSQL has {extension}")
    return Path("/usr/lib/postgresql", found[-1].parts[-3], "bin")


@asynccontextmanager
async def checking_server(
    folder: Path, extension: str = "plpgsql_check", settings: Mapping[str, str] | None = None
) -> AsyncIterator[str]:
    """Its superuser's URL; started in the folder as a user that may run it, and stopped afterwards."""
    bin_folder = programs(extension)
    folder.mkdir(mode=0o700)
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
    options += "".join(f" -c {name}={value}" for name, value in (settings or {}).items())
    await _run(bin_folder / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
    await _run(bin_folder / "pg_ctl", "-D", folder / "data", "-l", folder / "log", "-o", options, "-w", "start")
    try:
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        await _run(bin_folder / "pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "stop")


async def _run(*command: str | Path) -> None:
    """Run one of the server's programs; a server refuses to run as root."""
    drop = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    process = await asyncio.create_subprocess_exec(
        *drop, *command, cwd="/", stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    _, complaint = await process.communicate()
    assert process.returncode == 0, f"{command[0]}: {complaint.decode()}"
