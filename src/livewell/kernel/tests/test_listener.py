"""The listener: hears, comes back, notices silence, and says when it cannot be there at all."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from livewell.kernel import Database, DatabaseOptions, Listener
from livewell.testing import PgBouncer, TcpProxy, until


@dataclass
class Heard:
    """What a listener told."""

    notes: list[tuple[str, str]] = field(default_factory=list)
    connects: int = 0

    def note(self, channel: str, payload: str) -> None:
        self.notes.append((channel, payload))

    def connect(self) -> None:
        self.connects += 1

    async def has_connected(self, times: int) -> bool:
        return self.connects >= times

    async def has_heard(self, payload: str) -> bool:
        return any(said == payload for _, said in self.notes)


@asynccontextmanager
async def _listening(
    options: DatabaseOptions, heard: Heard, *, keepalive: timedelta = timedelta(minutes=1)
) -> AsyncIterator[Listener]:
    stop = asyncio.Event()
    listener = Listener(
        options, ["a", "b"], heard.note, heard.connect, keepalive=keepalive, first_pause=timedelta(milliseconds=1)
    )
    running = asyncio.create_task(listener.run(stop))
    try:
        yield listener
    finally:
        stop.set()
        await running


async def test_notifications_arrive(database_url: str, owner: Database) -> None:
    """What is said on its channels is heard, with channel and payload; what is said elsewhere is not."""
    heard = Heard()
    async with _listening(DatabaseOptions(url=database_url), heard) as listener:
        await listener.listening.wait()
        await owner.execute("select pg_notify('other', 'x'), pg_notify('a', 'one'), pg_notify('b', 'two')")
        await until(partial(heard.has_heard, "two"), "the last one arrived")
    assert heard.notes == [("a", "one"), ("b", "two")]
    assert heard.connects == 1


async def test_a_cut_listener_comes_back_and_says_so(database_url: str, owner: Database) -> None:
    """After pg_terminate_backend it listens again, and calls on_reconnect so that what was missed is polled for."""
    heard = Heard()
    async with _listening(DatabaseOptions(url=database_url, application_name="ear"), heard):
        for times in (1, 2, 3):
            await until(partial(heard.has_connected, times), "it listens")
            await owner.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ear'")
        await until(partial(heard.has_connected, 4), "it listens again")
        await owner.execute("select pg_notify('a', 'after')")
        await until(partial(heard.has_heard, "after"), "it hears again")


async def test_a_connection_that_died_silently_is_found(
    database_url: str, owner: Database, tcp_proxy: TcpProxy
) -> None:
    """A network that swallows everything says nothing; asking now and then finds out, and a new connection is made."""
    heard = Heard()
    options = DatabaseOptions(url=tcp_proxy.through(database_url), connect_timeout=timedelta(milliseconds=500))
    async with _listening(options, heard, keepalive=timedelta(milliseconds=50)) as listener:
        await until(partial(heard.has_connected, 1), "it listens")
        tcp_proxy.black_hole()
        await until(partial(_is_deaf, listener), "the silence is noticed")
        tcp_proxy.heal()
        await until(partial(heard.has_connected, 2), "it listens again")
        await owner.execute("select pg_notify('a', 'after')")
        await until(partial(heard.has_heard, "after"), "it hears again")


async def test_behind_a_pooler_it_listens_directly(pgbouncer: PgBouncer, owner: Database) -> None:
    """With a pooler between, LISTEN goes to the direct address."""
    heard = Heard()
    options = DatabaseOptions(url=pgbouncer.url, direct_url=pgbouncer.direct_url, pooled=True)
    async with _listening(options, heard) as listener:
        assert listener.available
        await listener.listening.wait()
        await owner.execute("select pg_notify('a', 'one')")
        await until(partial(heard.has_heard, "one"), "it arrived")


async def test_behind_a_pooler_without_a_direct_address_it_is_not_available(pgbouncer: PgBouncer) -> None:
    """It says that it cannot listen, stays quiet, and still stops when told."""
    heard = Heard()
    async with _listening(DatabaseOptions(url=pgbouncer.url, pooled=True), heard) as listener:
        assert not listener.available
    assert heard.connects == 0


async def _is_deaf(listener: Listener) -> bool:
    return not listener.listening.is_set()
