"""Calls end in time, in size, where they may go, and are counted to the byte."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from livewell.fetching.addresses import Destinations
from livewell.fetching.client import CallLimits, Client, Reply, Request
from livewell.fetching.judge import read_document
from livewell.fetching.memory import Memory, Reservation
from livewell.fetching.tests.servers import CLOSE, RESET, RawServer, answer, chunked, serve
from livewell.fetching.types import FetchFailed, Refused
from livewell.fetching.wire import Meter

BODY = b'[{"symbol": "AAPL", "price": 190.12}]'


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    async with Client() as one:
        yield one


async def call(client: Client, server: RawServer, path: str = "/", limits: CallLimits | None = None) -> Reply:
    to = Destinations(server.url, allow_private=True)
    async with client.memory.reserve(100_000) as reservation:
        request = Request(to=to, url=f"{server.url}{path}", secret_headers={"X-Api-Key": "secret"})
        return await client.get(request, limits or CallLimits(), reservation, _free)


async def _free() -> None:
    """Nobody asks for permission here."""


ANSWERS = {
    "plain": answer(BODY),
    "gzip": answer(gzip.compress(BODY, mtime=0), headers=["Content-Encoding: gzip"]),
    "deflate": answer(zlib.compress(BODY), headers=["Content-Encoding: deflate"]),
    "bare deflate": answer(zlib.compress(BODY)[2:-4], headers=["Content-Encoding: deflate"]),
    "two members": answer(
        gzip.compress(BODY[:9], mtime=0) + gzip.compress(BODY[9:], mtime=0), headers=["Content-Encoding: gzip"]
    ),
    "chunked": chunked([BODY[:7], BODY[7:]]),
    "announced": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + answer(BODY),
    "without length": answer(BODY, length=None),
    "failing": answer(BODY, status="500 Internal Server Error"),
}


@pytest.mark.parametrize("kind", ANSWERS)
async def test_bytes_are_counted_as_the_server_sent_them(client: Client, kind: str) -> None:
    """Status line, headers, framing and body as compressed: what the server wrote, to the byte, on each connection."""
    async with serve(lambda _: ANSWERS[kind]) as server:
        replies = [await call(client, server) for _ in range(3)]
        assert sum(reply.wire_bytes for reply in replies) == server.sent
        assert [reply.body for reply in replies] == [BODY] * 3
        assert [reply.problem for reply in replies] == [None] * 3
        assert server.connections == (3 if kind == "without length" else 1)


async def test_bytes_of_an_answer_without_body_are_counted(client: Client) -> None:
    """304 has a head only, and may name the length of what it stands for."""
    content = b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 37\r\n\r\n'
    async with serve(lambda _: content) as server:
        replies = [await call(client, server) for _ in range(2)]
        assert [(reply.status, reply.problem) for reply in replies] == [(304, None)] * 2
        assert sum(reply.wire_bytes for reply in replies) == server.sent


async def test_bytes_of_redirects_are_summed(client: Client) -> None:
    """Each hop is part of what the call cost."""

    def answering(head: str) -> bytes:
        path = head.split(" ")[1]
        return (
            answer(BODY)
            if path == "/c"
            else answer(b"moved", status="302 Found", headers=[f"Location: {chr(ord(path[1]) + 1)}"])
        )

    async with serve(answering) as server:
        reply = await call(client, server, "/a")
        assert server.paths == ["/a", "/b", "/c"]
        assert (reply.body, reply.wire_bytes, reply.sent) == (BODY, server.sent, 3)


async def test_redirects_end(client: Client) -> None:
    """Three are followed; a fourth is a failure, and nothing was sent for it."""
    async with serve(lambda _: answer(status="302 Found", headers=["Location: /again"])) as server:
        reply = await call(client, server)
        assert isinstance(reply.problem, FetchFailed)
        assert (reply.problem.reason, len(server.heads)) == ("redirect", 4)


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest",
        "http://127.0.0.1:1/",
        "https://example.com/",
        "http://2130706433/",
        "//[::1]/x",
        "file:///etc/passwd",
    ],
)
async def test_each_redirect_is_checked(client: Client, location: str) -> None:
    """A redirect leads nowhere the first request might not have gone."""
    async with serve(lambda _: answer(status="302 Found", headers=[f"Location: {location}"])) as server:
        reply = await call(client, server)
        assert isinstance(reply.problem, FetchFailed)
        assert (reply.problem.reason, len(server.heads)) == ("forbidden_address", 1)


async def test_a_key_stays_with_its_origin(client: Client) -> None:
    """A redirect to another declared host does not carry the key there."""
    async with (
        serve(lambda _: answer(BODY)) as other,
        serve(lambda _: answer(status="307 Temporary Redirect", headers=[f"Location: {other.url}/x"])) as server,
    ):
        to = Destinations(server.url, [f"127.0.0.1:{other.port}"], allow_private=True)
        async with client.memory.reserve(1000) as reservation:
            request = Request(to=to, url=f"{server.url}/", secret_headers={"X-Api-Key": "secret"})
            reply = await client.get(request, CallLimits(), reservation, _free)
        assert reply.body == BODY
        assert "secret" in server.heads[0]
        assert "secret" not in other.heads[0]


async def test_a_bomb_is_stopped_while_it_unfolds(client: Client) -> None:
    """A few kilobytes that would become megabytes are refused at the cap, and never held."""
    bomb = gzip.compress(bytes(50_000_000))
    async with serve(lambda _: answer(bomb, headers=["Content-Encoding: gzip"])) as server:
        tracemalloc.start()
        try:
            reply = await call(client, server, limits=CallLimits(max_bytes=1_000_000))
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert isinstance(reply.problem, Refused)
        assert (reply.problem.reason, reply.body) == ("too_large", b"")
        assert most < 6_000_000


@pytest.mark.parametrize("kind", ["announced", "unannounced"])
async def test_an_answer_that_is_too_large_is_refused(client: Client, kind: str) -> None:
    """Whether its length says so or its body turns out so."""
    body = b"[" + b" " * 300_000 + b"]"
    content = answer(body) if kind == "announced" else chunked([body])
    async with serve(lambda _: content) as server:
        reply = await call(client, server, limits=CallLimits(max_bytes=100_000))
        assert isinstance(reply.problem, Refused)
        assert reply.problem.reason == "too_large"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (answer(BODY, length=len(BODY) + 5) + CLOSE, "truncated"),
        (chunked([BODY])[:-5] + CLOSE, "truncated"),
        (RESET, "reset"),
        (CLOSE, "reset"),
        (b"SSH-2.0-OpenSSH_9\r\n\r\n", "protocol"),
    ],
)
async def test_an_answer_that_breaks_off_is_a_failure(client: Client, content: bytes, reason: str) -> None:
    """A body shorter than announced, a connection that is cut, something that is no HTTP."""
    async with serve(lambda _: content) as server:
        reply = await call(client, server)
        assert isinstance(reply.problem, FetchFailed)
        assert (reply.problem.reason, len(server.heads)) == (reason, 1)


@pytest.mark.parametrize("split", ["at once", "after the head", "after the stated length", "within the surplus"])
async def test_a_body_longer_than_announced_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch, split: str
) -> None:
    """However it is split on its way: what Content-Length leaves of it is no answer, and its connection is given up."""
    content = answer(BODY, length=10)
    head = len(content) - len(BODY)
    at = {"at once": 0, "after the head": head, "after the stated length": head + 10, "within the surplus": head + 15}
    arrived, counting = asyncio.Event(), Meter.count

    def count(meter: Meter, data: bytes) -> bytes:
        arrived.set()
        return counting(meter, data)

    async def answering(_: str) -> bytes:
        if at[split]:
            arrived.clear()
            server.writers[-1].write(content[: at[split]])
            await arrived.wait()
        return content[at[split] :]

    monkeypatch.setattr(Meter, "count", count)
    async with serve(answering) as server:
        for _ in range(2):
            reply = await call(client, server)
            found = reply.problem or read_document(reply, max_bytes=1_000_000)
            assert isinstance(found, Refused)
            assert found.reason in {"wrong_length", "not_json"}
            await server.left.wait()
            server.left.clear()
        assert server.connections == 2


async def test_a_request_is_sent_once(client: Client) -> None:
    """A kept connection that dies under a request fails it: sent again it would be two for one permit."""
    async with serve(lambda head: answer(BODY) if "/first" in head else RESET) as server:
        assert (await call(client, server, "/first")).problem is None
        reply = await call(client, server, "/second")
        assert isinstance(reply.problem, FetchFailed)
        assert (reply.problem.reason, server.paths) == ("reset", ["/first", "/second"])


@pytest.mark.parametrize("kind", ["head", "body"])
async def test_a_slow_answer_is_a_failure(client: Client, kind: str) -> None:
    """The limit is on the whole call: a body that does not end hangs nobody."""
    held = asyncio.Event()

    async def answering(_: str) -> bytes:
        await held.wait()
        return b""

    async with serve(lambda head: chunked([BODY])[:-5] if kind == "body" else answering(head)) as server:
        reply = await call(client, server, limits=CallLimits(seconds=0.2))
        assert isinstance(reply.problem, FetchFailed)
        assert reply.problem.reason == "timeout"
        held.set()


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ("Content-Encoding: br", BODY),
        ("Content-Encoding: gzip", BODY),
        ("Content-Encoding: gzip", gzip.compress(BODY, mtime=0)[:-9]),
    ],
)
async def test_an_encoding_that_does_not_hold_is_refused(client: Client, headers: str, body: bytes) -> None:
    """Not asked for, not what it says, or cut off."""
    async with serve(lambda _: answer(body, headers=[headers])) as server:
        reply = await call(client, server)
        assert isinstance(reply.problem, Refused)
        assert reply.problem.reason == "encoding"


async def test_two_answers_are_none(client: Client) -> None:
    """Bytes after an answer are not taken for the next one, and the answer before them is not believed either."""
    async with serve(lambda _: answer(BODY) + answer(b"[666]")) as server:
        replies = [await call(client, server) for _ in range(2)]
        assert b"666" not in b"".join(reply.body for reply in replies)
        assert [reply.problem and reply.problem.reason for reply in replies] == ["wrong_length"] * 2
        assert server.connections == 2


async def test_what_nobody_asked_for_closes_the_connection(client: Client) -> None:
    """What arrives on a connection that is kept for later is the answer to nothing."""
    async with serve(lambda _: answer(BODY)) as server:
        assert (await call(client, server)).body == BODY
        server.writers[0].write(answer(b"[666]"))
        async with asyncio.timeout(10):
            await server.left.wait()
        reply = await call(client, server)
        assert (reply.body, reply.problem, server.connections) == (BODY, None, 2)


async def test_memory_is_held_in_bytes() -> None:
    """Calls wait until what they may need is free, in the order they came; a large answer has one place."""
    memory = Memory(100)
    order: list[str] = []

    async def take(name: str, size: int, until: asyncio.Event) -> None:
        async with memory.reserve(size):
            order.append(name)
            await until.wait()

    first, rest = asyncio.Event(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(take("a", 80, first))
        group.create_task(take("b", 500, rest))
        group.create_task(take("c", 10, rest))
        while not order:
            await asyncio.sleep(0)
        assert (order, memory.held) == (["a"], 80)
        rest.set()
        first.set()
    assert (order, memory.held) == (["a", "b", "c"], 0)


async def test_what_is_kept_of_an_answer_keeps_its_room() -> None:
    """Memory for what was read is held for as long as anybody has it, and the one place for large answers with it."""
    memory = Memory(100)
    async with memory.reserve(80) as reservation:
        kept = [reservation.keep(30)] * 2
        assert memory.held == 30
    kept.pop()
    assert memory.held == 30
    kept.pop()
    assert memory.held == 0
    async with memory.reserve(80) as reservation:
        await reservation.grow()
        large = reservation.keep(500)
    assert (memory.held, memory.large.locked()) == (80, True)
    del large
    assert (memory.held, memory.large.locked()) == (0, False)


async def test_a_large_answer_takes_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer beyond what was reserved for it is read, one such at a time."""
    grown = 0

    class Watched(Reservation):
        async def grow(self) -> None:
            nonlocal grown
            await super().grow()
            grown += 1

    monkeypatch.setattr("livewell.fetching.memory.Reservation", Watched)
    body = b"[" + b" " * 400_000 + b"]"
    async with Client(memory=Memory(150_000)) as client, serve(lambda _: answer(body)) as server:
        replies = await asyncio.gather(*(call(client, server) for _ in range(4)))
        assert [reply.body for reply in replies] == [body] * 4
        assert (client.memory.held, grown) == (0, 4)
