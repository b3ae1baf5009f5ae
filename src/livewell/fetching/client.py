"""The one HTTP client of a process: calls that end in time, in size, where they may go, and counted to the byte.

A call ends in a `Reply`, always: with an answer, or with the problem instead of one. Redirects are followed by hand and
checked like the first address; a key travels only to the origin of the base URL. Each request asks for permission
before it goes out, because each counts at the provider.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import aiohttp
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from livewell.fetching.addresses import CheckedResolver, Destinations
from livewell.fetching.decoding import ACCEPTED, Undecodable, decoder_for
from livewell.fetching.errors import ForbiddenAddress
from livewell.fetching.memory import Memory, Reservation
from livewell.fetching.types import FetchFailed, Refused
from livewell.fetching.wire import Meter, MeteredConnector, SentBefore
from livewell.kernel import LivewellError

MOST_REDIRECTS = 3
# What may have been read ahead, and as much again: chunks of one byte take more memory than they have bytes.
MOST_FRAMING = 1_048_576
_REDIRECTS = {301, 302, 303, 307, 308}
_NOTHING: CIMultiDictProxy[str] = CIMultiDictProxy(CIMultiDict())
_PLAIN_HEADERS = {"Accept": "application/json", "Accept-Encoding": ACCEPTED, "User-Agent": "livewell"}

Sending = Callable[[], Awaitable[None]]


@dataclass(frozen=True, kw_only=True, slots=True)
class CallLimits:
    """How long a call may take, from connecting to the last byte, and how large its answer may be."""

    seconds: float = 10.0
    max_bytes: int = 10_485_760


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What is asked for: a URL within its provider's destinations, and what goes with it."""

    to: Destinations
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    secret_headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(slots=True, kw_only=True)
class Reply:
    """What a call came to: an answer, or the problem in place of one; what arrived for it, how often it was sent.

    `not_permitted` is why a request of it was not sent, whatever was before it.
    """

    status: int | None = None
    headers: CIMultiDictProxy[str] = field(default_factory=lambda: _NOTHING)
    body: bytes = b""
    problem: FetchFailed | Refused | None = None
    wire_bytes: int = 0
    sent: int = 0
    has_length: bool = True
    not_permitted: LivewellError | None = None

    def has_problem(self) -> bool:
        return self.problem is not None


class Client:
    """Calls providers; connections and resolved names are kept for all calls of the process."""

    def __init__(self, *, memory: Memory | None = None, connections: int = 200) -> None:
        self.memory = memory or Memory()
        self._connections = connections
        self._sessions: dict[bool, aiohttp.ClientSession] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await session.close()

    async def get(self, request: Request, limits: CallLimits, reservation: Reservation, sending: Sending) -> Reply:
        """Ask, follow redirects, read it all."""
        reply = Reply()
        url = request.url
        try:
            async with asyncio.timeout(limits.seconds) as deadline:
                call = _Call(self, request, limits, reservation, sending, deadline)
                for _ in range(MOST_REDIRECTS + 1):
                    target = await call.one(url, reply)
                    if target is None:
                        return reply
                    url = target
                reply.problem = FetchFailed(
                    reason="redirect", message=f"more than {MOST_REDIRECTS} redirects", status=reply.status
                )
        except TimeoutError:
            reply.problem = FetchFailed(reason="timeout", message=_too_slow(reply, limits), status=reply.status)
        return reply

    def session(self, *, allow_private: bool) -> aiohttp.ClientSession:
        """One session with private addresses and one without, so that no provider gets a connection it may not have."""
        session = self._sessions.get(allow_private)
        if session is None:
            connector = MeteredConnector(
                resolver=CheckedResolver(allow_private=allow_private), limit=self._connections, ttl_dns_cache=60
            )
            session = self._sessions[allow_private] = aiohttp.ClientSession(
                connector=connector,
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
                trust_env=False,
                headers=_PLAIN_HEADERS,
            )
        return session


