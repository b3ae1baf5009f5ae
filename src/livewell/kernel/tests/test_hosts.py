"""A URL of several servers: the one that takes writes is found, whoever is gone, silent or behind."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

import pytest

from livewell.kernel import Caller, Connection, Database, DatabaseOptions, DatabaseUnavailable, Listener, NotPrimary
from livewell.kernel.hosts import Host, hosts_of
from livewell.testing import Address, Standby, TcpProxy, connected, until

_IN_RECOVERY = "select pg_is_in_recovery()"


def _url_of(*urls: str, login: str | None = None) -> str:
    """One URL of all these servers, with the login of the first if no other is given."""
    servers, whose = [Address.of(url) for url in urls], Address.of(login or urls[0])
    hosts, ports = ",".join(server.host for server in servers), ",".join(str(server.port) for server in servers)
    password = f":{whose.password}" if whose.password else ""
    return f"postgresql://{whose.user}{password}@/{whose.database}?host={hosts}&port={ports}"


@contextmanager
def _silence() -> Iterator[str]:
    """The URL of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"postgresql://nobody@127.0.0.1:{listener.getsockname()[1]}/x"


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("postgresql://ann:pw@one:1,two:2/x", [("one", 1), ("two", 2)]),
        ("postgresql://one,two:2/x", [("one", 5432), ("two", 2)]),
        ("postgresql://one,two/x?port=7", [("one", 7), ("two", 7)]),
        ("postgresql://[::1]:1,[fe80::2]/x", [("::1", 1), ("fe80::2", 5432)]),
        ("postgresql://ann@/x?host=/run/a,/run/b&port=1,2", [("/run/a", 1), ("/run/b", 2)]),
        ("postgresql://%2Frun%2Fa,two/x", [("/run/a", 5432), ("two", 5432)]),
        ("postgresql:///x", []),
    ],
)
def test_servers_are_read_from_the_url(url: str, hosts: list[tuple[str, int]]) -> None:
    """Names, addresses and sockets, each with its port or one for all, before the path or as options."""
    assert hosts_of(url) == [Host(name=name, port=port) for name, port in hosts]


def test_ports_that_belong_to_nobody_are_refused() -> None:
    """As many ports as servers, or one: anything else is told, and nobody is asked."""
    with pytest.raises(DatabaseUnavailable, match="3 servers and 2 ports"):
        hosts_of("postgresql://one,two,three/x?port=1,2")


@pytest.mark.xdist_group("standby")
async def test_a_standby_is_passed_over(shared_standby: Standby) -> None:
    """Whatever their order, the connection leads to the primary; a URL that asks for a standby gets one."""
    primary, standby = shared_standby.primary.owner_url, shared_standby.owner_url
    for url in (_url_of(standby, primary), _url_of(primary, standby)):
        async with await Database.open(DatabaseOptions(url=url)) as database:
            assert not await database.fetchval(_IN_RECOVERY)
    for kind in ("standby", "prefer-standby"):
        asking = f"{_url_of(primary, standby)}&target_session_attrs={kind}"
        async with await Database.open(DatabaseOptions(url=asking)) as database:
            assert await database.fetchval(_IN_RECOVERY)


async def test_a_silent_server_delays_nobody_for_long(owner_url: str) -> None:
    """A server that accepts a connection and says nothing does not use up the time for those after it."""
    with _silence() as silent:
        url = _url_of(silent, owner_url, login=owner_url)
        async with await Database.open(DatabaseOptions(url=url, connect_timeout=timedelta(seconds=30))) as database:
            async with asyncio.timeout(20):
                assert await database.fetchval("select 1") == 1


@pytest.mark.xdist_group("standby")
async def test_nobody_for_writes_is_one_fact(shared_standby: Standby) -> None:
    """When no server takes writes it is said in one line, with what is wrong with each of them."""
    with _silence() as silent:
        url = _url_of(shared_standby.owner_url, silent, "postgresql://x@127.0.0.1:1/x")
        with pytest.raises(DatabaseUnavailable) as caught:
            await Database.open(DatabaseOptions(url=url, connect_timeout=timedelta(seconds=1)))
    said = str(caught.value)
    assert "\n" not in said
    for reason in ("is not read-write", "does not answer", "127.0.0.1:1: "):
        assert reason in said


