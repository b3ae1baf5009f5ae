"""Where calls may go: to the hosts a provider declares, at addresses of the public internet.

A URL is taken only in its plain form: ASCII, no credentials, no zone, no trailing dot, numbers only as the four of
IPv4 or the brackets of IPv6. Other spellings are refused. A name is resolved once, and the addresses that were checked
are those the connection is made to, so that a name cannot lead elsewhere in between.
Addresses that embed another (mapped, 6to4, NAT64, Teredo) are refused, whatever they embed. Where a provider says
`allow_private`, loopback and private networks are allowed too; link-local and the other addresses where clouds keep the
credentials of a machine never are. Those of 100.64.0.0/10 belong to a carrier, a cloud or a network of the operator's
own: the operator of the machine says which are allowed (`LIVEWELL_SHARED_NETWORKS`).
"""

import ipaddress
import os
import re
import socket
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from yarl import URL

from livewell.fetching.errors import ForbiddenAddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_PLAIN = re.compile(r"[!-\[\]-~]+")  # visible ASCII, without the backslash some take for a slash
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?(?=[/?#]|$)"
)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORTS = {"http": 80, "https": 443}
_PRIVATE = [
    ipaddress.ip_network(network)
    for network in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
]
SHARED_VARIABLE = "LIVEWELL_SHARED_NETWORKS"
_SHARED = ipaddress.IPv4Network("100.64.0.0/10")
_METADATA = {
    int(ipaddress.IPv4Address(address))
    for address in (
        *("169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.42.42"),
        *("168.63.129.16", "100.100.100.200", "192.0.0.192"),
    )
}
_METADATA_V6 = [ipaddress.ip_network(network) for network in ("fd00:ec2::/32", "fd20:ce::/64", "fd00:42::42/128")]
_NOT_PUBLIC = [
    ipaddress.ip_network(network)
    for network in (
        *("0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.51.100.0/24", "203.0.113.0/24"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "3ffe::/16", "3fff::/20"),
    )
]
_GLOBAL_V6 = ipaddress.ip_network("2000::/3")


class Origin(NamedTuple):
    """A server, as a URL names it."""

    scheme: str
    host: str
    port: int


class Destinations:
    """What the calls of one provider may reach: the origin of its base URL, and the others it declares."""

    def __init__(self, base_url: str, others: Iterable[str] = (), *, allow_private: bool = False) -> None:
        self.allow_private = allow_private
        self.base = base_url.rstrip("/")
        self.origin = origin_of(base_url)
        scheme = self.origin.scheme
        self._allowed = {self.origin, *(origin_of(f"{scheme}://{host}") for host in others)}
        self._allowed |= {origin._replace(scheme="https") for origin in self._allowed if origin.port != _PORTS["http"]}
        self._checked: str | None = None

    def check(self, url: str) -> URL:
        """The URL as it will be asked for; raises `ForbiddenAddress`."""
        # A URL that begins with the base URL and a slash leads to its server, which was checked before.
        if self._checked is not None and url.startswith(self._checked) and _PLAIN.fullmatch(url):
            return URL(url, encoded=True)
        origin = origin_of(url)
        if origin not in self._allowed:
            raise ForbiddenAddress(
                f"{origin.scheme}://{origin.host}:{origin.port} is not declared for this provider",
                fix="only base_url and hosts of the provider are called",
            )
        if (address := literal(origin.host)) is not None:
            check_address(address, allow_private=self.allow_private)
        if url.startswith(f"{self.base}/"):
            self._checked = f"{self.base}/"
        return URL(url, encoded=True)

    def is_base(self, url: str) -> bool:
        """Whether a URL that was checked leads to the server of the base URL."""
        return url.startswith(f"{self.base}/") or origin_of(url) == self.origin


def origin_of(url: str) -> Origin:
    """The server of a plain URL; raises `ForbiddenAddress` for anything that is none."""
    found = _URL.match(url) if _PLAIN.fullmatch(url) else None
    if found is None:
        raise ForbiddenAddress("a URL must be plain http or https, without credentials or odd characters")
    scheme, host = found["scheme"], found["host"].lower()
    port = int(found["port"] or _PORTS[scheme])
    if not 0 < port < 65_536:  # noqa: PLR2004 - ports end there
        raise ForbiddenAddress(f"{port} is no port")
    address = literal(host)
    return Origin(scheme, _name(host) if address is None else address.compressed, port)


def literal(host: str) -> Address | None:
    """The address a host is written as; None for a name, and `ForbiddenAddress` for a number spelt otherwise."""
    try:
        if host.startswith("["):
            return ipaddress.IPv6Address(host[1:-1])
        if ":" in host:
            return ipaddress.IPv6Address(host)
        if _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
            return ipaddress.IPv4Address(host)
    except ValueError:
        raise ForbiddenAddress(f"{host} is no address as one is written") from None
    return None


def _name(host: str) -> str:
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in host.split(".")):  # noqa: PLR2004 - RFC 1035
        raise ForbiddenAddress(f"{host} is no name of a host")
    return host


