"""Answers made to cost more than they may: on the wire, in memory, and of the loop that everything else waits for."""

import asyncio
import gzip
import time
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

import pytest
from pydantic_core import from_json

from livewell.fetching import Answered, Asked, Client, Fetching, source_of
from livewell.fetching.tests.inside import CallLimits, Refused, Reply, Request, read_document
from livewell.fetching.tests.servers import answer, chunked, serve
from livewell.fetching.tests.stage import a_provider, a_type, an_endpoint
from livewell.fetching.tests.test_simulated_faults import FIELDS
from livewell.simulator import FaultKind
from livewell.testing import child, run_apart

MEGABYTE = 1 << 20
LIMIT = 3 * MEGABYTE
# What one read of a socket may bring, before anybody can say stop.
READ = MEGABYTE // 2
SIMULATOR = """
from livewell.simulator import Simulator, SimulatorOptions, symbol_names

async def main():
    async with Simulator(SimulatorOptions(symbols=symbol_names(1))) as simulator:
        answer([simulator.url, *symbol_names(1)])
        while said := await told():
            kind, size = said.split()
            simulator.clear_faults()
            simulator.fault(kind, "quote", **({} if size == "0" else {"size": int(size)}))
            answer(kind)

asyncio.run(main())
"""
# Those that are meant to fit what is allowed are made to; the others have no end.
SIZES = {FaultKind.DENSE: LIMIT - MEGABYTE // 2, FaultKind.EMPTY_MEMBERS: LIMIT - MEGABYTE // 2}
ON_THE_WIRE = [FaultKind.TINY_CHUNKS, FaultKind.CHUNK_EXTENSIONS, FaultKind.ANNOUNCED, FaultKind.LARGE]
HOSTILE = [*ON_THE_WIRE, FaultKind.DENSE, FaultKind.EMPTY_MEMBERS, FaultKind.BOMB, FaultKind.NESTED]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What came of a key, and the longest that reading its answer kept everybody else waiting."""

    told: tuple[str, str | None]
    bytes: int
    longest: float


@pytest.fixture(scope="module")
def seen() -> dict[FaultKind, Seen]:
    """What comes of a key whose provider, a process of its own, answers in each of these ways."""
    return run_apart(asked_in_turn())


async def asked_in_turn() -> dict[FaultKind, Seen]:
    found = {}
    async with child(SIMULATOR) as provider, Client() as client:
        url, key = await provider.answer()
        source = source_of(
            a_type(fields=FIELDS, fetch_call={"path": "/api/v3/quote/{keys}", "key": "symbol"}),
            a_provider(url),
            an_endpoint(max_bytes=LIMIT, call_timeout=timedelta(seconds=60)),
        )
        for kind in HOSTILE:
            provider.tell(f"{kind} {SIZES.get(kind, 0)}")
            assert await provider.answer() == kind
            heart = Heartbeat()
            async with heart.beating():
                told, size = came_of(await Fetching(client).fetch(source, [Asked(data_type="quote", key=key)]))
            found[kind] = Seen(told=told, bytes=size, longest=heart.longest)
    return found


def came_of(answers: list[Answered]) -> tuple[tuple[str, str | None], int]:
    """Without the answer itself: who has that has the memory it takes, and others wait for it."""
    (got,) = answers
    return (got.outcome.word, getattr(got.outcome, "reason", None)), got.bytes or 0


class Heartbeat:
    """The longest this thread computed without letting anybody else in, in seconds of its own time."""

    def __init__(self) -> None:
        self.longest = 0.0

    @asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            await asyncio.sleep(0)
            task.cancel()

    async def _beat(self) -> None:
        before = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            self.longest = max(self.longest, now - before)
            before = now


@cache
def seconds_of_a_dense_document() -> float:
    """What reading the whole of a hostile document would take of this machine: the measure for what may be taken."""
    body = b"[" + b"[[[]]]," * (LIMIT // 7) + b"[]]"
    began = time.thread_time()
    from_json(body)
    return time.thread_time() - began


@pytest.mark.parametrize("kind", ON_THE_WIRE)
def test_max_bytes_bounds_the_wire(seen: dict[FaultKind, Seen], kind: FaultKind) -> None:
    """Framing, extensions and answers before the answer count: more than `max_bytes` and a head is never taken in."""
    assert seen[kind].told == ("refused", "too_large")
    assert seen[kind].bytes <= (2 * READ if kind is FaultKind.ANNOUNCED else LIMIT + READ)


def test_more_framing_than_content_is_refused_early(seen: dict[FaultKind, Seen]) -> None:
    """Chunks of one byte cost their reader far more than they bring: they end well before `max_bytes`."""
    assert seen[FaultKind.TINY_CHUNKS].bytes < LIMIT - READ


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_answer_holds_the_loop(seen: dict[FaultKind, Seen], kind: FaultKind) -> None:
    """Whatever is sent, others get their turn in a small part of the time that reading it at once would take."""
    assert seen[kind].told[0] == "refused"
    assert seen[kind].longest < seconds_of_a_dense_document() / 4


def test_a_gzip_body_has_a_bounded_number_of_members(seen: dict[FaultKind, Seen]) -> None:
    """A megabyte of empty members is fifty thousand; the answer is refused long before."""
    assert seen[FaultKind.EMPTY_MEMBERS].told == ("refused", "encoding")
    assert seen[FaultKind.EMPTY_MEMBERS].bytes < 2 * READ


def test_a_document_has_a_bounded_number_of_values(seen: dict[FaultKind, Seen]) -> None:
    """An answer within `max_bytes` that would take many times that as it is read is too large."""
    assert seen[FaultKind.DENSE].told == ("refused", "too_large")


async def call(url: str, limits: CallLimits) -> Reply:
    async with Client() as client, client.memory.reserve(MEGABYTE) as reservation:
        to = source_of(a_type(), a_provider(url), an_endpoint()).to
        return await client.get(Request(to=to, url=f"{url}/"), limits, reservation, _free)


@pytest.mark.parametrize(
    "last", [b"0\r\n\r\n", b"", b"0\r\n" + b"X-Trailer: y\r\n" * 40_000], ids=["whole", "open", "trailers"]
)
async def test_framing_counts_as_what_it_frames(last: bytes) -> None:
    """Half a megabyte in chunks that say as much about themselves is a megabyte, and so are trailers after it."""
    chunk = b"400;x=" + b"y" * 1024 + b"\r\n" + b" " * 1024 + b"\r\n"
    content = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * (600 if last else 5_000) + last
    async with serve(lambda _: content) as server:
        reply = await call(server.url, CallLimits(seconds=60, max_bytes=MEGABYTE))
        assert getattr(reply.problem, "reason", None) == "too_large"
        assert reply.wire_bytes <= MEGABYTE + READ


@pytest.mark.parametrize("pieces", [1, 64])
async def test_what_fits_its_limit_is_read(pieces: int) -> None:
    """The guards take nothing from an answer as large as it may be, whole or in chunks that are small but no trick."""
    body = b"[" + b" " * (MEGABYTE - 2) + b"]"
    step = len(body) // pieces
    content = answer(body) if pieces == 1 else chunked([body[at : at + step] for at in range(0, len(body), step)])
    async with serve(lambda _: content) as server:
        reply = await call(server.url, CallLimits(seconds=60, max_bytes=MEGABYTE + 1000))
        assert (reply.problem, reply.body == body, reply.wire_bytes) == (None, True, server.sent)


async def test_redirects_share_one_limit() -> None:
    """What a redirect sends along is part of what an answer may cost."""
    limits = CallLimits(seconds=60, max_bytes=MEGABYTE)
    hop = answer(b" " * (MEGABYTE * 2 // 3), status="302 Found", headers=["Location: /again"])
    async with serve(lambda _: hop) as server:
        reply = await call(server.url, limits)
        assert getattr(reply.problem, "reason", None) == "too_large"
        assert reply.wire_bytes <= MEGABYTE + READ
        assert len(server.heads) == 2


async def _free() -> None:
    """Nobody asks for permission here."""


DENSE = b"[" + b"[[[]]]," * (MEGABYTE // 7 - 2) + b"[]]"
ROWS = b"[" + b'{"symbol":"AAPL","price":190.12},' * 30_000 + b"[]]"
MANY = {
    "structure": answer(DENSE),
    "objects": answer(b"[" + b'{"a":1},' * (MEGABYTE // 8 - 2) + b"{}]"),
    "members": answer(gzip.compress(b"") * 50_000, headers=["Content-Encoding: gzip"]),
}


@pytest.mark.parametrize("kind", MANY)
async def test_no_answer_takes_many_times_its_limit(kind: str) -> None:
    """Memory stays near what an answer may have, however little of it is anything but structure."""
    async with serve(lambda _: MANY[kind]) as server:
        source = source_of(a_type(), a_provider(server.url), an_endpoint(max_bytes=MEGABYTE))
        async with Client() as client:
            tracemalloc.start()
            try:
                told, _ = came_of(await Fetching(client).fetch(source, [Asked(data_type="quote", key="AAPL")]))
                peak = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
    assert told in {("refused", "too_large"), ("refused", "encoding")}
    assert peak < 6 * MEGABYTE


async def test_an_answer_full_of_rows_is_read() -> None:
    """Thirty thousand rows in a megabyte are no attack."""
    async with serve(lambda _: answer(ROWS)) as server:
        reply = await call(server.url, CallLimits(seconds=60, max_bytes=MEGABYTE))
        assert not isinstance(read_document(reply, max_bytes=MEGABYTE), Refused)
