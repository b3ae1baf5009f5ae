"""Where clouds keep the credentials of a machine: never called, whatever a provider declares or a name resolves to."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.fetching.tests.inside import CheckedResolver, Destinations, ForbiddenAddress, check_address
from livewell.fetching.tests.servers import Names
from livewell.testing import effort

SHARED = "LIVEWELL_SHARED_NETWORKS"
METADATA_V4 = ["169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192"]
METADATA_V6 = ["fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fe80::a9fe:a9fe"]
# As RFC 6052 puts an IPv4 address into an IPv6 one: after so many bits, leaving out the eight from 64.
NAT64_LENGTHS = [32, 40, 48, 56, 64, 96]


def nat64(prefix: int, length: int, inner: ipaddress.IPv4Address) -> ipaddress.IPv6Address:
    """An IPv4 address within a NAT64 prefix of one of the lengths there are."""
    bits = f"{prefix:0128b}"[:length] + f"{int(inner):032b}"
    if length <= 64:
        bits = f"{bits[:64]:0<64}" + "0" * 8 + bits[64:]
    return ipaddress.IPv6Address(int(f"{bits:0<128}", 2))


def spellings(address: str) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """An IPv4 address and those of IPv6 that lead to it."""
    inner = ipaddress.IPv4Address(address)
    prefixes = [
        int(ipaddress.IPv6Address(prefix)) for prefix in ("64:ff9b::", "64:ff9b:1::", "fd64:ff9b::", "2a00:1098::")
    ]
    return [
        inner,
        ipaddress.IPv6Address(f"::ffff:{inner}"),
        ipaddress.IPv6Address(f"::{inner}"),
        ipaddress.IPv6Address((0x2002 << 112) | (int(inner) << 80)),
        *(nat64(prefix, length, inner) for prefix in prefixes for length in NAT64_LENGTHS),
    ]


ALL = [spelling for address in METADATA_V4 for spelling in spellings(address)] + [
    ipaddress.ip_address(address) for address in METADATA_V6
]


@pytest.mark.parametrize("address", ALL, ids=str)
def test_a_metadata_address_is_never_opened(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an address in a URL or as what a name resolves to, also with `allow_private` and every shared network open."""
    monkeypatch.setenv(SHARED, "100.64.0.0/10")
    url = f"http://{address}/" if address.version == 4 else f"http://[{address}]/"
    for allow_private in (False, True):
        with pytest.raises(ForbiddenAddress):
            Destinations(url, allow_private=allow_private).check(url)
        with pytest.raises(ForbiddenAddress):
            check_address(address, allow_private=allow_private)


@pytest.mark.parametrize("address", [*METADATA_V4, *METADATA_V6])
async def test_a_name_for_a_metadata_address_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for a provider that may call private networks: the resolver checks what it answers."""
    monkeypatch.setenv(SHARED, "100.64.0.0/10")
    resolver = CheckedResolver(allow_private=True, resolver=Names([address]))
    with pytest.raises(ForbiddenAddress):
        await resolver.resolve("provider.test", 80)


def test_shared_addresses_are_for_a_machine_that_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """100.64.0.0/10 is a carrier's or a cloud's: `allow_private` alone opens none of it, and never without it."""
    address = ipaddress.ip_address("100.64.3.4")
    with pytest.raises(ForbiddenAddress, match="LIVEWELL_SHARED_NETWORKS"):
        check_address(address, allow_private=True)
    monkeypatch.setenv(SHARED, "100.64.3.0/24, 100.90.0.0/16")
    check_address(address, allow_private=True)
    check_address(ipaddress.ip_address("100.90.1.1"), allow_private=True)
    for other, allow_private in ((address, False), (ipaddress.ip_address("100.64.4.4"), True)):
        with pytest.raises(ForbiddenAddress):
            check_address(other, allow_private=allow_private)


@pytest.mark.parametrize(
    "said", ["169.254.0.0/16", "0.0.0.0/0", "everything", "100.64.0.1/10", "fd00::/8", "100.0.0.0/8"]
)
def test_a_shared_network_is_one_of_the_shared(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no network of 100.64.0.0/10 opens nothing, and says so."""
    monkeypatch.setenv(SHARED, said)
    with pytest.raises(ForbiddenAddress, match=SHARED):
        check_address(ipaddress.ip_address("100.64.0.1"), allow_private=True)
    with pytest.raises(ForbiddenAddress):
        check_address(ipaddress.ip_address("169.254.169.254"), allow_private=True)


@given(address=st.ip_addresses(v=4).filter(lambda address: address.is_global), allow_private=st.booleans())
@effort(200)
def test_what_is_public_stays_open(address: ipaddress.IPv4Address, *, allow_private: bool) -> None:
    """The guard refuses no public address but those it names."""
    named = {ipaddress.ip_address(known) for known in METADATA_V4}
    if address in named or address.is_multicast or address.is_reserved:
        return
    if any(address in ipaddress.ip_network(network) for network in ("192.0.0.0/24", "192.88.99.0/24")):
        return
    check_address(address, allow_private=allow_private)
