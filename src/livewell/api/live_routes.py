"""`/v1/live`: a WebSocket for each client, and where that does not get through, a stream of events.

A client that cannot be told why in HTTP (a browser hides the answer to a handshake) is taken, told by a `bye` and a
close code, and let go.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request, Response

from livewell.access import InvalidCredential
from livewell.api.bodies import address_of, bearer_of, read_json
from livewell.api.protocol import ABORT
from livewell.kernel import PASSING, LivewellError, Logger
from livewell.live import (
    PROTOCOL,
    BadFrame,
    ClientHello,
    CloseCode,
    Gateway,
    GatewayClosing,
    LiveClient,
    TooMuchAsked,
    bye,
    read_message,
    session_of,
    wanted_of,
)
from livewell.presence import TooMany

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_HELLO_WITHIN = 10.0
_GOODBYES = {1000, 1001}
_COMMENT_EVERY = 15.0
# So many messages of a client at once, and a second; who sends more is read more slowly.
_MESSAGES_AT_ONCE = 100
_MESSAGES_PER_SECOND = 20.0

log = Logger("livewell.api")


class LiveSocket:
    """An ASGI application for WebSockets alone."""

    def __init__(self, gateway: Gateway, origins: frozenset[str] | None) -> None:
        self._gateway = gateway
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        offered = scope.get("subprotocols") or []
        await send({"type": "websocket.accept", "subprotocol": PROTOCOL if PROTOCOL in offered else None})
        if PROTOCOL not in offered:
            await _end(send, CloseCode.UNKNOWN_PROTOCOL, f"speak {PROTOCOL}")
        elif not self._may_come_from(scope):
            await _end(send, CloseCode.ORIGIN_NOT_ALLOWED, "this page may not connect: live.origins")
        else:
            await self._serve(scope, receive, send)

    def _may_come_from(self, scope: Scope) -> bool:
        """Whether the page that connects is of this server, or one that is allowed; programs have no origin."""
        headers = dict(scope["headers"])
        origin = headers.get(b"origin")
        if origin is None:
            return True
        named = origin.decode("latin-1")
        if self._origins is not None and ("*" in self._origins or named in self._origins):
            return True
        host: bytes = headers.get(b"host", b"")
        return bool(urlsplit(named).netloc == host.decode("latin-1"))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = scope["client"][0] if scope.get("client") else ""
        try:
            first = await _first_frame(receive)
            if first is None:
                return
            async with self._gateway.admitted(first, address=address) as client:
                await _talk(self._gateway, client, scope, receive, send)
        except (LivewellError, TimeoutError) as error:
            with suppress(OSError):
                await _end(send, *_farewell(error))


async def _first_frame(receive: Receive) -> ClientHello | None:
    async with asyncio.timeout(_HELLO_WITHIN):
        event = await receive()
    if event["type"] == "websocket.disconnect":
        return None
    frames = read_message(event.get("text") or "")
    if len(frames) != 1 or not isinstance(frames[0], ClientHello):
        raise BadFrame("the first message is a hello")
    return frames[0]


async def _talk(gateway: Gateway, client: LiveClient, scope: Scope, receive: Receive, send: Send) -> None:
    """Read and write at once, until one of them ends."""
    abort = scope["extensions"].get(ABORT, {}).get("abort")
    writing = asyncio.create_task(_write(client, send))
    reading = asyncio.create_task(_read(gateway, client, receive))

    def cut() -> None:
        if abort is not None:
            abort()
        reading.cancel()
        writing.cancel()

    client.cut = cut
    try:
        await asyncio.wait([reading, writing], return_when=asyncio.FIRST_COMPLETED)
        if reading.done() and not reading.cancelled() and (error := reading.exception()) is not None:
            code, reason = _farewell(error)
            client.end(code, reason)
            await asyncio.wait([writing])
    finally:
        reading.cancel()
        writing.cancel()
        await asyncio.gather(reading, writing, return_exceptions=True)


async def _write(client: LiveClient, send: Send) -> None:
    try:
        while (message := await client.next()) is not None:
            client.writing_since = time.monotonic()
            await send({"type": "websocket.send", "text": message})
            client.writing_since = None
        code = client.close_code or CloseCode.GOING_AWAY
        await send({"type": "websocket.close", "code": int(code), "reason": code.name.lower()})
    except OSError:
        return


async def _read(gateway: Gateway, client: LiveClient, receive: Receive) -> None:
    pace = _Pace()
    while (event := await receive())["type"] != "websocket.disconnect":
        text = event.get("text")
        if text is None:
            raise BadFrame("messages are text")
        await pace.wait()
        await gateway.hear(client, text)
    client.said_goodbye = event.get("code") in _GOODBYES


class _Pace:
    """Lets a client say so much at once, and then only so fast."""

    def __init__(self) -> None:
        self._left = float(_MESSAGES_AT_ONCE)
        self._at = time.monotonic()

    async def wait(self) -> None:
        now = time.monotonic()
        self._left = min(_MESSAGES_AT_ONCE, self._left + (now - self._at) * _MESSAGES_PER_SECOND)
        self._at = now
        self._left -= 1
        if self._left < 0:
            await asyncio.sleep(-self._left / _MESSAGES_PER_SECOND)


def _farewell(error: BaseException) -> tuple[CloseCode, str]:
    """How a connection ends that cannot go on."""
    match error:
        case BadFrame():
            return CloseCode.BAD_FRAME, error.message
        case TooMuchAsked():
            return CloseCode.TOO_MUCH_ASKED, error.message
        case InvalidCredential():
            return CloseCode.BAD_CREDENTIAL, error.message
        case TooMany():
            return CloseCode.TOO_MANY_CONNECTIONS, error.message
        case GatewayClosing():
            return CloseCode.GOING_AWAY, error.message
        case TimeoutError():
            return CloseCode.BAD_FRAME, "no hello came"
        case _ if isinstance(error, PASSING):
            return CloseCode.FAULT, "the database is away"
    log.error("live_failed", error=f"{type(error).__name__}: {error}")
    return CloseCode.FAULT, "something failed here"


async def _end(send: Send, code: CloseCode, reason: str) -> None:
    await send({"type": "websocket.send", "text": f"[{bye(code, reason, None)}]"})
    await send({"type": "websocket.close", "code": int(code), "reason": code.name.lower()})


class EventStream(Response):
    """Server-sent events: the whole list was in the request, and from then on what is new of it."""

    media_type = "text/event-stream"

    def __init__(self, gateway: Gateway, first: ClientHello, address: str) -> None:
        super().__init__(headers={"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"})
        self._gateway = gateway
        self._first = first
        self._address = address

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        async with self._gateway.admitted(self._first, address=self._address) as client:
            headers = [header for header in self.raw_headers if header[0] != b"content-length"]
            await send({"type": "http.response.start", "status": self.status_code, "headers": headers})
            telling = asyncio.create_task(_tell_events(client, send))
            leaving = asyncio.create_task(_left(receive))

            def cut() -> None:
                telling.cancel()

            client.cut = cut
            try:
                await asyncio.wait([telling, leaving], return_when=asyncio.FIRST_COMPLETED)
            finally:
                telling.cancel()
                leaving.cancel()
                await asyncio.gather(telling, leaving, return_exceptions=True)


async def _tell_events(client: LiveClient, send: Send) -> None:
    with suppress(OSError):
        while True:
            try:
                async with asyncio.timeout(_COMMENT_EVERY):
                    message = await client.next()
                event = None if message is None else f"data: {message}\n\n"
            except TimeoutError:
                event = ":\n\n"
            client.writing_since = time.monotonic()
            await send({"type": "http.response.body", "body": (event or "").encode(), "more_body": event is not None})
            client.writing_since = None
            if event is None:
                return


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def stream(gateway: Gateway, request: Request) -> EventStream:
    """What a request for events asks for."""
    body = await read_json(request)
    session = body.get("session")
    first = ClientHello(
        token=bearer_of(request),
        session=None if session is None else session_of(session),
        items=wanted_of(body),
    )
    return EventStream(gateway, first, address_of(request))
