"""Bytes as they arrive: what a provider sent for one call, counted where the connection hands it over.

aiohttp tells no such number: it decodes framing and drops headers before anybody can count. So its protocol is given a
meter for the time of a call, also on a connection that was used before. What arrives on a connection that nobody uses
is no answer to anything, and closes it. So does what arrives after the end of an answer, before aiohttp sees it: its
parser would take it for the next answer, and lose the one before where that came in the same piece. And so does what is
too much: framing, answers that only announce one, and heads arrive like any other byte, and are counted here alone.
"""

import re
from contextvars import ContextVar
from functools import partial
from types import TracebackType
from typing import Any, Self, cast

from aiohttp import ClientConnectionError, ClientRequest, ClientTimeout, TCPConnector
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

MOST_HEAD = 65_536
_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,18})[ \t]*(?=\r|$)", re.IGNORECASE)
_CODED = re.compile(rb"\r\ntransfer-encoding:", re.IGNORECASE)
_BODILESS = (b"204", b"304")


class SentBefore(ClientConnectionError):
    """aiohttp would send a call again that went out already; its permit was for one request."""


class Meter:
    """What arrived for one request, made while it is entered: all of it, and what came after the head of the answer.

    `too_much` says what exceeded its limit; the connection is then closed.
    """

    __slots__ = (
        *("_cut", "_head", "_length", "_most", "_protocol", "_seen", "_token"),
        *("body", "connected", "received", "too_much"),
    )

    def __init__(self, most: int) -> None:
        self.too_much: str | None = None
        self._most = most
        self._seen = 0
        self.received = 0
        self.body: int | None = None
        self.connected = False
        self._head = b""
        self._length: int | None = None
        self._cut = 0
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

    def begin(self, protocol: "MeteredProtocol") -> None:
        self.connected = True
        self._protocol = protocol
        protocol.meter = self

    def count(self, data: bytes) -> bytes:
        """Count what arrived; answers with what of it belongs to the answer, by the length that it states."""
        self.received += len(data)
        if self.body is not None:
            self.body += len(data)
        else:
            self._head += data
            self._look_for_end()
        if self.body is not None and self.body > self._most:
            self.too_much = f"more than the {self._most:,} bytes allowed"
        if self.body is None or self._length is None or self.body - self._cut <= self._length:
            return data
        surplus = self.body - self._cut - self._length
        self._cut += surplus
        return data[:-surplus]

    def _look_for_end(self) -> None:
        """An answer may be preceded by others that say it is coming (1xx): all of their heads together are bounded."""
        while 0 <= (end := self._head.find(_END_OF_HEAD, self._seen)) <= MOST_HEAD:
            head, self._seen = self._head[self._seen : end], end + len(_END_OF_HEAD)
            if head[9:10] != b"1":
                self.body, self._length = len(self._head) - self._seen, _stated_length(head)
                self._head = b""
                return
        if len(self._head) > MOST_HEAD:
            self.too_much = f"headers of more than {MOST_HEAD:,} bytes"


def _stated_length(head: bytes) -> int | None:
    """Where the body ends by its head alone; None where something else ends it, or the head is not clear about it."""
    if head[9:12] in _BODILESS:
        return 0
    said = {int(length) for length in _LENGTH.findall(head)}
    return said.pop() if len(said) == 1 and not _CODED.search(head) else None


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
        own = data if self._counted else self.meter.count(data)
        if self.meter.too_much is not None:
            self._cut_off()
            return
        if len(own) < len(data):
            self.force_close()
        # aiohttp hands in nothing to have its parser go on with what it has set aside.
        if own or not data:
            super().data_received(own)

    def _cut_off(self) -> None:
        """Whoever waits for more is told that the connection was lost; the meter knows why."""
        self.force_close()
        if self.transport is not None:
            self.transport.abort()


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
