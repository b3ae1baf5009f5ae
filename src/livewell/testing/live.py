"""A viewer for tests: a real WebSocket to a real gateway, and what it has been told."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Self

import aiohttp
from pydantic_core import from_json, to_json

from livewell.access import AccessStore, NewKey, Scope, new_access_key
from livewell.kernel import Database

_PROTOCOL = "livewell.1"
_PATIENCE = 20.0

Frame = dict[str, Any]


class Viewer:
    """One connection; `rows` has the last row of each item, as a page would."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.session = ""
        self.frames: list[Frame] = []
        self.rows: dict[tuple[str, str], Frame] = {}
        self.refused: dict[tuple[str, str], Frame] = {}
        # Every frame there ever was.
        self.all: list[Frame] = []

    async def send(self, *frames: Frame) -> None:
        """One message of these frames."""
        await self.socket.send_str(to_json(frames).decode())

    async def hello(self, *items: tuple[str, str], token: str | None = None, **fields: Any) -> Self:
        """Begin, with a list of items unless there are none, and wait to be greeted."""
        told = {"token": token} if token is not None else {}
        named = [{"type": data_type, "key": key} for data_type, key in items]
        await self.send({"frame": "hello", **told, "items": named, **fields})
        self.session = (await self.next("hello"))["session"]
        return self

    async def watch(self, *items: tuple[str, str]) -> None:
        await self.send({"frame": "watch", "items": [{"type": data_type, "key": key} for data_type, key in items]})

    async def drop(self, *items: tuple[str, str]) -> None:
        await self.send({"frame": "drop", "items": [{"type": data_type, "key": key} for data_type, key in items]})

    async def next(self, kind: str, key: str | None = None) -> Frame:
        """The next frame of a kind, of one key if named; others are taken note of."""
        return await self.until(lambda frame: frame["frame"] == kind and (key is None or frame.get("key") == key))

    async def until(self, fits: Callable[[Frame], bool]) -> Frame:
        """The next frame that fits."""
        async with asyncio.timeout(_PATIENCE):
            while True:
                while self.frames:
                    frame = self.frames.pop(0)
                    if fits(frame):
                        return frame
                if self.socket.closed:
                    raise AssertionError(f"the connection ended with {self.socket.close_code}; it was told {self.all}")
                await self._receive()

    async def value(self, key: str, fits: Callable[[Any], bool], data_type: str = "quote") -> Any:
        """What the page shows of an item, as soon as it fits."""
        async with asyncio.timeout(_PATIENCE):
            while not ((data_type, key) in self.rows and fits(self.rows[data_type, key]["value"])):
                if self.socket.closed:
                    raise AssertionError(f"the connection ended with {self.socket.close_code}; it was told {self.all}")
                await self._receive()
        return self.rows[data_type, key]["value"]

    async def ended(self) -> int | None:
        """The code its connection ends with."""
        async with asyncio.timeout(_PATIENCE):
            while not self.socket.closed:
                await self._receive()
        return self.socket.close_code

    async def _receive(self) -> None:
        message = await self.socket.receive()
        if message.type is aiohttp.WSMsgType.TEXT:
            for frame in from_json(message.data):
                self._take(frame)
        elif not self.socket.closed:
            raise AssertionError(f"not a message of text: {message}")

    async def drain(self) -> None:
        """Take what has come by now."""
        try:
            async with asyncio.timeout(0.02):
                while not self.socket.closed:
                    await self._receive()
        except TimeoutError:
            pass

    def _take(self, frame: Frame) -> None:
        self.all.append(frame)
        self.frames.append(frame)
        named = (frame.get("type", ""), frame.get("key", ""))
        if frame["frame"] == "row":
            self.rows[named] = frame
            self.refused.pop(named, None)
        elif frame["frame"] == "no":
            self.rows.pop(named, None)
            self.refused[named] = frame


async def put(
    database: Database, key: str, value: Any, data_type: str = "quote", *, ago: timedelta = timedelta()
) -> None:
    """Store a value of an item as somebody who knows it would, now or a while ago."""
    rows = to_json({key: value}).decode()
    await database.fetch(
        "select key from livewell.put($1, $2::text::jsonb, clock_timestamp() - $3::interval)", data_type, rows, ago
    )


async def make_access_key(
    owner: Database, *, user: str | None = None, scopes: Sequence[Scope] = (Scope.USER,), tenant: str | None = None
) -> NewKey:
    """An access key; its `key` is what a client shows."""
    made = new_access_key()
    await AccessStore(owner).add_access_key(
        made.id, made.id, made.hashed, scopes, user=user, tenant=tenant, expires_at=None, reason=None, actor="tests"
    )
    return made


@asynccontextmanager
async def viewing(address: str, **options: Any) -> AsyncIterator[Viewer]:
    """A viewer connected to a gateway; it says hello itself."""
    async with (
        aiohttp.ClientSession() as http,
        http.ws_connect(f"{address}/v1/live", protocols=[_PROTOCOL], max_msg_size=0, **options) as socket,
    ):
        yield Viewer(socket)