def check_address(address: Address, *, allow_private: bool) -> None:
    """Raise `ForbiddenAddress` unless the address is on the public internet, or private where that is allowed."""
    if _is_metadata(address):
        raise ForbiddenAddress(f"{address} is where a cloud keeps the credentials of its machines: it is never called")
    if _is_public(address):
        return
    if allow_private and any(address in network for network in _PRIVATE):
        return
    if allow_private and address in _SHARED:
        if any(address in network for network in _shared_networks(os.environ.get(SHARED_VARIABLE, ""))):
            return
        raise ForbiddenAddress(
            f"{address} is of {_SHARED}, which is not private",
            fix=f"name its network in {SHARED_VARIABLE} where the worker runs, if it is yours",
        )
    fix = None if allow_private else "allow_private of the provider is for servers of your own"
    raise ForbiddenAddress(f"{address} is not on the public internet", fix=fix)


def _is_metadata(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv4Address):
        return int(address) in _METADATA
    return any(address in network for network in _METADATA_V6) or any(
        embedded in _METADATA for embedded in _embedded(address)
    )


def _embedded(address: ipaddress.IPv6Address) -> Iterator[int]:
    """What IPv4 addresses may be in it: 6to4's, and one for each length of a NAT64 prefix, which anybody may choose.

    A prefix of 96 bits has it at the end, as mapped addresses do; RFC 6052 has the others leave out bits 64 to 71.
    """
    number = int(address)
    yield number & 0xFFFFFFFF
    yield number >> 80 & 0xFFFFFFFF
    without = (number >> 64 << 56) | (number & (1 << 56) - 1)
    for length in (32, 40, 48, 56, 64):
        yield without >> (120 - length - 32) & 0xFFFFFFFF


@cache
def _shared_networks(said: str) -> list[ipaddress.IPv4Network]:
    """The networks of 100.64.0.0/10 that a machine names as its own."""
    try:
        networks = [ipaddress.IPv4Network(text.strip()) for text in said.split(",") if text.strip()]
    except ValueError as error:
        raise ForbiddenAddress(f"{SHARED_VARIABLE} is no list of networks: {error}") from None
    if strange := [network for network in networks if not network.subnet_of(_SHARED)]:
        raise ForbiddenAddress(f"{SHARED_VARIABLE} names {strange[0]}, which is not within {_SHARED}")
    return networks


def _is_public(address: Address) -> bool:
    if address.is_multicast or address.is_reserved or not address.is_global:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_V6:
        return False
    return not any(address in network for network in _NOT_PUBLIC)


class CheckedResolver(AbstractResolver):
    """Resolves names and checks what they are; one bad address among several refuses the name."""

    def __init__(self, *, allow_private: bool, resolver: AbstractResolver | None = None) -> None:
        self._allow_private = allow_private
        self._resolver = resolver or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        for result in found:
            check_address(_resolved(result["host"]), allow_private=self._allow_private)
        return found

    async def close(self) -> None:
        await self._resolver.close()


def _resolved(host: str) -> Address:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        raise ForbiddenAddress(f"{host} is no address") from None
