"""Finding the server that takes writes among those a URL names.

`postgresql://one:5432,two:5432/livewell` names two servers of one cluster. Each is asked a moment after the one before
it, at once when that one has refused; the first that takes writes is used. So a server that is gone without a word
(its machine is off, its network is cut) delays nobody for longer than that moment, and nothing need be remembered
about who was the primary last. `target_session_attrs` in the URL asks for another kind of server.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

import asyncpg

from livewell.kernel.connection import DRIVER_ERRORS, Connection
from livewell.kernel.errors import DatabaseUnavailable, reason_of

# How long a server may take to answer before the next one is asked beside it.
HEAD_START = 0.25
# Share of the time there is; in the rest the caller is told why it was in vain, before it gives up.
_TRIED_FOR = 0.9
_DEFAULT_PORT = "5432"
_WRITES = "read-write"


@dataclass(frozen=True, kw_only=True)
class Host:
    """One server of a URL: a name, an address or the folder of a socket, and its port."""

    name: str
    port: int

    def __str__(self) -> str:
        return f"{self.name}:{self.port}"


class Connects(Protocol):
    """Opens a connection to one of the servers, if it is of this kind."""

    def __call__(self, *, host: str, port: int, target_session_attrs: str) -> Awaitable[Connection]: ...


def hosts_of(url: str) -> list[Host]:
    """The servers a URL names, in its order; none when it leaves that to the driver."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    named = unquote(parts.netloc.rpartition("@")[2]) or options.get("host", "")
    names = [_name_and_port(host) for host in named.split(",")] if named else []
    ports = options.get("port", _DEFAULT_PORT).split(",")
    if len(ports) not in (1, len(names) or 1):
        raise DatabaseUnavailable(
            f"the address of the database names {len(names)} servers and {len(ports)} ports",
            fix="give one port for all, or one for each",
        )
    shared = ports * len(names) if len(ports) == 1 else ports
    return [Host(name=name, port=int(port or other)) for (name, port), other in zip(names, shared, strict=False)]


def _name_and_port(text: str) -> tuple[str, str]:
    """`name:port`, `[address]:port`, or either without a port."""
    if text.startswith("["):
        name, _, rest = text[1:].partition("]")
        return name, rest.lstrip(":")
    if text.startswith("/"):
        return text, ""
    name, _, port = text.partition(":")
    return name, port


def kind_of_server(url: str) -> str:
    """What a server must be to be used."""
    return dict(parse_qsl(urlsplit(url).query)).get("target_session_attrs", _WRITES)


async def connect_to_one_of(hosts: Iterable[Host], kind: str, connect: Connects, *, within: float) -> Connection:
    """A connection to the first server that is of this kind, or a fact that says why there is none."""
    race = _Race(lambda host: connect(host=host.name, port=host.port, target_session_attrs=kind), kind)
    try:
        return await race.won([*hosts], asyncio.get_running_loop().time() + _TRIED_FOR * within)
    finally:
        await race.over()


class _Race:
    """Attempts that run beside each other; what the losers opened is closed."""

    def __init__(self, attempt: Callable[[Host], Awaitable[Connection]], kind: str) -> None:
        self._attempt = attempt
        self._kind = kind
        self._running: dict[asyncio.Future[Connection], Host] = {}
        self._refusals: dict[Host, str] = {}

    async def won(self, hosts: list[Host], deadline: float) -> Connection:
        now = asyncio.get_running_loop().time
        while (hosts or self._running) and now() < deadline:
            if hosts:
                host = hosts.pop(0)
                self._running[asyncio.ensure_future(self._attempt(host))] = host
            patience = min(HEAD_START, deadline - now()) if hosts else deadline - now()
            ended, _ = await asyncio.wait(self._running, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            for attempt in ended:
                if (connection := self._result(attempt)) is not None:
                    return connection
        raise self._nobody()

    def _result(self, attempt: "asyncio.Future[Connection]") -> "Connection | None":
        """The connection it made; None, and why, when it made none."""
        host = self._running[attempt]
        try:
            connection = attempt.result()
        except asyncpg.TargetServerAttributeNotMatched:
            self._refusals[host] = f"is not {self._kind}"
        except DRIVER_ERRORS as error:
            self._refusals[host] = reason_of(error)
        else:
            del self._running[attempt]
            return connection
        del self._running[attempt]
        return None

    async def over(self) -> None:
        """Give up whoever still tries, and close what they opened."""
        for attempt in self._running:
            attempt.cancel()
        for made in await asyncio.gather(*self._running, return_exceptions=True):
            if not isinstance(made, BaseException):
                made.terminate()

    def _nobody(self) -> DatabaseUnavailable:
        silent = dict.fromkeys(self._running.values(), "does not answer")
        reasons = "; ".join(f"{host}: {reason}" for host, reason in {**self._refusals, **silent}.items())
        return DatabaseUnavailable(
            f"no server of the database is {self._kind}: {reasons}",
            fix="check DATABASE_URL and that one of them is the primary",
        )
