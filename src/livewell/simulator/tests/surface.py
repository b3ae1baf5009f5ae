"""A client without manners of its own: it sends what it is told and keeps every byte that comes back."""

import asyncio
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from livewell.simulator import Simulator

START = datetime(2026, 11, 16, 12, tzinfo=UTC)
PATIENCE = 20


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What came back on one connection, to the byte; `was_reset` when it did not end well."""

    raw: bytes
    was_reset: bool

    @property
    def status(self) -> int:
        return int(self.raw.split(b" ", 2)[1])

    @property
    def headers(self) -> dict[str, str]:
        lines = self.raw.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}

    @property
    def body(self) -> bytes:
        """What follows the headers, as it was sent."""
        return self.raw.partition(b"\r\n\r\n")[2]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def question(path: str, *, method: str = "GET", body: bytes = b"", **headers: str) -> bytes:
    """A request as it is sent; `Accept_Encoding="gzip"` is a header."""
    told = {"Host": "test", "Connection": "close", **{name.replace("_", "-"): value for name, value in headers.items()}}
    if body:
        told["Content-Length"] = str(len(body))
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in told.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


async def send(simulator: Simulator, request: bytes) -> Heard:
    """Ask on a connection of its own and read until it ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(simulator.url).port)
    writer.write(request)
    raw, was_reset = b"", False
    try:
        async with asyncio.timeout(PATIENCE):
            while data := await reader.read(1 << 20):
                raw += data
    except ConnectionError:
        was_reset = True
    finally:
        writer.close()
    return Heard(raw=raw, was_reset=was_reset)


async def ask(simulator: Simulator, path: str, **told: Any) -> Heard:
    return await send(simulator, question(path, **told))
