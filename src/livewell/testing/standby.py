"""A primary and a real streaming standby of it, both of a test's own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from livewell.kernel import EmbeddedPostgres
from livewell.testing.addresses import Address
from livewell.testing.logins import connected
from livewell.testing.servers import OwnServer
from livewell.testing.waiting import until

_COPY_LIMIT = timedelta(seconds=60)


@dataclass(frozen=True, kw_only=True)
class Standby:
    """A migrated primary and its hot standby; `database_url` is the service's login, `owner_url` a superuser's."""

    primary: OwnServer
    embedded: EmbeddedPostgres
    owner_url: str
    database_url: str

    @classmethod
    async def begin(cls, folder: Path, settings: Mapping[str, str] | None = None) -> "Standby":
        primary = await OwnServer.begin(folder.with_name(f"{folder.name}-primary"), settings)
        embedded = EmbeddedPostgres(folder.with_name(f"{folder.name}-standby"), settings)
        await _copy(primary.owner_url, embedded)
        owner_url = await embedded.start()
        here = Address.of(owner_url)
        database_url = replace(Address.of(primary.database_url), host=here.host, port=here.port).url
        return cls(primary=primary, embedded=embedded, owner_url=owner_url, database_url=database_url)

    async def caught_up(self) -> None:
        """Wait until the standby shows everything the primary has written so far."""
        async with connected(self.primary.owner_url) as primary, connected(self.owner_url) as standby:
            # A synchronous commit of our own flushes the asynchronous ones before it.
            await primary.execute("set synchronous_commit = on; select pg_logical_emit_message(true, 'livewell', '')")
            written = await primary.fetchval("select pg_current_wal_lsn()::text")

            async def has_replayed() -> bool:
                statement = "select coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false)"
                return bool(await standby.fetchval(statement, written))

            await until(has_replayed, f"the standby has replayed {written}")

    async def promote(self) -> None:
        """Make the standby a primary; returns when it accepts writes."""
        async with connected(self.owner_url) as standby:
            await standby.execute("select pg_promote(true, 60)")

    async def end(self) -> None:
        await self.embedded.stop(mode="immediate")
        await self.primary.embedded.stop(mode="immediate")


async def _copy(primary_url: str, standby: EmbeddedPostgres) -> None:
    """Fill the standby's data folder with a base backup that says where to stream from."""
    cluster = await standby.prepared()
    cluster.place.data.mkdir(mode=0o700)
    cluster.account.own(cluster.place.data)
    source = Address.of(primary_url)
    conninfo = f"host={source.host} port={source.port} user={source.user}"
    command: list[str | Path] = [cluster.binaries / "pg_basebackup", "-D", cluster.place.data, "-d", conninfo]
    answer = cluster.account.run(
        [*command, "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync"], limit=_COPY_LIMIT
    )
    if answer.returncode != 0:
        raise RuntimeError(f"pg_basebackup failed: {answer.stdout}")