class _Call:
    """One call, over its redirects."""

    def __init__(
        self,
        client: Client,
        request: Request,
        limits: CallLimits,
        reservation: Reservation,
        sending: Sending,
        deadline: asyncio.Timeout,
    ) -> None:
        self._session = client.session(allow_private=request.to.allow_private)
        self._request = request
        self._limits = limits
        self._reservation = reservation
        self._sending = sending
        self._deadline = deadline

    async def one(self, url: str, reply: Reply) -> str | None:
        """One request; answers with the address it redirects to, if it does."""
        try:
            checked = self._request.to.check(url)
        except ForbiddenAddress as fact:
            reply.problem = FetchFailed(reason="forbidden_address", message=str(fact), status=reply.status)
            return None
        try:
            await self._apart(self._sending())
        except LivewellError as fact:
            reply.not_permitted = fact
            return None
        with Meter(self._limits.max_bytes - reply.wire_bytes) as meter:
            try:
                return await self._ask(checked, reply, meter)
            except (aiohttp.ClientError, ForbiddenAddress, OSError) as error:
                if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ClientError):
                    raise
                reply.problem = _failed(error, reply)
                return None
            finally:
                reply.wire_bytes += meter.received
                reply.sent += meter.connected
                if meter.too_much is not None:
                    reply.body, reply.problem = b"", Refused(reason="too_large", message=meter.too_much)

    async def _ask(self, url: URL, reply: Reply, meter: Meter) -> str | None:
        headers = dict(self._request.headers)
        if self._request.secret_headers and self._request.to.is_base(str(url)):
            headers |= self._request.secret_headers
        reply.status, reply.headers, reply.problem = None, _NOTHING, None
        async with self._session.get(url, headers=headers, allow_redirects=False) as response:
            reply.status, reply.headers = response.status, response.headers
            reply.body = await self._read(response, reply, meter)
        _check_length(response, reply, meter.body)
        if meter.too_much is not None or reply.has_problem() or response.status not in _REDIRECTS:
            return None
        return _led_on(url, response, reply)

    async def _read(self, response: aiohttp.ClientResponse, reply: Reply, meter: Meter) -> bytes:
        most = self._limits.max_bytes
        if (response.content_length or 0) > most:
            return self._stop(response, reply, "too_large", f"{response.content_length:,} bytes of {most:,} allowed")
        body, raw = bytearray(), 0
        try:
            decoder = decoder_for(response.headers.get("Content-Encoding", ""))
            async for data in response.content.iter_any():
                raw += len(data)
                if (meter.body or 0) > 2 * raw + MOST_FRAMING:
                    return self._stop(response, reply, "too_large", "more framing than content")
                for piece in decoder.feed(data):
                    body += piece
                    if max(raw, len(body)) > most:
                        return self._stop(response, reply, "too_large", f"more than the {most:,} bytes allowed")
                    if not self._reservation.fits(len(body)):
                        await self._apart(self._reservation.grow())
            decoder.end()
        except Undecodable as error:
            return self._stop(response, reply, "encoding", f"its Content-Encoding does not hold: {error}")
        return bytes(body)

    async def _apart(self, waiting: Awaitable[None]) -> None:
        """Time spent waiting for memory or for permission does not count against the call's limit."""
        loop, ends_at = asyncio.get_running_loop(), self._deadline.when()
        began = loop.time()
        self._deadline.reschedule(None)
        await waiting
        if ends_at is not None:
            self._deadline.reschedule(ends_at + loop.time() - began)

    def _stop(self, response: aiohttp.ClientResponse, reply: Reply, reason: str, message: str) -> bytes:
        response.close()
        reply.problem = Refused(reason=reason, message=message)
        return b""


def _check_length(response: aiohttp.ClientResponse, reply: Reply, arrived: int | None) -> None:
    """An answer that goes on after its Content-Length is not believed; a shorter one has raised already."""
    length = response.content_length
    reply.has_length = length is not None or response.status in {204, 304}
    if length is not None and arrived is not None and arrived > length and response.status != 304:  # noqa: PLR2004
        reply.problem = Refused(reason="wrong_length", message=f"Content-Length {length:,}, {arrived:,} bytes sent")


def _led_on(url: URL, response: aiohttp.ClientResponse, reply: Reply) -> str | None:
    location = response.headers.get("Location", "")
    if not location or not location.isascii():
        reply.problem = FetchFailed(reason="redirect", message="a redirect to nowhere", status=response.status)
        return None
    try:
        return str(url.join(URL(location, encoded=True)).with_fragment(None))
    except ValueError:
        reply.problem = FetchFailed(reason="redirect", message="a redirect to no URL", status=response.status)
        return None


def _too_slow(reply: Reply, limits: CallLimits) -> str:
    what = "no connection" if not reply.sent else "no answer" if reply.status is None else "no whole answer"
    return f"{what} within {limits.seconds:g} s"


def _failed(error: Exception, reply: Reply) -> FetchFailed:
    reason, message = _reason(error)
    return FetchFailed(reason=reason, message=message, status=reply.status)


def _reason(error: Exception) -> tuple[str, str]:
    """Texts of aiohttp's errors may hold the URL, and with it the key."""
    match error:
        case ForbiddenAddress():
            return "forbidden_address", str(error)
        case aiohttp.ClientConnectorDNSError():
            return "dns", "its host name cannot be resolved"
        case aiohttp.ClientSSLError():
            return "tls", f"no secure connection ({type(error).__name__})"
        case aiohttp.ClientConnectorError():
            return "connect", f"no connection ({error.os_error.strerror or type(error.os_error).__name__})"
        case aiohttp.ServerTimeoutError():
            return "timeout", "the server fell silent"
        case aiohttp.ClientPayloadError():
            return "truncated", "the answer ended before its end"
        case SentBefore() | aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError() | OSError():
            return "reset", "the connection was closed before it answered"
        case _:
            return "protocol", f"no HTTP that can be read ({type(error).__name__})"