async def test_pool_lines_and_listeners_find_the_new_primary(standby: Standby) -> None:
    """After a failover each of them is where the writes go, by itself."""
    heard: list[str] = []
    options = DatabaseOptions(url=_url_of(standby.primary.owner_url, standby.owner_url))
    connects: list[int] = []
    listener = Listener(
        options,
        ["a"],
        lambda _channel, payload: heard.append(payload),
        lambda: connects.append(1),
        first_pause=timedelta(milliseconds=10),
        longest_pause=timedelta(milliseconds=100),
    )
    stop = asyncio.Event()
    listening = asyncio.create_task(listener.run(stop))
    async with await Database.open(options) as database:
        line = database.line()
        for caller in (database, line):
            assert not await caller.fetchval(_IN_RECOVERY)
        await listener.listening.wait()
        await standby.caught_up()
        await standby.primary.kill()
        await standby.promote()
        for caller in (database, line):
            await until(partial(_writes, caller), "a call is answered by the new primary")

        async def back() -> bool:
            return len(connects) > 1 and listener.listening.is_set()

        await until(back, "the listener is back")
        await database.execute("select pg_notify('a', 'from the new primary')")

        async def told() -> bool:
            return "from the new primary" in heard

        await until(told, "it hears the new primary")
    stop.set()
    await listening


async def _writes(caller: Caller) -> bool:
    try:
        return not await caller.fetchval("select pg_is_in_recovery() or pg_current_xact_id() is null")
    except DatabaseUnavailable:
        return False


@pytest.mark.xdist_group("standby")
async def test_a_connection_to_a_standby_is_not_used_again(shared_standby: Standby) -> None:
    """Behind an address that moves, who was told "no primary" asks on a new connection, which leads to the primary."""
    async with TcpProxy.before(shared_standby.database_url) as proxy:
        options = DatabaseOptions(url=proxy.through(shared_standby.database_url), pool_size=1)
        async with await Database.open(options) as database:
            proxy.lead_to(shared_standby.primary.database_url)
            with pytest.raises(NotPrimary):
                await database.execute("create temporary table t ()")
            assert not await database.fetchval(_IN_RECOVERY)


async def test_a_commit_its_standby_did_not_confirm_is_not_answered_as_one(standby: Standby) -> None:
    """Who ends the wait for a synchronous standby makes the outcome unknown: the server's "done" is not believed."""
    async with connected(standby.primary.owner_url) as owner:
        await owner.execute("alter system set synchronous_standby_names = '*'")
        await owner.execute("select pg_reload_conf()")
        await owner.execute("create table public.written (n integer)")
        sender = await owner.fetchval("select pid from pg_stat_replication")
        os.kill(sender, signal.SIGSTOP)
        try:
            async with await Database.open(DatabaseOptions(url=standby.primary.owner_url, pool_size=1)) as database:
                pid, writing = await _waiting_for_standby(database, owner)
                await owner.execute("select pg_cancel_backend($1)", pid)
                with pytest.raises(DatabaseUnavailable, match="not confirmed"):
                    await writing
                pid, writing = await _waiting_for_standby(database, owner, not_by=pid)
                writing.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await writing
                assert await database.fetchval("select pg_backend_pid()") != pid
            assert await owner.fetchval("select count(*) from public.written") == 2
        finally:
            os.kill(sender, signal.SIGCONT)


async def _waiting_for_standby(
    database: Database, owner: Connection, *, not_by: int | None = None
) -> tuple[int, "asyncio.Task[str]"]:
    """A call whose commit waits, and the backend it waits in, which is another than the last."""

    async def waits() -> bool:
        return bool(await owner.fetchval("select exists (select from pg_stat_activity where wait_event = 'SyncRep')"))

    pid = await database.fetchval("select pg_backend_pid()")
    assert pid != not_by
    writing = asyncio.create_task(database.execute("insert into public.written values (1)"))
    await until(waits, "the commit waits for the standby")
    return pid, writing
