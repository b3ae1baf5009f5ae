"""The servers tests run on: one shared by the whole test run, and ones of a test's own that it may hurt.

The shared server is the one at LIVEWELL_TEST_DATABASE_URL (a superuser's URL), or an embedded one in a throwaway
folder. That one and the pair of a standby run with fsync off: nothing in them is meant to outlive the run. Databases
are copies of a template that was migrated once, keyed by a checksum of all SQL files, so a test gets a database of its
own in milliseconds.
"""

import os
import secrets
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import asyncpg

from livewell.kernel import EmbeddedPostgres, migrate
from livewell.testing.addresses import Address
from livewell.testing.logins import connected, ensure_service_login, reader_url_of, service_url_of
from livewell.testing.prepared import begin_as_copy, template_name
from livewell.testing.waiting import until

_LOCK = "select pg_advisory_lock(hashtext('livewell_testing'))"
_TEMPLATE_EXISTS = "select exists (select from pg_database where datname = $1)"


@dataclass(frozen=True, kw_only=True)
class SharedServer:
    """The server of a test run, on which every test has databases of its own."""

    superuser_url: str

    def owner_url(self, database: str) -> str:
        return replace(Address.of(self.superuser_url), database=database).url

    def service_url(self, database: str) -> str:
        return service_url_of(self.owner_url(database))

    def reader_url(self, database: str) -> str:
        return reader_url_of(self.owner_url(database))

    async def template(self) -> str:
        """The migrated template of today's SQL files; made by whoever comes first, the others wait."""
        name = template_name()
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
            await connection.execute(f"create database {name} template {template} strategy file_copy")
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
        cls, folder: Path, settings: Mapping[str, str] | None = None, *, listen_port: int | None = None
    ) -> "OwnServer":
        """Start a migrated server in a new folder; on a port, where a password is asked, if one is named."""
        embedded = EmbeddedPostgres(folder, settings, listen_port=listen_port)
        await begin_as_copy(embedded)
        owner_url = await embedded.start()
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
