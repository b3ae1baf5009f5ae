"""A TCP proxy before a PostgreSQL server that makes a bad network on request.

It forwards, delays, swallows one or both ways, cuts everything, or cuts one connection at an exact message: after the
server has carried it out but before the client learns of it (`cut_after`), or before the server sees it (`cut_before`).
What is swallowed by a black hole comes through when the network heals, as TCP would repeat it; a connection made
meanwhile is accepted but hears nothing.

The proxy reads the client's messages, so it does not carry encrypted connections; `through()` says so in its URLs.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Self

from livewell.testing.addresses import Address
from livewell.testing.messages import Message, MessageReader, Statements, matches

_CHUNK = 65536
_HOST = "127.0.0.1"
_LOST = (ConnectionError, BrokenPipeError, OSError)


class Way(StrEnum):
    """One direction through the proxy."""

    TO_SERVER = "to_server"
    TO_CLIENT = "to_client"


@dataclass(frozen=True, kw_only=True)
class Trap:
    """One cut that waits for a statement; `sprung` is set once the connection is cut."""

    pattern: str
    forwards: bool
    sprung: asyncio.Event


class TcpProxy:
    """Listens on a port of this machine and leads to a server at a TCP address or a socket."""

    def __init__(self, upstream: Address) -> None:
        self.upstream = upstream
        self._listener: asyncio.Server | None = None
        self._links: dict[_Link, asyncio.Future[None]] = {}
        self._trap: Trap | None = None
        self._open = {way: asyncio.Event() for way in Way}
        self._mean = self._jitter = 0.0
        self._random = random.Random()
        self.heal()

    @classmethod
    @asynccontextmanager
    async def before(cls, url: str) -> AsyncIterator[Self]:
        """A proxy to the server of this URL, closed with all its connections at the end of the block."""
        proxy = cls(Address.of(url))
        proxy._listener = await asyncio.start_server(proxy._serve, _HOST, 0)
        try:
            yield proxy
        finally:
            await proxy._close()

    @property
    def port(self) -> int:
        if self._listener is None:
            raise RuntimeError("the proxy does not listen")
        port: int = self._listener.sockets[0].getsockname()[1]
        return port

    @property
    def connections(self) -> int:
        return len(self._links)

    def through(self, url: str) -> str:
        """The same URL, by way of this proxy."""
        address = Address.of(url)
        return replace(address, host=_HOST, port=self.port, options={**address.options, "sslmode": "disable"}).url

    def lead_to(self, url: str) -> None:
        """Lead new connections to another server, as an address that moves in a failover does."""
        self.upstream = Address.of(url)

    def delay(self, mean: timedelta, *, jitter: timedelta = timedelta(0), seed: int = 0) -> None:
        """Hold everything back, each way, by the mean and up to the jitter more or less; order is kept."""
        self._mean, self._jitter = mean.total_seconds(), jitter.total_seconds()
        self._random = random.Random(seed)

    def black_hole(self, *ways: Way) -> None:
        """Swallow what goes these ways; both when none is named."""
        for way in ways or tuple(Way):
            self._open[way].clear()

    def heal(self) -> None:
        """Forward at once again, both ways, beginning with what was swallowed."""
        self._mean = self._jitter = 0.0
        for gate in self._open.values():
            gate.set()

    def cut(self) -> None:
        """Cut every connection now."""
        for link in list(self._links):
            link.cut()

    def cut_after(self, pattern: str) -> asyncio.Event:
        """Cut the connection that next runs a matching statement: the server has answered, the client not heard."""
        return self._arm(pattern, forwards=True)

    def cut_before(self, pattern: str) -> asyncio.Event:
        """Cut the connection that next runs a matching statement before the server sees it."""
        return self._arm(pattern, forwards=False)

    def _arm(self, pattern: str, *, forwards: bool) -> asyncio.Event:
        self._trap = Trap(pattern=pattern, forwards=forwards, sprung=asyncio.Event())
        return self._trap.sprung

    def trap_for(self, statement: str | None) -> Trap | None:
        """The armed trap if this statement springs it; a trap springs once."""
        if self._trap is None or not matches(self._trap.pattern, statement):
            return None
        trap, self._trap = self._trap, None
        return trap

    async def passage(self, way: Way) -> None:
        await self._open[way].wait()

    def pause(self) -> float:
        return max(0.0, self._mean + self._random.uniform(-self._jitter, self._jitter))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            server = await self._connect()
        except _LOST:
            writer.transport.abort()
            return
        link = _Link(self, (reader, writer), server)
        self._links[link] = asyncio.ensure_future(link.run())
        try:
            await self._links[link]
        finally:
            del self._links[link]

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self.upstream.socket is not None:
            return await asyncio.open_unix_connection(self.upstream.socket)
        return await asyncio.open_connection(self.upstream.host, self.upstream.port)

    async def _close(self) -> None:
        if self._listener is not None:
            self._listener.close()
        links = list(self._links.values())
        self.cut()
        await asyncio.gather(*links, return_exceptions=True)


class _Link:
    """One connection through the proxy: two streams, each read, held back and written on."""

    def __init__(
        self,
        proxy: TcpProxy,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self._proxy = proxy
        self._from_client, self._to_client = client
        self._from_server, self._to_server = server
        self._messages = MessageReader(in_startup=True)
        self._statements = Statements()
        self._trap: Trap | None = None
        self._muted: MessageReader | None = None
        self._answered = asyncio.Event()
        self._over = asyncio.Event()

    async def run(self) -> None:
        """Carry both ways until one ends or the link is cut."""
        pumps = [
            asyncio.ensure_future(self._pump(Way.TO_SERVER, self._from_client)),
            asyncio.ensure_future(self._pump(Way.TO_CLIENT, self._from_server)),
        ]
        over = asyncio.ensure_future(self._over.wait())
        await asyncio.wait([*pumps, over], return_when=asyncio.FIRST_COMPLETED)
        for task in (*pumps, over):
            task.cancel()
        await asyncio.gather(*pumps, over, return_exceptions=True)
        self.cut()

    def cut(self) -> None:
        self._over.set()
        for writer in (self._to_client, self._to_server):
            writer.transport.abort()

    async def _pump(self, way: Way, reader: asyncio.StreamReader) -> None:
        loop = asyncio.get_running_loop()
        held: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(maxsize=256)

        async def read() -> None:
            due = 0.0
            with suppress(*_LOST):
                while data := await reader.read(_CHUNK):
                    due = max(due, loop.time() + self._proxy.pause())
                    await held.put((due, data))
            await held.put((max(due, loop.time() + self._proxy.pause()), b""))

        reading = asyncio.ensure_future(read())
        try:
            while True:
                due, data = await held.get()
                await asyncio.sleep(max(0.0, due - loop.time()))
                await self._proxy.passage(way)
                if not data:
                    return
                await (self._deliver_to_server(data) if way is Way.TO_SERVER else self._deliver_to_client(data))
        except _LOST:
            return
        finally:
            reading.cancel()

    async def _deliver_to_server(self, data: bytes) -> None:
        for message in self._messages.feed(data):
            self._trap = self._trap or self._proxy.trap_for(self._statements.run_by(message))
            if self._trap is None:
                await _write(self._to_server, message.raw)
            else:
                await self._spring(self._trap, message)

    async def _spring(self, trap: Trap, message: Message) -> None:
        if trap.forwards:
            self._muted = self._muted or MessageReader(in_startup=False)
            await _write(self._to_server, message.raw)
            # A statement of the extended protocol runs, and is answered, at the latest with the Sync that follows it.
            if message.kind not in (b"Q", b"S"):
                return
            await self._answered.wait()
        self.cut()
        trap.sprung.set()

    async def _deliver_to_client(self, data: bytes) -> None:
        if self._muted is None:
            await _write(self._to_client, data)
        elif any(message.kind == b"Z" for message in self._muted.feed(data)):
            self._answered.set()


async def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()
