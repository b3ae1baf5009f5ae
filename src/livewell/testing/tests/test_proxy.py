"""The proxy: each bad network it makes is the one it says."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import TypeAlias

import asyncpg
import pytest
import pytest_asyncio

from livewell.kernel import Database
from livewell.testing import OwnServer, TcpProxy, Way, connected, until

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

LOST = (OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError)


@pytest_asyncio.fixture
async def client(tcp_proxy: TcpProxy, owner_url: str) -> AsyncIterator[Connection]:
    """A connection through the proxy, with a table to write to."""
    connection = await asyncpg.connect(tcp_proxy.through(owner_url))
    await connection.execute("create table note (id int primary key)")
    yield connection
    connection.terminate()


async def test_forwards_what_it_is_given(client: Connection) -> None:
    """A large value goes there and back unchanged."""
    large = "x" * 3_000_000
    assert await client.fetchval("select $1::text", large) == large


async def test_leads_to_a_tcp_address_too(tcp_proxy: TcpProxy, owner_url: str) -> None:
    """A proxy before a TCP address works like one before a socket: here, before another proxy."""
    async with (
        TcpProxy.before(tcp_proxy.through(owner_url)) as outer,
        connected(outer.through(owner_url)) as connection,
    ):
        assert await connection.fetchval("select 1") == 1
        assert (outer.connections, tcp_proxy.connections) == (1, 1)


async def test_cut_after_commit_leaves_a_committed_row(
    tcp_proxy: TcpProxy, client: Connection, owner: Database
) -> None:
    """The server commits, the client is cut before it learns so."""
    await client.execute("begin")
    await client.execute("insert into note values (1)")
    sprung = tcp_proxy.cut_after(r"^commit")
    with pytest.raises(LOST):
        await client.execute("commit")
    assert sprung.is_set()
    assert await owner.fetchval("select count(*) from note") == 1


async def test_cut_before_commit_leaves_no_row(tcp_proxy: TcpProxy, client: Connection, owner: Database) -> None:
    """The server never sees the commit and rolls back when the connection is cut."""
    await client.execute("begin")
    await client.execute("insert into note values (1)")
    tcp_proxy.cut_before(r"^commit")
    with pytest.raises(LOST):
        await client.execute("commit")
    await until(lambda: _nobody_in_transaction(owner), "the transaction of the cut connection is over")
    assert await owner.fetchval("select count(*) from note") == 0


async def test_cut_after_finds_prepared_statements_by_their_text(
    tcp_proxy: TcpProxy, client: Connection, owner: Database
) -> None:
    """A statement that was prepared before the trap was set still springs it."""
    insert = await client.prepare("insert into note values ($1)")
    await insert.fetch(1)
    tcp_proxy.cut_after("insert into note")
    with pytest.raises(LOST):
        await insert.fetch(2)
    assert await owner.fetchval("select count(*) from note") == 2


async def test_cut_after_waits_for_the_answer(tcp_proxy: TcpProxy, client: Connection, owner: Database) -> None:
    """When the client is cut, the server has already done a statement that takes it a while."""
    tcp_proxy.cut_after("insert into note")
    with pytest.raises(LOST):
        await client.execute("insert into note select 1 from pg_sleep(0.3)")
    assert await owner.fetchval("select count(*) from note") == 1


async def test_a_trap_springs_once(tcp_proxy: TcpProxy, client: Connection, owner_url: str) -> None:
    """After a cut the next connection goes through."""
    tcp_proxy.cut_after("select 1")
    with pytest.raises(LOST):
        await client.fetchval("select 1")
    async with connected(tcp_proxy.through(owner_url)) as again:
        assert await again.fetchval("select 1") == 1


async def test_delays_both_ways(tcp_proxy: TcpProxy, client: Connection) -> None:
    """A round trip takes at least twice the delay of one way."""
    tcp_proxy.delay(timedelta(milliseconds=60), jitter=timedelta(milliseconds=10))
    before = time.monotonic()
    await client.execute("select 1")
    assert time.monotonic() - before >= 0.1


async def test_a_black_hole_to_the_server_hides_calls_from_it(
    tcp_proxy: TcpProxy, client: Connection, owner: Database
) -> None:
    """What goes to the server is held back, and arrives when the network heals."""
    tcp_proxy.black_hole(Way.TO_SERVER)
    writing = asyncio.ensure_future(client.execute("insert into note values (1)"))
    await _stays_silent(writing)
    assert await owner.fetchval("select count(*) from note") == 0
    tcp_proxy.heal()
    await asyncio.wait_for(writing, 5)
    assert await owner.fetchval("select count(*) from note") == 1


async def test_a_black_hole_to_the_client_hides_answers_only(
    tcp_proxy: TcpProxy, client: Connection, owner: Database
) -> None:
    """The server carries out what the client never hears of, until the network heals."""
    tcp_proxy.black_hole(Way.TO_CLIENT)
    writing = asyncio.ensure_future(client.execute("insert into note values (1)"))

    async def written() -> bool:
        return bool(await owner.fetchval("select count(*) from note"))

    await until(written, "the server has the row")
    await _stays_silent(writing)
    tcp_proxy.heal()
    await asyncio.wait_for(writing, 5)


async def test_cut_ends_every_connection(tcp_proxy: TcpProxy, client: Connection) -> None:
    """A cut is noticed by the client at once."""
    tcp_proxy.cut()
    with pytest.raises(LOST):
        await client.execute("select 1")


async def test_leads_new_connections_elsewhere(tcp_proxy: TcpProxy, own_server: OwnServer) -> None:
    """After a move, the same address is another server."""
    tcp_proxy.lead_to(own_server.owner_url)
    async with connected(tcp_proxy.through(own_server.owner_url)) as connection:
        folder = await connection.fetchval("show data_directory")
    assert str((await own_server.embedded.status()).folder) in folder


async def test_refuses_like_a_dead_server_when_there_is_none(tcp_proxy: TcpProxy, own_server: OwnServer) -> None:
    """With no server behind it, a connection is cut, not kept waiting."""
    tcp_proxy.lead_to(own_server.owner_url)
    await own_server.stop_at_once()
    with pytest.raises(LOST):
        await asyncpg.connect(tcp_proxy.through(own_server.owner_url), timeout=5)


async def _nobody_in_transaction(owner: Database) -> bool:
    statement = "select not exists (select from pg_stat_activity where state like 'idle in%' and datname = $1)"
    return bool(await owner.fetchval(statement, await owner.fetchval("select current_database()")))


async def _stays_silent(call: "asyncio.Future[str]") -> None:
    """A call through a black hole is still waiting after any undisturbed call would long have been answered."""
    done, _ = await asyncio.wait([call], timeout=0.3)
    assert not done
