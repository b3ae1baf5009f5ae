"""An answer as it goes over the wire, byte by byte, so that what was sent is known exactly, lies included.

Requests are read by aiohttp; answers are written here, because a server that minds its manners cannot send a wrong
Content-Length, half a body or a reset. What is counted is what was handed to the socket.
"""

import asyncio
import socket
import struct
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from aiohttp import web

_PIECE = 65536
_DRIP = 16
_EXTENSION = 8192
_HINT = b"HTTP/1.1 103 Early Hints\r\n\r\n"
_HINTS = 2048
_AT_ONCE = struct.pack("ii", 1, 0)


class Framing(StrEnum):
    """How the client learns where the body ends."""

    LENGTH = "length"
    CHUNKED = "chunked"
    TINY_CHUNKS = "tiny_chunks"
    CLOSE = "close"


class Ending(StrEnum):
    """What happens to the connection, and when."""

    KEEP = "keep"
    CLOSE = "close"
    RESET = "reset"
    RESET_IN_BODY = "reset_in_body"
    HANG = "hang"
    HANG_IN_BODY = "hang_in_body"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What to send, and how; `stated_length` is what Content-Length says when it does not say the truth.

    `announced` and `extensions` are bytes that say nothing: answers before the answer, what chunks say of themselves.
    """

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    pieces: tuple[bytes, ...] = ()
    framing: Framing = Framing.LENGTH
    stated_length: int | None = None
    ending: Ending = Ending.KEEP
    pause: float = 0.0
    drip: float = 0.0
    announced: int = 0
    extensions: int = 0

    @property
    def length(self) -> int:
        return sum(map(len, self.pieces))

    @property
    def has_body(self) -> bool:
        return self.status not in {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}

    @property
    def keeps_connection(self) -> bool:
        return self.ending is Ending.KEEP and self.framing is not Framing.CLOSE

    def with_headers(self, *headers: tuple[str, str]) -> "Answer":
        return replace(self, headers=(*headers, *self.headers))

    def closing(self) -> "Answer":
        """The same, as the last on its connection."""
        return replace(self, ending=Ending.CLOSE) if self.ending is Ending.KEEP else self

    def head(self) -> bytes:
        """Status line and headers, with the one that tells where the body ends."""
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in (*self.headers, *self._frame())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def before(self) -> tuple[bytes, ...]:
        """Answers that say that an answer is coming."""
        return (_HINT * _HINTS,) * (self.announced // (len(_HINT) * _HINTS))

    def body(self) -> tuple[bytes, ...]:
        if not self.has_body:
            return ()
        match self.framing:
            case Framing.CHUNKED:
                chunks = self._extended() + [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in self.pieces if piece]
            case Framing.TINY_CHUNKS:
                chunks = [_in_single_bytes(piece) for piece in self.pieces]
            case _:
                return self.pieces
        return (*chunks, b"0\r\n\r\n")

    def _extended(self) -> list[bytes]:
        """Blanks before the body, in chunks that have more to say about themselves."""
        return [b"1;x=%b\r\n \r\n" % (b"y" * _EXTENSION)] * (self.extensions // _EXTENSION)

    def _frame(self) -> list[tuple[str, str]]:
        frame = [] if self.keeps_connection else [("Connection", "close")]
        if self.has_body and self.framing is Framing.LENGTH:
            stated = self.length if self.stated_length is None else self.stated_length
            frame.append(("Content-Length", str(stated)))
        elif self.has_body and self.framing in {Framing.CHUNKED, Framing.TINY_CHUNKS}:
            frame.append(("Transfer-Encoding", "chunked"))
        return frame


@lru_cache(maxsize=4)
def _in_single_bytes(piece: bytes) -> bytes:
    return b"".join(b"1\r\n%c\r\n" % byte for byte in piece)


class Sender:
    """Sends one answer on one connection and counts what it handed over."""

    def __init__(self, request: web.BaseRequest) -> None:
        self._request = request
        self.sent = 0

    async def send(self, answer: Answer) -> None:
        if answer.pause:
            await asyncio.sleep(answer.pause)
        match answer.ending:
            case Ending.HANG:
                await asyncio.Event().wait()
            case Ending.RESET:
                self._reset()
                return
        await self._send_all(answer)
        match answer.ending:
            case Ending.HANG_IN_BODY:
                await asyncio.Event().wait()
            case Ending.RESET_IN_BODY:
                await self._request.writer.drain()
                self._reset()

    async def _send_all(self, answer: Answer) -> None:
        if answer.drip:
            await self._drip(answer)
            return
        body = answer.body()
        if answer.ending in {Ending.HANG_IN_BODY, Ending.RESET_IN_BODY}:
            whole = b"".join(body)
            body = (whole[: len(whole) // 2],)
        if len(body) <= 1 and answer.length <= _PIECE and not answer.announced:
            self._write(b"".join((answer.head(), *body)))
            return
        for piece in (*answer.before(), answer.head(), *body):
            for at in range(0, len(piece), _PIECE):
                self._write(piece[at : at + _PIECE])
                await self._request.writer.drain()

    async def _drip(self, answer: Answer) -> None:
        """The body in little pieces with a pause before each: always something, never done."""
        self._write(answer.head())
        body = b"".join(answer.body())
        for at in range(0, len(body), _DRIP):
            await asyncio.sleep(answer.drip)
            self._write(body[at : at + _DRIP])

    def _write(self, data: bytes) -> None:
        transport = self._request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the client is gone")
        transport.write(data)
        self.sent += len(data)

    def _reset(self) -> None:
        """End the connection without a goodbye: the client's next read fails."""
        transport = self._request.transport
        if transport is None:
            return
        inner: Any = transport.get_extra_info("socket")
        if inner is not None:
            inner.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        transport.abort()


class AlreadySent(web.StreamResponse):
    """Tells aiohttp that the answer is out, and whether the connection stays."""

    def __init__(self, *, keeps_connection: bool) -> None:
        super().__init__()
        self._keeps_connection = keeps_connection

    @property
    def keep_alive(self) -> bool | None:
        return self._keeps_connection

    async def prepare(self, request: web.BaseRequest) -> None:
        pass

    async def write_eof(self, data: bytes = b"") -> None:
        pass


class Connection(web.RequestHandler):
    """A connection that counts what came in over it."""

    __slots__ = ("received",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.received = 0

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        super().data_received(data)

    def taken(self) -> int:
        """How much came in since this was last asked."""
        received, self.received = self.received, 0
        return received


class WireServer(web.Server):
    """aiohttp's server with connections that count."""

    def __call__(self) -> Connection:
        return Connection(self, loop=asyncio.get_running_loop(), access_log=None, lingering_time=0.0)

    def cut(self) -> None:
        """End every connection, whatever it waits for."""
        for connection in self.connections:
            if connection.transport is not None:
                connection.transport.abort()
