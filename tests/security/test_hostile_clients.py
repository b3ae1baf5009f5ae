"""Clients that mean harm, or are merely broken, at the gateway: each is let go in time, and nobody else notices."""

import asyncio
import base64
import os
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta

import aiohttp
import pytest
import pytest_asyncio

from livewell.api import Bounds
from livewell.app import Livewell
from livewell.kernel import Database
from livewell.live import CloseCode
from livewell.testing import ServedApi, make_access_key, make_type, serving, until, viewing

QUICK = Bounds(request_within=0.5, ends_within=0.5, unheard_within=2.0)


@pytest_asyncio.fixture
async def app(owner: Database, database_url: str, reader_url: str) -> AsyncIterator[Livewell]:
    """An application with a public type."""
    await make_type(owner, "quote", read_rule="public")
    async with Livewell(database_url, reader_url=reader_url) as opened:
        yield opened


@pytest_asyncio.fixture
async def served(app: Livewell) -> AsyncIterator[ServedApi]:
    """Its API, with little patience."""
    async with serving(app, bounds=QUICK) as api:
        api.gateway.options = api.gateway.options.patient_for(timedelta(seconds=0.5))
        yield api


class RawSocket:
    """A WebSocket by hand, which does what no library would."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, opcode: int, data: bytes = b"", *, length: int | None = None, fin: bool = True) -> None:
        size = len(data) if length is None else length
        head = bytes([(0x80 if fin else 0) | opcode])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 65536:
            head += bytes([0x80 | 126]) + struct.pack("!H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack("!Q", size)
        self.writer.write(head + bytes(4) + data)

    def read_nothing(self) -> None:
        """Take nothing more of what comes."""
        transport = self.writer.transport
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()

    def say(self, text: str) -> None:
        self.send(1, text.encode())

    async def ended(self) -> bytes:
        """All that came until the other side hung up."""
        got = b""
        async with asyncio.timeout(20):
            try:
                while part := await self.reader.read(65536):
                    got += part
            except ConnectionError:
                pass
        return got


@asynccontextmanager
async def raw(address: str, *, receives: int | None = None) -> AsyncIterator[RawSocket]:
    host, port = address.removeprefix("http://").split(":")
    plain = socket.socket()
    if receives is not None:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
    plain.setblocking(False)  # noqa: FBT003 - as the library names nothing
    await asyncio.get_running_loop().sock_connect(plain, (host, int(port)))
    reader, writer = await asyncio.open_connection(sock=plain)
    key = base64.b64encode(os.urandom(16)).decode()
    writer.write(
        (
            f"GET /v1/live HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: livewell.1\r\n\r\n"
        ).encode()
    )
    await reader.readuntil(b"\r\n\r\n")
    try:
        yield RawSocket(reader, writer)
    finally:
        writer.transport.abort()


async def fine(served: ServedApi, app: Livewell, price: int) -> None:
    """Somebody else is served as ever."""
    async with viewing(served.address) as viewer:
        await viewer.hello(("quote", "A"))
        await app.database.fetch(
            "select * from livewell.put('quote', $1::text::jsonb)", f'{{"A": {{"price": {price}}}}}'
        )
        await viewer.value("A", lambda value: value == {"price": price})


async def nobody_left(served: ServedApi) -> None:
    async def gone() -> bool:
        return not served.gateway.clients

    await until(gone, "nobody is left")


def closed_with(got: bytes) -> int:
    """The close code at the end of what a server sent."""
    at = got.rfind(b"\x88")
    return int(struct.unpack("!H", got[at + 2 : at + 4])[0])


async def test_who_never_reads_is_cut_off(app: Livewell, served: ServedApi) -> None:
    """A client that takes nothing is gone within its time, and what it held with it."""
    async with raw(served.address, receives=4096) as silent:
        items = ",".join(f'{{"type":"quote","key":"K{number}"}}' for number in range(200))
        silent.say(f'[{{"frame":"hello","items":[{items}]}}]')
        silent.read_nothing()

        async def came() -> bool:
            return bool(served.gateway.clients)

        await until(came, "it is connected")
        large = "x" * 20_000
        for price in range(100):
            if not served.gateway.clients:
                break
            rows = ",".join(f'"K{number}": {{"price": {price}, "words": "{large}"}}' for number in range(20))
            await app.database.fetch("select * from livewell.put('quote', $1::text::jsonb)", f"{{{rows}}}")
        await nobody_left(served)
    await fine(served, app, 1)


async def test_a_flood_of_pings_is_ended(app: Livewell, served: ServedApi) -> None:
    """Pings are answered a few at a time; who floods is cut off."""
    async with raw(served.address) as flood:
        flood.say('[{"frame":"hello"}]')
        for _ in range(5000):
            flood.send(9, b"x" * 100)
        assert len(await flood.ended()) < 1_000_000
    await nobody_left(served)
    await fine(served, app, 1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_json", b"hello"),
        ("no_list", b'{"frame":"hello"}'),
        ("no_hello", b'[{"frame":"watch","items":[]}]'),
        ("two_hellos", b'[{"frame":"hello"},{"frame":"hello"}]'),
        ("deep", b"[" * 100_000),
        ("a_type_of_another_kind", b'[{"frame":"hello","items":[{"type":["quote"],"key":"A"}]}]'),
        ("a_long_key", b'[{"frame":"hello","items":[{"type":"quote","key":"' + b"A" * 5000 + b'"}]}]'),
        ("too_many_items", None),
    ],
)
async def test_what_is_no_frame_ends_the_connection(served: ServedApi, name: str, message: bytes | None) -> None:
    """A message that cannot be is answered by a goodbye with its reason, and the client does not come back."""
    if message is None:
        items = ",".join(f'{{"type":"quote","key":"K{number}"}}' for number in range(1001))
        message = f'[{{"frame":"hello","items":[{items}]}}]'.encode()
    async with raw(served.address) as client:
        client.send(1, message)
        got = await client.ended()
        assert b'"frame":"bye"' in got, name
        assert closed_with(got) in {CloseCode.BAD_FRAME, CloseCode.TOO_MUCH_ASKED}


@pytest.mark.parametrize(
    ("opcode", "data", "length", "fin"),
    [
        (1, b"\xff\xfe", None, True),
        (2, b"[]", None, True),
        (1, b"x", 10_000_000, True),
        (1, b"x" * 300_000, None, True),
        (3, b"", None, True),
        (0, b"x", None, True),
        (9, b"x" * 126, None, True),
        (1, b"[", None, False),
    ],
)
async def test_frames_that_break_the_protocol_end_the_connection(
    served: ServedApi,
    opcode: int,
    data: bytes,
    length: int | None,
    fin: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """Invalid UTF-8, binary, huge, unknown and broken frames, and a message that never ends: the connection does."""
    async with raw(served.address) as client:
        client.send(opcode, data, length=length, fin=fin)
        if not fin:
            client.writer.write_eof()
        await client.ended()
    await nobody_left(served)


async def test_ten_thousand_watch_frames_are_bounded(app: Livewell, served: ServedApi) -> None:
    """Who asks on and on is read slowly, and ended at the number of items it may have; others are served meanwhile."""
    async with raw(served.address) as client:
        client.say('[{"frame":"hello"}]')
        frames = ",".join(
            f'{{"frame":"watch","items":[{{"type":"quote","key":"K{number}"}}]}}' for number in range(2000)
        )
        client.say(f"[{frames}]")
        await fine(served, app, 1)
        assert closed_with(await client.ended()) == CloseCode.TOO_MUCH_ASKED


async def test_a_request_that_never_ends_is_not_waited_for(app: Livewell, served: ServedApi) -> None:
    """Headers by the byte, a body that does not come, and a connection that says nothing are closed in time."""
    host, port = served.address.removeprefix("http://").split(":")
    for sent in (b"", b"GET / HTTP/1.1\r\nHos", b"POST /v1/items HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(sent)
        async with asyncio.timeout(10):
            with suppress(ConnectionError):
                await reader.read()
        writer.close()
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000)
    async with asyncio.timeout(10):
        with suppress(ConnectionError):
            assert b" 400 " in (await reader.read())[:30]
    writer.close()
    await fine(served, app, 1)


async def test_one_address_and_one_user_have_only_so_many(app: Livewell, owner: Database) -> None:
    """Connections beyond what an address or a user may have are told to come back later."""
    await owner.execute("select livewell.set_setting('live.connections_per_address', '5')")
    await owner.execute("select livewell.set_setting('live.connections_per_user', '2')")
    key = (await make_access_key(owner, user="ada")).key.reveal()
    async with serving(app) as served, AsyncExitStack() as stack:
        tokens = [None, None, key, key, key, None]
        viewers = [await stack.enter_async_context(viewing(served.address)) for _ in tokens]
        codes = []
        for viewer, token in zip(viewers, tokens, strict=True):
            await viewer.send({"frame": "hello", **({"token": token} if token else {})})
            frame = await viewer.until(lambda frame: frame["frame"] in {"hello", "bye"})
            codes.append(frame.get("code"))
        assert codes == [None, None, None, None, CloseCode.TOO_MANY_CONNECTIONS, None]
        async with viewing(served.address) as sixth:
            await sixth.send({"frame": "hello"})
            assert (await sixth.next("bye"))["code"] == CloseCode.TOO_MANY_CONNECTIONS
        await stack.aclose()
        await nobody_left(served)
        await fine(served, app, 1)


async def test_a_page_of_another_origin_does_not_get_in(app: Livewell) -> None:
    """Browsers say where a page is from: one of another place is refused unless it is allowed; programs say nothing."""
    async with serving(app, origins=["https://shop.example"]) as served:
        for origin, code in [
            ("https://evil.example", CloseCode.ORIGIN_NOT_ALLOWED),
            ("null", CloseCode.ORIGIN_NOT_ALLOWED),
            (served.address + ".evil.example", CloseCode.ORIGIN_NOT_ALLOWED),
            ("https://shop.example", None),
            (served.address, None),
        ]:
            async with viewing(served.address, origin=origin) as viewer:
                await viewer.send({"frame": "hello"})
                frame = await viewer.until(lambda frame: frame["frame"] in {"hello", "bye"})
                assert frame.get("code") == code, origin


async def test_another_protocol_is_refused(served: ServedApi) -> None:
    """Who does not speak livewell.1 is told so."""
    async with aiohttp.ClientSession() as http, http.ws_connect(f"{served.address}/v1/live") as socket_:
        assert (await socket_.receive_json())[0]["code"] == CloseCode.UNKNOWN_PROTOCOL
