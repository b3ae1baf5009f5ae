"""Bytes as they arrive: what a provider sent for one call, counted where the connection hands it over.

aiohttp tells no such number: it decodes framing and drops headers before anybody can count. So its protocol is given a
meter for the time of a call, also on a connection that was used before. What arrives on a connection that nobody uses
is no answer to anything, and closes it.
"""

from contextvars import ContextVar
from functools import partial
from types import TracebackType
from typing import Any, Self, cast

from aiohttp import ClientConnectionError, ClientRequest, ClientTimeout, TCPConnector
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

MOST_HEAD = 65_536
_HEAD_LIMIT = 4 * MOST_HEAD
_END_OF_HEAD = b"\r\n\r\n"


class SentBefore(ClientConnectionError):
    """A call that went out already would be sent again: its permit was for one."""


class Meter:
    """What arrived for one request, made while it is entered: all of it, and what came after the head of the answer."""

    __slots__ = ("_head", "_protocol", "_token", "body", "connected", "received")

    def __init__(self) -> None:
        self.received = 0
        self.body: int | None = None
        self.connected = False
        self._head = b""
        self._protocol: MeteredProtocol | None = None

    def __enter__(self) -> Self:
        self._token = _METER.set(self)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        _METER.reset(self._token)
        if self._protocol is not None and self._protocol.meter is self:
            self._protocol.meter = None
        self._protocol = None

    @property
    def head(self) -> int:
        """What came before the body: the head of the answer, and of those that announced it."""
        return self.received - (self.body or 0)

    def begin(self, protocol: "MeteredProtocol") -> None:
        self.connected = True
        self._protocol = protocol
        protocol.meter = self

    def count(self, data: bytes) -> None:
        self.received += len(data)
        if self.body is not None:
            self.body += len(data)
        elif len(self._head) < _HEAD_LIMIT:
            self._head += data
            self._look_for_end()

    def _look_for_end(self) -> None:
        """An answer may be preceded by others that say it is coming (1xx)."""
        while (end := self._head.find(_END_OF_HEAD)) >= 0:
            head, rest = self._head[:end], self._head[end + len(_END_OF_HEAD) :]
            if head[9:10] != b"1":
                self.body, self._head = len(rest), b""
                return
            self._head = rest


class MeteredProtocol(ResponseHandler):
    """aiohttp's side of a connection, with a meter in it."""

    meter: Meter | None = None
    _counted = False

    def set_response_params(self, **params: Any) -> None:
        # What arrived before the parser was there is handed in once more.
        self._counted = True
        try:
            super().set_response_params(**params)
        finally:
            self._counted = False

    def data_received(self, data: bytes) -> None:
        if self.meter is None:
            self.force_close()
            self.close()
            return
        if not self._counted:
            self.meter.count(data)
        super().data_received(data)


class MeteredConnector(TCPConnector):
    """Connections with meters; each request is sent once."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._factory = cast("partial[ResponseHandler]", partial(MeteredProtocol, loop=self._loop))

    async def connect(self, req: ClientRequest, traces: list[Trace], timeout: ClientTimeout) -> Connection:
        meter = _METER.get()
        if meter.connected:
            raise SentBefore("the connection was closed before it answered")
        connection = await super().connect(req, traces, timeout)
        assert isinstance(connection.protocol, MeteredProtocol)  # noqa: S101 - made by the factory above
        meter.begin(connection.protocol)
        return connection


_METER: ContextVar[Meter] = ContextVar("livewell_meter")
