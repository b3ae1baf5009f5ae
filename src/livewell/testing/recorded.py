"""A provider that answers with what was recorded of the real one."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from pydantic_core import to_json

# A body as it is sent (bytes or text), a file of one, or anything else as JSON; a tuple where several are asked for.
Recorded: TypeAlias = Any

_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


def bodies_of(recorded: Recorded) -> list[bytes]:
    """The bodies of answers, in the order in which they are given."""
    return [_body(answer) for answer in (recorded if isinstance(recorded, tuple) else (recorded,))]


@asynccontextmanager
async def recorded_provider(bodies: Sequence[bytes]) -> AsyncIterator[str]:
    """The URL of a server on loopback: each request is answered with the next body, those after the last with 404."""
    left = iter(bodies)
    open_connections: set[asyncio.StreamWriter] = set()

    async def on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_connections.add(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                body = next(left, None)
                # No Content-Type: a type that wants one of its own takes an answer that says nothing.
                writer.write(
                    _NOT_FOUND if body is None else b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
                )
                await writer.drain()

    server = await asyncio.start_server(on_connection, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in open_connections:
            writer.transport.abort()


def _body(recorded: Recorded) -> bytes:
    match recorded:
        case bytes():
            return recorded
        case str():
            return recorded.encode()
        case Path():
            return recorded.read_bytes()
        case _:
            return to_json(recorded)
