"""A stranger fills the server's notification queue: no commit of ours fails for it, and it is named."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from livewell import Livewell
from livewell.fetching.tests.storing_surface import Storing, make_quotes
from livewell.kernel import Database, DatabaseOptions, list_warnings
from livewell.testing import Address, OwnServer, connected
from tests.contracts.guards import take_away

# 64 pages are few; without the setting of PostgreSQL 17 it takes 8 GB.
PAGES = 64
_NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
_QUIET = "select quiet from livewell_private.notification_state"
_QUIET_TO_SERVICES = "select livewell.notices_are_quiet()"
_ENQUEUE = """select livewell.enqueue_job('plain', '{"n": 1}')"""
_FULL = "too many notifications in the NOTIFY queue"


@pytest_asyncio.fixture
async def server(own_folder: Path) -> AsyncIterator[OwnServer]:
    """A server of this test's own with a small notification queue, and a stranger's login that has no right at all."""
    server = await OwnServer.begin(own_folder, {"max_notify_queue_pages": str(PAGES), "fsync": "off"})
    async with connected(server.owner_url) as superuser:
        await superuser.execute("create role stranger login")
    yield server
    await server.embedded.stop(mode="immediate")


@pytest_asyncio.fixture
async def owner(server: OwnServer) -> AsyncIterator[Database]:
    async with await Database.open(DatabaseOptions(url=server.owner_url)) as opened:
        await opened.execute("""select livewell.declare_kinds('[{"kind": "plain"}]')""")
        # An idle worker: a job that is queued is told.
        await opened.execute(
            "insert into livewell_private.worker (id, queue_groups, kinds, slots, idle, started_at, last_seen)"
            " values ('w1', '{general}', '{plain}', 1, true, now(), now())"
        )
        yield opened


@asynccontextmanager
async def stranger(server: OwnServer) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    address = Address.of(server.owner_url)
    connection = await asyncpg.connect(host=address.host, port=address.port, database=address.database, user="stranger")
    try:
        yield connection
    finally:
        await connection.close()


async def hold(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Listen, and stay idle in a transaction: what is notified from now on cannot be forgotten."""
    await connection.execute("listen somewhere")
    await connection.execute("begin")
    await connection.execute("select 1")


async def fill(connection: "asyncpg.Connection[asyncpg.Record]", pages: int) -> None:
    """Fill so many pages more, a notice each."""
    for number in range(pages):
        await connection.execute("select pg_notify('full', rpad($1, 7900, '.'))", str(number))


async def _care(owner: Database) -> int:
    """One run of the task, as the scheduler's, and how full the queue was."""
    return int(await owner.fetchval("select livewell_private.task_notification_queue($1) ->> 'used_percent'", _NOW))


async def _enqueue(owner: Database) -> None:
    """A job for an idle worker, in a transaction of its own."""
    await owner.execute(_ENQUEUE)


