"""What the embedded server is told of the program that starts it: nothing but what running needs."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
import pytest_asyncio

from livewell.kernel import EmbeddedPostgres
from livewell.testing import connected

SECRETS = {
    "ACME_API_KEY": "k-123456",
    "DATABASE_URL": "postgresql://me:secret@db/app",
    "AWS_SECRET_ACCESS_KEY": "aws",
    "LIVEWELL_TOKEN": "token",
    "PGPASSWORD": "secret",
    "PGOPTIONS": "-c log_statement=all",
    "LD_PRELOAD": "",
}
NEEDED = {"PATH", "HOME", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LC_ALL"}
OWN = {"PG_GRANDPARENT_PID", "PGDATA", "PGSYSCONFDIR", "PGLOCALEDIR", "PWD", "SHLVL", "_", "OLDPWD", "LC_MESSAGES"}
"""What pg_ctl and the shell it uses set themselves."""


@pytest_asyncio.fixture
async def server(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddedPostgres]:
    """A server started by a program whose environment is full of secrets."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    embedded = EmbeddedPostgres(own_folder, {"fsync": "off"})
    await embedded.start()
    yield embedded
    await embedded.stop(mode="immediate")


async def test_the_embedded_server_inherits_no_secret(server: EmbeddedPostgres) -> None:
    """The postmaster and its backends have the variables PostgreSQL needs, whatever its starter has."""
    pid = (await server.status()).pid
    assert pid is not None
    async with connected(server.url()) as connection:
        backend = await connection.fetchval("select pg_backend_pid()")
        for process in (pid, backend):
            seen = set(psutil.Process(process).environ())
            assert not seen & set(SECRETS)
            assert not {name for name in seen if name and name not in NEEDED | OWN}
        # As somebody in the database who may run programs sees it.
        await connection.execute("create temp table seen (line text)")
        await connection.execute("copy seen from program 'env'")
        lines = "\n".join([row["line"] for row in await connection.fetch("select line from seen")])
    assert not [name for name, value in SECRETS.items() if f"{name}={value}" in lines.splitlines()]
    assert os.environ["ACME_API_KEY"] == SECRETS["ACME_API_KEY"]
