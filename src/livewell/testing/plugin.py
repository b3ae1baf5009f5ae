"""The pytest plugin: a migrated database of its own for every test, and servers that may be hurt.

Load it with `pytest_plugins = ["livewell.testing.plugin"]`. All workers of a run share one server.
"""

import os
import secrets
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from livewell.kernel import Database, DatabaseOptions, EmbeddedPostgres
from livewell.testing.patroni import PatroniCluster, patroni_cluster
from livewell.testing.pgbouncer import PgBouncer, pgbouncer_before
from livewell.testing.prepared import THROWAWAY_SETTINGS, begin_as_copy
from livewell.testing.proxy import TcpProxy
from livewell.testing.requirements import REQUIRE_ALL, everything_is_required
from livewell.testing.servers import OwnServer, SharedServer
from livewell.testing.standby import Standby
from livewell.testing.throwaway import make_folder, remove_folder, run_apart, sweep

DATABASE_URL = "LIVEWELL_TEST_DATABASE_URL"
_WORKER_INPUT = "livewell_folder"

_folder = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of this run, or in a worker take the one its controller made."""
    given = getattr(config, "workerinput", {}).get(_WORKER_INPUT)
    if given is None:
        run_apart(sweep())
    config.stash[_folder] = Path(given) if given else make_folder()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput[_WORKER_INPUT] = str(node.config.stash[_folder])


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and _folder in config.stash:
        run_apart(remove_folder(config.stash[_folder]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """Where everything is required, a skipped test is a failed one."""
    report = yield
    return _without_skip(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    """As for tests: a module may not skip itself where everything is required."""
    report = yield
    return _without_skip(report)


def _without_skip(report: Any) -> Any:
    if everything_is_required() and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{reason} (with {REQUIRE_ALL}=1 nothing may be skipped)"
    return report


@pytest.fixture(scope="session")
def throwaway_folder(pytestconfig: pytest.Config) -> Path:
    """A folder that the server's user can enter; removed after the run with the servers in it."""
    return pytestconfig.stash[_folder]


@pytest.fixture(scope="session")
def shared_server(throwaway_folder: Path) -> Iterator[SharedServer]:
    """The server all tests of a run share."""
    if url := os.environ.get(DATABASE_URL):
        yield SharedServer(superuser_url=url)
        return
    embedded = EmbeddedPostgres(throwaway_folder / "shared", THROWAWAY_SETTINGS)
    yield SharedServer(superuser_url=run_apart(_started(embedded)))
    run_apart(embedded.release())


async def _started(embedded: EmbeddedPostgres) -> str:
    await begin_as_copy(embedded)
    return await embedded.start()


@pytest.fixture(scope="session")
def template(shared_server: SharedServer) -> str:
    """The name of the migrated template database."""
    return run_apart(shared_server.template())


@pytest_asyncio.fixture
async def database_name(shared_server: SharedServer, template: str) -> AsyncIterator[str]:
    async with shared_server.database(template) as name:
        yield name


@pytest.fixture
def owner_url(shared_server: SharedServer, database_name: str) -> str:
    """A superuser's URL of this test's database."""
    return shared_server.owner_url(database_name)


@pytest.fixture
def database_url(shared_server: SharedServer, database_name: str) -> str:
    """The URL of this test's database for a login that is only a member of livewell_service."""
    return shared_server.service_url(database_name)


@pytest.fixture
def reader_url(shared_server: SharedServer, database_name: str) -> str:
    """The URL of this test's database for a login that reads for viewers and inherits nothing."""
    return shared_server.reader_url(database_name)


@pytest_asyncio.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """The test's own database, as the service sees it."""
    async with await Database.open(DatabaseOptions(url=database_url)) as opened:
        yield opened


@pytest_asyncio.fixture
async def owner(owner_url: str) -> AsyncIterator[Database]:
    """The test's own database, as a superuser, to set up and to inspect."""
    async with await Database.open(DatabaseOptions(url=owner_url)) as opened:
        yield opened


@pytest_asyncio.fixture
async def empty_owner_url(shared_server: SharedServer) -> AsyncIterator[str]:
    """A superuser's URL of a new database without Livewell."""
    async with shared_server.database() as name:
        yield shared_server.owner_url(name)


@pytest.fixture
def own_folder(throwaway_folder: Path) -> Path:
    """The name of a folder of this test's own, not yet made, that the server's user can enter."""
    return throwaway_folder / secrets.token_hex(4)


@pytest_asyncio.fixture
async def own_server(own_folder: Path) -> AsyncIterator[OwnServer]:
    """A durable, migrated server of this test's own, which it may stop and kill."""
    server = await OwnServer.begin(own_folder)
    yield server
    await server.embedded.stop(mode="immediate")


@pytest.fixture(scope="session")
def shared_standby(throwaway_folder: Path) -> Iterator[Standby]:
    """A primary and a streaming standby of it, for all tests of this process that leave both as they are."""
    pair = run_apart(Standby.begin(throwaway_folder / f"shared-{os.getpid()}", THROWAWAY_SETTINGS))
    yield pair
    run_apart(pair.end())


@pytest_asyncio.fixture
async def standby(own_folder: Path) -> AsyncIterator[Standby]:
    """A primary and a streaming standby of it, of this test's own, which it may promote and change."""
    pair = await Standby.begin(own_folder, THROWAWAY_SETTINGS)
    yield pair
    await pair.end()


@pytest_asyncio.fixture
async def pgbouncer(database_url: str, own_folder: Path) -> AsyncIterator[PgBouncer]:
    """PgBouncer in transaction mode before this test's database."""
    async with pgbouncer_before(database_url, own_folder) as pooler:
        yield pooler


@pytest_asyncio.fixture
async def tcp_proxy(shared_server: SharedServer) -> AsyncIterator[TcpProxy]:
    """A proxy before the shared server; `tcp_proxy.through(url)` leads any of its URLs through it."""
    async with TcpProxy.before(shared_server.superuser_url) as proxy:
        yield proxy


@pytest_asyncio.fixture
async def failover_cluster(own_folder: Path) -> AsyncIterator[PatroniCluster]:
    """A migrated primary and its synchronous standby under Patroni and etcd, of this test's own."""
    async with patroni_cluster(own_folder) as cluster:
        yield cluster
