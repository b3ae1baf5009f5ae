"""F25, F26: gateways that are killed, and databases that go away, come back, or come back older than they were."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from livewell.kernel import Database, DatabaseOptions
from livewell.testing import OwnServer, Viewer, make_type, put, until, viewing
from tests.acceptance.command import Cli, Running
from tests.faults.size import SHORT, Size

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

AAPL = ("quote", "AAPL")
VIEWERS = "select coalesce(sum(viewers), 0) from livewell_private.item"


@asynccontextmanager
async def gateway(cli: Cli) -> AsyncIterator[tuple[Running, str]]:
    """A process that serves, and its address."""
    async with cli.running("up", "--no-apply", "--only", "api") as process:
        address = (await process.event("api_served"))["address"]
        await process.event("live_started")
        yield process, address


@asynccontextmanager
async def owner_of(server: OwnServer) -> AsyncIterator[Database]:
    async with await Database.open(DatabaseOptions(url=server.owner_url)) as owner:
        yield owner


def cli_of(server: OwnServer, folder: Path) -> Cli:
    return Cli(folder, server.database_url, LIVEWELL_READER_URL=server.embedded.reader_url())


async def test_f25_clients_of_a_killed_gateway_resume_elsewhere(
    tmp_path: Path, database_url: str, reader_url: str, owner: Database, size: Size
) -> None:
    """F25: killed by -9, its clients come back at another with session and versions: all have the newest, each once."""
    cli = Cli(tmp_path, database_url, LIVEWELL_READER_URL=reader_url)
    people = 40 if size is SHORT else 200
    await make_type(owner, "quote", read_rule="public")
    await put(owner, "AAPL", {"price": 1})
    async with gateway(cli) as (first, here), gateway(cli) as (_, there), AsyncExitStack() as stack:
        viewers = [await stack.enter_async_context(viewing(here)) for _ in range(people)]
        versions = []
        for viewer in viewers:
            await viewer.hello(AAPL)
            versions.append((await viewer.next("row"))["version"])
        assert await owner.fetchval(VIEWERS) == people
        name = await owner.fetchval("select distinct gateway from livewell_private.session")
        first.inner.kill()
        await put(owner, "AAPL", {"price": 2})
        known = zip(viewers, versions, strict=True)
        await asyncio.gather(*(_comes_back(stack, there, viewer, version) for viewer, version in known))
        # The killed one is swept away when its time is over, and with it nothing that has gone elsewhere.
        await owner.execute(
            "update livewell_private.gateway set last_seen = last_seen - gone_after where name = $1", name
        )
        await owner.execute("select livewell_private.task_presence_sweep(clock_timestamp())")
        assert await owner.fetchval("select count(*) from livewell_private.session") == people
        assert await owner.fetchval(VIEWERS) == people


async def _comes_back(stack: AsyncExitStack, address: str, before: Viewer, version: str) -> None:
    viewer = await stack.enter_async_context(viewing(address))
    await viewer.hello(session=before.session, items=[{"type": "quote", "key": "AAPL", "version": version}])
    assert viewer.session == before.session
    assert (await viewer.next("row"))["value"] == {"price": 2}


async def test_a_restart_of_the_database_is_outlasted(own_server: OwnServer, tmp_path: Path) -> None:
    """While PostgreSQL restarts clients keep their connections, and then have what it has; viewers are exact."""
    async with gateway(cli_of(own_server, tmp_path)) as (_, address):
        async with owner_of(own_server) as owner:
            await make_type(owner, "quote", read_rule="public")
            await put(owner, "AAPL", {"price": 1})
        async with viewing(address) as viewer:
            await viewer.hello(AAPL)
            await viewer.value("AAPL", lambda value: value == {"price": 1})
            await own_server.stop_at_once()
            await own_server.start()
            async with owner_of(own_server) as owner:
                await put(owner, "AAPL", {"price": 2})
                await viewer.value("AAPL", lambda value: value == {"price": 2})
                assert await owner.fetchval(VIEWERS) == 1


async def _copy(folder: Path, to: Path) -> None:
    """All of it, with whose it is."""
    process = await asyncio.create_subprocess_exec("cp", "--archive", str(folder), str(to))
    assert await process.wait() == 0


async def test_f26_a_backup_that_is_put_back_is_what_clients_see(own_server: OwnServer, tmp_path: Path) -> None:
    """F26: a copy of the database of a while ago put in its place: every client ends with what is in that."""
    copy = tmp_path / "copy"
    async with gateway(cli_of(own_server, tmp_path)) as (_, address):
        async with owner_of(own_server) as owner:
            await make_type(owner, "quote", read_rule="public")
            await put(owner, "AAPL", {"price": 1})
            data = Path(await owner.fetchval("show data_directory"))
        await own_server.stop_at_once()
        await _copy(data, copy)
        await own_server.start()
        async with owner_of(own_server) as owner:
            await put(owner, "AAPL", {"price": 2})
        async with viewing(address) as viewer:
            await viewer.hello(AAPL)
            await viewer.value("AAPL", lambda value: value == {"price": 2})
            await own_server.stop_at_once()
            shutil.rmtree(data)
            await _copy(copy, data)
            await own_server.start()
            await viewer.value("AAPL", lambda value: value == {"price": 1})
            async with owner_of(own_server) as owner:

                async def looks() -> bool:
                    return bool(await owner.fetchval(VIEWERS) == 1)

                await until(looks, "it is a viewer in the database that was put back")
                await put(owner, "AAPL", {"price": 3})
                await viewer.value("AAPL", lambda value: value == {"price": 3})
