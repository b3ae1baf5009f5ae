"""The servers tests run on: one shared by the whole test run, and ones of a test's own that it may hurt.

The shared server is the one at LIVEWELL_TEST_DATABASE_URL (a superuser's URL), or an embedded one in a throwaway
folder. That one and the pair of a standby run with fsync off: nothing in them is meant to outlive the run. Databases
are copies of a template that was migrated once, keyed by a checksum of all SQL files, so a test gets a database of its
own in milliseconds.
"""

import asyncio
import hashlib
import os
import secrets
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg

from livewell.kernel import EmbeddedPostgres, SqlFiles, migrate
from livewell.testing.addresses import Address
from livewell.testing.waiting import until

SERVICE_LOGIN = "livewell_test_service"

THROWAWAY_SETTINGS: Mapping[str, str] = {
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "128MB",
}

_LOCK = "select pg_advisory_lock(hashtext('livewell_testing'))"
_TEMPLATE_EXISTS = "select exists (select from pg_database where datname = $1)"
_SERVICE_EXISTS = "select exists (select from pg_roles where rolname = $1)"


@asynccontextmanager
async def connected(url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def ensure_service_login(url: str) -> str:
    """Give the server the login that tests come as, a member of livewell_service and nothing else; return its URL."""
    service_url = service_url_of(url)
    password = Address.of(service_url).password
    async with connected(url) as connection:
        if not await connection.fetchval(_SERVICE_EXISTS, SERVICE_LOGIN):
            await connection.execute(f"create role {SERVICE_LOGIN} login")
        await connection.execute(f"alter role {SERVICE_LOGIN} password '{password}'")
        await connection.execute(f"grant livewell_service to {SERVICE_LOGIN}")
    return service_url


def service_url_of(url: str) -> str:
    """The URL of the service login beside a superuser's; every process of a run derives the same password."""
    address = Address.of(url)
    password = hashlib.sha256(f"{address.host} {address.port} {address.password}".encode()).hexdigest()[:20]
    return replace(address, user=SERVICE_LOGIN, password=password).url


@dataclass(frozen=True, kw_only=True)
class SharedServer:
    """The server of a test run, on which every test has databases of its own."""

    superuser_url: str

    def owner_url(self, database: str) -> str:
        return replace(Address.of(self.superuser_url), database=database).url

    def service_url(self, database: str) -> str:
        return service_url_of(self.owner_url(database))

    async def template(self) -> str:
        """The migrated template of today's SQL files; made by whoever comes first, the others wait."""
        name = f"livewell_template_{_checksum()}"
        async with connected(self.superuser_url) as connection:
            await connection.execute(_LOCK)
            if not await connection.fetchval(_TEMPLATE_EXISTS, name):
                await self._make_template(connection, name)
            await ensure_service_login(self.superuser_url)
        return name

    async def _make_template(self, connection: "asyncpg.Connection[asyncpg.Record]", name: str) -> None:
        """Migrate under another name first: a template that carries its name is complete."""
        unfinished = f"{name}_unfinished"
        await connection.execute(f"drop database if exists {unfinished} with (force)")
        await connection.execute(f"create database {unfinished}")
        await migrate(self.owner_url(unfinished))
        await connection.execute(f"alter database {unfinished} rename to {name}")

    @asynccontextmanager
    async def database(self, template: str = "template0") -> AsyncIterator[str]:
        """A database of a test's own, by name; gone afterwards, whoever is still connected."""
        name = f"livewell_test_{secrets.token_hex(6)}"
        async with connected(self.superuser_url) as connection:
            await connection.execute(f"create database {name} template {template} strategy wal_log")
        try:
            yield name
        finally:
            async with connected(self.superuser_url) as connection:
                await connection.execute(f"drop database if exists {name} with (force)")


@dataclass(frozen=True, kw_only=True)
class OwnServer:
    """A durable embedded server that belongs to one test, migrated, which the test may stop and kill as it likes."""

    embedded: EmbeddedPostgres
    owner_url: str
    database_url: str

    @classmethod
    async def begin(
        cls, folder: Path, settings: Mapping[str, str] | None = None, *, like: Path | None = None
    ) -> "OwnServer":
        """Start a server in a new folder; as a copy of a stopped, migrated one when `like` names its folder."""
        embedded = EmbeddedPostgres(folder, settings)
        if like is not None:
            cluster = await embedded.prepared()
            await asyncio.to_thread(_copy, like / "data", cluster.place.data)
        owner_url = await embedded.start()
        if like is None:
            await migrate(owner_url)
        return cls(embedded=embedded, owner_url=owner_url, database_url=await ensure_service_login(owner_url))

    async def start(self) -> None:
        await self.embedded.start()

    async def stop(self) -> None:
        await self.embedded.stop()

    async def stop_at_once(self) -> None:
        """As a crash: backends are cut, and the next start recovers."""
        await self.embedded.stop(mode="immediate")

    async def kill(self) -> None:
        """Kill -9 of the postmaster, and wait until it is gone; its backends notice by themselves."""
        pid = (await self.embedded.status()).pid
        if pid is None:
            raise RuntimeError("the server does not run")
        os.kill(pid, signal.SIGKILL)
        await until(self._is_down, "the killed server is gone")

    async def _is_down(self) -> bool:
        return not (await self.embedded.status()).running


def _copy(folder: Path, target: Path) -> None:
    """With owners and modes, which shutil does not keep."""
    subprocess.run(["cp", "-a", folder, target], check=True)


def _checksum() -> str:
    files = SqlFiles.shipped()
    sums = [migration.checksum for migration in files.migrations] + [item.checksum for item in files.objects]
    return hashlib.sha256("".join(sums).encode()).hexdigest()[:16]
