"""A folder of SQL files to migrate by, and a server on which Livewell never was."""

import secrets
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import pytest
import pytest_asyncio

from livewell.kernel import EmbeddedPostgres, SqlFiles
from livewell.kernel.migration_files import PRIVATE_SCHEMA, SCHEMA
from livewell.testing import Address, connected


@dataclass(frozen=True)
class SqlFolder:
    """SQL files of a test's own, beginning with the kernel's first migration."""

    path: Path

    @classmethod
    def begin(cls, path: Path) -> "SqlFolder":
        folder = cls(path)
        kernel = resources.files("livewell.kernel").joinpath("sql/migrations")
        folder.migration(1, "kernel_tables", kernel.joinpath("0001_kernel_tables.sql").read_text(encoding="utf-8"))
        return folder

    def migration(self, number: int, name: str, text: str) -> None:
        self._write("migrations", f"{number:04}_{name}", text)

    def function(self, name: str, text: str, *, audience: str = "service") -> None:
        """The text begins after `create or replace function <schema>.<name>`."""
        schema = PRIVATE_SCHEMA if audience.startswith("internal") else SCHEMA
        head = f"-- A function of a test.\n-- for: {audience}\ncreate or replace function {schema}.{name}"
        self._write("functions", name, head + text)

    def view(self, name: str, query: str, *, audience: str = "service") -> None:
        head = f"-- A view of a test.\n-- for: {audience}\ncreate or replace view livewell.{name} as "
        self._write("views", name, head + query)

    def trigger(self, name: str, text: str) -> None:
        self._write("triggers", name, f"-- A trigger of a test.\ncreate or replace trigger {name} {text}")

    def remove(self, place: str) -> None:
        (self.path / f"{place}.sql").unlink()

    @property
    def files(self) -> SqlFiles:
        return SqlFiles.below(self.path)

    def _write(self, folder: str, name: str, text: str) -> None:
        (self.path / folder).mkdir(parents=True, exist_ok=True)
        (self.path / folder / f"{name}.sql").write_text(text, encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class BlankServer:
    """A server without Livewell's roles; whoever reaches its socket may come as anyone."""

    superuser_url: str

    async def run(self, statement: str, *, database: str = "postgres") -> None:
        async with connected(self.url(database)) as connection:
            await connection.execute(statement)

    def url(self, database: str, user: str | None = None) -> str:
        address = Address.of(self.superuser_url)
        return replace(address, database=database, user=user or address.user, password=None).url


@pytest.fixture
def sql_folder(tmp_path: Path) -> SqlFolder:
    """SQL files of this test's own."""
    return SqlFolder.begin(tmp_path / "sql")


@pytest_asyncio.fixture
async def blank_server(throwaway_folder: Path) -> AsyncIterator[BlankServer]:
    """A server of this test's own on which Livewell never was."""
    folder = throwaway_folder / f"blank-{secrets.token_hex(4)}"
    embedded = EmbeddedPostgres(folder, {"fsync": "off", "synchronous_commit": "off"})
    yield BlankServer(superuser_url=await embedded.start())
    await embedded.stop(mode="immediate")
    shutil.rmtree(folder, ignore_errors=True)
