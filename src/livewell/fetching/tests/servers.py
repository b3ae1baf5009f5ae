"""Servers that send exactly the bytes a test wants, and count them."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp.abc import AbstractResolver, ResolveResult

Answering = Callable[[str], bytes | Awaitable[bytes]]


@dataclass
class RawServer:
    """A server on loopback: the `heads` it got, the bytes it `sent`, and whether somebody `left`."""

    port: int = 0
    sent: int = 0
    connections: int = 0
    heads: list[str] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [head.split(" ")[1] for head in self.heads]


CLOSE = b"(close)"
RESET = b"(reset)"


@asynccontextmanager
async def serve(answering: Answering) -> AsyncIterator[RawServer]:
    """A server that answers the head of each request with bytes; those that end with CLOSE close, RESET resets."""
    server = RawServer()

    async def on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        server.writers.append(writer)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                server.heads.append(head)
                answer = answering(head)
                content = answer if isinstance(answer, bytes) else await answer
                if content == RESET:
                    writer.transport.abort()
                    return
                ends = content.endswith(CLOSE)
                content = content.removesuffix(CLOSE)
                writer.write(content)
                server.sent += len(content)
                await writer.drain()
                if ends:
                    writer.close()
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            server.left.set()
            writer.close()

    listening = await asyncio.start_server(on_connection, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for writer in server.writers:
            writer.transport.abort()


def answer(
    body: bytes = b"",
    *,
    status: str = "200 OK",
    headers: Sequence[str] = ("Content-Type: application/json",),
    length: int | None = -1,
) -> bytes:
    """An answer; its Content-Length is right unless said otherwise, None leaves it out (and closes)."""
    lines = [f"HTTP/1.1 {status}", *headers]
    if length is not None:
        lines.append(f"Content-Length: {len(body) if length < 0 else length}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body + (CLOSE if length is None else b"")


def chunked(pieces: Sequence[bytes], *, headers: Sequence[str] = ("Content-Type: application/json",)) -> bytes:
    """An answer in chunks."""
    head = "\r\n".join(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", *headers]).encode() + b"\r\n\r\n"
    return head + b"".join(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in pieces) + b"0\r\n\r\n"


class Names(AbstractResolver):
    """A name server that answers differently each time."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002 - the names of this server have one
    ) -> list[ResolveResult]:
        found = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        return [
            ResolveResult(hostname=host, host=one, port=port, family=socket.AF_INET, proto=0, flags=0) for one in found
        ]

    async def close(self) -> None:
        pass