async def test_no_commit_fails_because_the_queue_is_full(server: OwnServer, owner: Database) -> None:
    """Above a quarter nothing is notified, so that a full queue fails nobody; without its holder it heals by itself."""
    async with stranger(server) as holder, stranger(server) as filler:
        await hold(holder)
        assert await _care(owner) < 10
        await fill(filler, PAGES // 3)
        assert 25 < await _care(owner) < 50
        assert await owner.fetchval(_QUIET)
        with pytest.raises(asyncpg.PostgresError, match=_FULL):
            await fill(filler, PAGES)
        await _enqueue(owner)
        await owner.execute("select livewell.set_setting('worker.claim_batch', '40')")
        assert await _care(owner) > 90
        await _the_guard_is_needed(owner)
    assert await _care(owner) == 0
    assert not await owner.fetchval(_QUIET)
    await _is_told(owner)


async def test_no_store_fails_because_the_queue_is_full(server: OwnServer, owner: Database) -> None:
    """What is watched is stored, put and said to be changed while nothing can be told; a service sees that it is so."""
    await make_quotes(owner)
    storing = Storing(owner)
    await storing.watch("quote", "AAPL")
    put = "select outcome from livewell.put('quote', '{\"AAPL\": {\"price\": 2}}')"
    changed = "select outcome from livewell.changed('quote', '{AAPL}')"
    async with stranger(server) as holder, stranger(server) as filler:
        await hold(holder)
        await fill(filler, PAGES // 3)
        await _care(owner)
        async with await Database.open(DatabaseOptions(url=server.database_url)) as service:
            assert await service.fetchval(_QUIET_TO_SERVICES)
        with pytest.raises(asyncpg.PostgresError, match=_FULL):
            await fill(filler, PAGES)
        assert await storing.fetch("quote", {"AAPL": {"price": 1}}) == {"AAPL": ("completed", "fetched", None)}
        assert (await owner.fetchval(put), await owner.fetchval(changed)) == ("fetched", "changed")
        await take_away(owner, "notify", "where not s.quiet", "where true")
        for call in (put.replace("2}", "3}"), changed):
            with pytest.raises(asyncpg.PostgresError, match=_FULL):
                await owner.fetchval(call)
        await take_away(owner, "notify", "where true", "where not s.quiet")
    await _care(owner)
    assert not await owner.fetchval(_QUIET_TO_SERVICES)
    heard = asyncio.Event()
    async with owner.connection() as ear:
        await ear.add_listener("livewell_changes", lambda *_: heard.set())
        await owner.fetchval(changed)
        async with asyncio.timeout(10):
            await heard.wait()


async def _the_guard_is_needed(owner: Database) -> None:
    """Who notifies all the same fails at its commit, where nothing can catch it."""
    for function, guard, instead, call in (
        ("notify", "where not s.quiet", "where true", "select livewell.set_setting('worker.claim_batch', '41')"),
        ("enqueue_job", "and not (select n.quiet", "and true or (select n.quiet", _ENQUEUE),
    ):
        await take_away(owner, function, guard, instead)
        with pytest.raises(asyncpg.PostgresError, match=_FULL):
            await owner.execute(call)
        await take_away(owner, function, instead, guard)


async def _is_told(owner: Database) -> None:
    heard = asyncio.Event()
    async with owner.connection() as ear:
        await ear.add_listener("livewell_jobs", lambda *_: heard.set())
        await _enqueue(owner)
        async with asyncio.timeout(10):
            await heard.wait()


async def test_who_holds_the_queue_is_named(server: OwnServer, owner: Database) -> None:
    """Above a tenth a warning says how full it is and whose transaction is open, with its process; below, nothing."""
    async with stranger(server) as holder, stranger(server) as filler:
        await hold(holder)
        await fill(filler, PAGES // 20)
        await _care(owner)
        assert await list_warnings(owner, since=_NOW, code="kernel") == []
        await fill(filler, PAGES // 10)
        await _care(owner)
        (warned,) = await list_warnings(owner, since=_NOW, code="kernel.notifications_pile_up")
        pid = await holder.fetchval("select pg_backend_pid()")
        assert f"process {pid} of stranger on " in warned.message
        assert not await owner.fetchval(_QUIET)


async def test_a_full_queue_is_freed_without_a_notice_of_ours(server: OwnServer, owner: Database) -> None:
    """A queue stays full after its holder has left, until somebody asks how full it is: the task does."""
    async with stranger(server) as filler:
        async with stranger(server) as holder:
            await hold(holder)
            with pytest.raises(asyncpg.PostgresError, match=_FULL):
                await fill(filler, 2 * PAGES)
        assert await _care(owner) == 0
        await fill(filler, 1)
        await _enqueue(owner)


async def test_the_runs_of_tasks_notify_nobody(server: OwnServer, owner: Database) -> None:
    """Taking, running and finishing a task needs no notice: the care of a full queue runs while it is full."""
    async with stranger(server) as holder, stranger(server) as filler:
        await hold(holder)
        with pytest.raises(asyncpg.PostgresError, match=_FULL):
            await fill(filler, 2 * PAGES)
        assert not await owner.fetchval(_QUIET)
        await owner.execute("update livewell_private.task set due_at = now() where name = 'notification_queue'")
        async with Livewell(server.database_url) as app:
            await app.run_task("notification_queue", force=True)
        assert await owner.fetchval(_QUIET)
