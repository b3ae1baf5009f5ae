"""Calls go where their provider says, on the public internet, however an address is spelt."""

import pytest

from livewell.fetching.addresses import CheckedResolver, Destinations
from livewell.fetching.client import CallLimits, Client, Request
from livewell.fetching.errors import ForbiddenAddress
from livewell.fetching.tests.servers import Names, answer, serve
from livewell.fetching.types import FetchFailed

SPELLINGS = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://0/",
    "http://0.0.0.0/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://192.0.0.8/",
    "http://192.88.99.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:93.184.216.34]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2001:db8::1]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://168.63.129.16/",
    "http://[ff02::1]/",
    "http://[fec0::1]/",
]


@pytest.mark.parametrize("url", SPELLINGS)
def test_an_address_that_is_not_public_is_refused(url: str) -> None:
    """In every spelling, also when the provider's own base URL is the one that names it."""
    with pytest.raises(ForbiddenAddress):
        Destinations(url).check(url)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "//example.com/",
        "https:/example.com/",
        "https://user:pass@example.com/",
        "https://example.com@evil.test/",
        "https://evil.test#@example.com/",
        "https://evil.test\\@example.com/",
        "https://example.com\t.evil.test/",
        "https://example.com\r\nHost: evil.test/",
        "https://example.com./",
        "https://.example.com/",
        "https://example..com/",
        "https://exämple.com/",
        "https://①②⑦.0.0.1/",
        "https://example。com/",
        "https://%65xample.com/",
        "https://example.com:0/",
        "https://example.com:99999/",
        "https://example.com:22/",
        "http://example.com/",
        "https://www.example.com/",
        "https://example.com.evil.test/",
        "https://example.com/a b",
        "https://example.com/a\r\nX: y",
        "https://example.com/ä",
        "https://example.com/a\\..\\b",
        "",
    ],
)
def test_only_what_is_declared_is_called(url: str) -> None:
    """Another scheme, host, port or spelling than the provider's base URL is refused, a downgrade too."""
    with pytest.raises(ForbiddenAddress):
        Destinations("https://example.com/api").check(url)


@pytest.mark.parametrize(
    "url",
    ["https://example.com/api/x?y=1", "https://EXAMPLE.com:443/", "https://cdn.example.com/", "https://93.184.216.34/"],
)
def test_what_is_declared_is_called(url: str) -> None:
    """The base URL's own server and the hosts beside it; a public address where one is declared."""
    assert Destinations("https://example.com/api", ["cdn.example.com", "93.184.216.34"]).check(url)


def test_private_networks_are_for_who_says_so() -> None:
    """`allow_private` opens loopback and private networks, never link-local, embedded or odd addresses."""
    for url in ("http://127.0.0.1:8801/", "http://10.1.2.3/", "http://[::1]:8801/", "http://[fd12::1]/"):
        assert Destinations(url, allow_private=True).check(url)
    for url in ("http://169.254.169.254/", "http://[fe80::1]/", "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/"):
        with pytest.raises(ForbiddenAddress):
            Destinations(url, allow_private=True).check(url)


async def _call(names: Names, port: int, monkeypatch: pytest.MonkeyPatch, *, allow_private: bool) -> FetchFailed | None:
    monkeypatch.setattr("livewell.fetching.addresses.ThreadedResolver", lambda: names)
    url = f"http://provider.test:{port}"
    async with Client() as client, client.memory.reserve(1000) as reservation:
        to = Destinations(url, allow_private=allow_private)
        reply = await client.get(Request(to=to, url=f"{url}/"), CallLimits(seconds=2), reservation, _free)
    assert reply.problem is None or isinstance(reply.problem, FetchFailed)
    return reply.problem


async def _free() -> None:
    """Nobody asks for permission here."""


@pytest.mark.parametrize("found", [["127.0.0.1"], ["169.254.169.254"], ["93.184.216.34", "127.0.0.1"]])
async def test_a_name_for_a_private_address_is_refused(found: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when a public address stands beside it; nothing is connected to."""
    async with serve(lambda _: answer(b"[]")) as server:
        problem = await _call(Names(found), server.port, monkeypatch, allow_private=False)
        assert problem is not None
        assert (problem.reason, server.connections) == ("forbidden_address", 0)


async def test_what_was_checked_is_what_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is asked for once: one that changes its mind between check and connect changes nothing."""
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    async with serve(lambda _: answer(b"[]")) as server:
        assert await _call(names, server.port, monkeypatch, allow_private=True) is None
        assert (names.asked, server.connections) == (1, 1)


async def test_one_bad_address_refuses_a_name() -> None:
    """The resolver answers with addresses that were all checked, or not at all."""
    resolver = CheckedResolver(allow_private=False, resolver=Names(["93.184.216.34"], ["fe80::1%2"]))
    assert len(await resolver.resolve("provider.test", 443)) == 1
    with pytest.raises(ForbiddenAddress):
        await resolver.resolve("provider.test", 443)
