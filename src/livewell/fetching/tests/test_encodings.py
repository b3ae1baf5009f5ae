"""Brotli and Zstandard, where their libraries are: asked for, decoded, counted as sent, stopped while they unfold."""

import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from importlib import import_module

import pytest

from livewell.fetching import Client
from livewell.fetching.client import CallLimits
from livewell.fetching.decoding import ACCEPTED, Undecodable, decoder_for
from livewell.fetching.tests.servers import answer, chunked, serve
from livewell.fetching.tests.test_client import call
from livewell.fetching.types import Refused

BODY = b'[{"symbol": "AAPL", "price": 190.12}]' * 50
Compress = Callable[[bytes], bytes]
COMPRESS: dict[str, Compress] = {
    "br": import_module("brotli").compress,
    "zstd": import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd").compress,
}
encodings = pytest.mark.parametrize("encoding", COMPRESS)


def decoded(encoding: str, *pieces: bytes) -> bytes:
    decoder = decoder_for(encoding)
    found = b"".join(decoded for piece in pieces for decoded in decoder.feed(piece))
    decoder.end()
    return found


@encodings
async def test_it_is_asked_for_and_counted_as_sent(encoding: str) -> None:
    """The body is what it was, the bytes are those of the compressed one, chunked or not."""
    packed = COMPRESS[encoding](BODY)
    headers = ["Content-Type: application/json", f"Content-Encoding: {encoding}"]
    for content in (answer(packed, headers=headers), chunked([packed[:7], packed[7:]], headers=headers)):
        async with serve(lambda _, content=content: content) as server, Client() as client:  # type: ignore[misc]
            reply = await call(client, server)
            assert (reply.body, reply.problem, reply.wire_bytes) == (BODY, None, server.sent)
            assert f"Accept-Encoding: {ACCEPTED}\r\n" in server.heads[0]
    assert encoding in ACCEPTED.split(", ")


@encodings
async def test_a_bomb_is_stopped_while_it_unfolds(encoding: str) -> None:
    """What would become megabytes is refused at the cap, and never held."""
    bomb = COMPRESS[encoding](bytes(50_000_000))
    content = answer(bomb, headers=[f"Content-Encoding: {encoding}"])
    async with serve(lambda _: content) as server, Client() as client:
        tracemalloc.start()
        try:
            reply = await call(client, server, limits=CallLimits(max_bytes=1_000_000))
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert isinstance(reply.problem, Refused)
        assert (reply.problem.reason, reply.body) == ("too_large", b"")
        assert most < 6_000_000


@encodings
def test_pieces_are_small_however_it_is_split(encoding: str) -> None:
    """Byte by byte or at once: the same content, and no piece much larger than 64 KB."""
    content = bytes(range(256)) * 2000
    packed = COMPRESS[encoding](content)
    assert decoded(encoding, *(packed[at : at + 1] for at in range(len(packed)))) == content
    decoder = decoder_for(encoding)
    assert max(len(piece) for piece in decoder.feed(COMPRESS[encoding](bytes(5_000_000)))) <= 2 * 65_536
    assert decoded(encoding) == b""


@encodings
@pytest.mark.parametrize("damage", ["cut", "garbage", "trailing"])
def test_what_does_not_hold_is_found(encoding: str, damage: str) -> None:
    """Cut off, not what it says it is, or followed by something else."""
    packed = COMPRESS[encoding](BODY)
    content = {"cut": packed[:-5], "garbage": b"\xff" + BODY, "trailing": packed + b"more"}[damage]
    with pytest.raises(Undecodable):
        decoded(encoding, content)


def test_several_frames_are_one_body() -> None:
    """Zstandard may come in frames, as gzip in members, split anywhere."""
    packed = COMPRESS["zstd"](BODY[:100]) + COMPRESS["zstd"](BODY[100:])
    for at in range(len(packed)):
        assert decoded("zstd", packed[:at], packed[at:]) == BODY


def test_a_window_that_is_too_large_is_refused() -> None:
    """A frame that would have its decoder remember more than 8 MB is none of HTTP's."""
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    options = {zstd.CompressionParameter.window_log: 27, zstd.CompressionParameter.content_size_flag: 0}
    with pytest.raises(Undecodable, match="memory"):
        decoded("zstd", zstd.compress(bytes(20_000_000), options=options))


WITHOUT = """
import sys
sys.modules["brotli"] = sys.modules["backports.zstd"] = sys.modules["compression.zstd"] = None
from livewell.fetching.decoding import ACCEPTED, Undecodable, decoder_for
for encoding in ("br", "zstd"):
    try:
        decoder_for(encoding)
    except Undecodable as error:
        print(error)
print(ACCEPTED)
"""


def test_what_is_not_installed_is_not_asked_for() -> None:
    """Without the libraries gzip and deflate are asked for, and an answer in another encoding is refused."""
    ran = subprocess.run([sys.executable, "-c", WITHOUT], check=True, capture_output=True, text=True)
    assert ran.stdout.splitlines() == ["'br' was not asked for", "'zstd' was not asked for", "gzip, deflate"]
