"""How bytes come and go: uvicorn's protocols, with bounds of our own.

As they come, a client that never reads keeps its connection for ever: `close()` waits behind what it does not take, a
missed pong ends with such a close, and each ping of a flood is answered into a buffer that nobody empties. A connection
here is aborted when it does not end by itself, pongs are not kept for who does not take them, and a request that is not
complete in time is not waited for.
"""

import asyncio
import socket
from asyncio import BaseTransport, TimerHandle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

ABORT = "livewell.abort"


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What one connection may have: bytes that wait for a client that does not read, and seconds.

    `send_buffer` is the kernel's, `write_buffer` ours. A request is complete `request_within`, its headers have at most
    `largest_head` bytes. What was told to end has ended `ends_within`; what the other side does not acknowledge is
    given up after `unheard_within`. Of pings, `pings_at_once` are answered, and then `pings_per_second`.
    """

    send_buffer: int = 64 * 1024
    write_buffer: int = 64 * 1024
    largest_head: int = 64 * 1024
    request_within: float = 20.0
    ends_within: float = 5.0
    unheard_within: float = 30.0
    pings_at_once: int = 20
    pings_per_second: float = 2.0


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket that ends when it is told to."""

    bounds = Bounds()

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        _bound(self.transport, self.bounds)
        self._ending: TimerHandle | None = None
        self._pings = float(self.bounds.pings_at_once)
        self._pinged_at = self.loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._ending is not None:
            self._ending.cancel()
        super().connection_lost(exc)

    def handle_connect(self, event: Any) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):
            # The application runs later: it finds a way to end what does not end.
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[ABORT] = {"abort": self.transport.abort}

    def handle_ping(self) -> None:
        now = self.loop.time()
        self._pings = min(
            self.bounds.pings_at_once, self._pings + (now - self._pinged_at) * self.bounds.pings_per_second
        )
        self._pinged_at = now
        if self._pings < 1:
            self.conn.data_to_send()
            self.transport.abort()
            return
        self._pings -= 1
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()

    def shutdown(self) -> None:
        super().shutdown()
        self._end_soon()

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close" and self.handshake_complete:
            # What is not taken by now is not waited for.
            self._end_soon()
        await super().send(message)

    def _end_soon(self) -> None:
        if self._ending is None:
            self._ending = self.loop.call_later(self.bounds.ends_within, self.transport.abort)


class HttpProtocol(HttpToolsProtocol):
    """HTTP whose requests are complete in time."""

    bounds = Bounds()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        _bound(transport, self.bounds)
        self._deadline: TimerHandle | None = None
        # How much of a request has come that has not told all its headers yet.
        self._head: int | None = 0
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self._head is not None:
            self._head += len(data)
        super().data_received(data)
        if self._head is not None and self._head > self.bounds.largest_head:
            self.send_400_response("The headers of a request are too large.")

    def on_headers_complete(self) -> None:
        self._head = None
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ready()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._wait()
        self._head = self._head or 0
        super().on_message_begin()

    def on_message_complete(self) -> None:
        self._ready()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._ready()
        super().handle_websocket_upgrade()

    def _wait(self) -> None:
        self._ready()
        self._deadline = self.loop.call_later(self.bounds.request_within, self.transport.abort)

    def _ready(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _bound(transport: asyncio.BaseTransport, bounds: Bounds) -> None:
    """Keep little for a client that does not read, and not for long."""
    set_limits: Callable[..., None] | None = getattr(transport, "set_write_buffer_limits", None)
    if set_limits is not None:
        set_limits(high=bounds.write_buffer)
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family in {socket.AF_INET, socket.AF_INET6}:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, bounds.send_buffer)
        user_timeout = getattr(socket, "TCP_USER_TIMEOUT", None)
        if user_timeout is not None:
            connection.setsockopt(socket.IPPROTO_TCP, user_timeout, round(bounds.unheard_within * 1000))
