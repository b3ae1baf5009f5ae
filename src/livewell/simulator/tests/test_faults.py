"""Each fault does what it says, to the calls it should, and the same again under the same seed."""

import asyncio
import gzip
import json
import zlib
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from livewell.simulator import FAULTS, Fault, FaultKind, InvalidFault, Simulator, SimulatorOptions, parse_fault
from livewell.simulator.clock import SteppedClock
from livewell.simulator.tests.surface import START, Heard, ask, question

QUOTES = "/api/v3/quote/AAPL,MSFT"

Check = Callable[[Heard, list[dict[str, object]]], bool]


def _rows(heard: Heard) -> list[dict[str, object]]:
    return list(heard.json)


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _is_no_json(heard: Heard, _: object) -> bool:
    try:
        json.loads(heard.body, parse_constant=_refuse)
    except ValueError:
        return True
    return False


def _goes_to(start: str) -> Check:
    return lambda heard, _: heard.status == 302 and heard.headers["location"].startswith(start)


def _says(status: int) -> Check:
    return lambda heard, _: heard.status == status and b"[{" not in heard.body


def _has_body(body: bytes) -> Check:
    return lambda heard, _: (heard.status, heard.body) == (200, body)


def _all_rows(check: Callable[[dict[str, object], dict[str, object]], bool]) -> Check:
    return lambda heard, honest: all(check(row, true) for row, true in zip(_rows(heard), honest, strict=True))


def _promises(less: int) -> Check:
    return lambda heard, _: (int(heard.headers["content-length"]) - len(heard.body)) * less < 0


DOES: dict[FaultKind, Check] = {
    FaultKind.SLOW: lambda heard, honest: _rows(heard) == honest,
    FaultKind.DRIP: lambda heard, honest: _rows(heard) == honest,
    FaultKind.RESET: lambda heard, _: heard.was_reset and heard.raw == b"",
    FaultKind.RESET_IN_BODY: lambda heard, _: heard.was_reset,
    FaultKind.THROTTLED: _says(429),
    FaultKind.THROTTLED_SECONDS: _says(429),
    FaultKind.THROTTLED_DATE: _says(429),
    FaultKind.THROTTLED_RESET: _says(429),
    FaultKind.THROTTLED_RATELIMIT: _says(429),
    FaultKind.ERROR_500: _says(500),
    FaultKind.ERROR_502: _says(502),
    FaultKind.ERROR_503: _says(503),
    FaultKind.UNAUTHORIZED: _says(401),
    FaultKind.NOT_FOUND: _says(404),
    FaultKind.GONE: _says(410),
    FaultKind.EMPTY: _has_body(b""),
    FaultKind.EMPTY_LIST: _has_body(b"[]"),
    FaultKind.EMPTY_OBJECT: _has_body(b"{}"),
    FaultKind.NULL: _has_body(b"null"),
    FaultKind.ERROR_OBJECT: lambda heard, _: heard.status == 200 and "Error Message" in heard.json,
    FaultKind.TRUNCATED: _is_no_json,
    FaultKind.HTML: lambda heard, _: heard.headers["content-type"] == "text/html" and heard.status == 200,
    FaultKind.BOM: lambda heard, honest: json.loads(heard.body.decode("utf-8-sig")) == honest,
    FaultKind.INVALID_UTF8: _is_no_json,
    FaultKind.NAN: _is_no_json,
    FaultKind.INFINITY: _is_no_json,
    FaultKind.NESTED: lambda heard, _: heard.body.startswith(b"[" * 1000),
    FaultKind.LARGE: lambda heard, _: len(heard.body) > 1000 and isinstance(heard.json, list),
    FaultKind.DENSE: lambda heard, _: heard.body.count(b"[[[]]],") > 200_000 and isinstance(heard.json, list),
    FaultKind.EMPTY_MEMBERS: lambda heard, _: heard.body.count(gzip.compress(b"", mtime=0)) > 100_000,
    FaultKind.TINY_CHUNKS: lambda heard, _: (
        heard.body.startswith(b"1\r\n[\r\n1\r\n{\r\n") and len(heard.body) > 10 << 20
    ),
    FaultKind.CHUNK_EXTENSIONS: lambda heard, _: heard.body.startswith(b"1;x=y") and len(heard.body) > 2 << 20,
    FaultKind.ANNOUNCED: lambda heard, _: heard.status == 103 and heard.raw.count(b" 103 Early Hints") > 10_000,
    FaultKind.BOMB: lambda heard, _: heard.headers["content-encoding"] == "gzip" and len(heard.body) < 20_000,
    FaultKind.BAD_GZIP: lambda heard, _: heard.headers["content-encoding"] == "gzip",
    FaultKind.UNKNOWN_ENCODING: lambda heard, _: heard.headers["content-encoding"] == "x-made-up",
    FaultKind.RENAMED_FIELD: _all_rows(lambda row, true: row["priceValue"] == true["price"] and "price" not in row),
    FaultKind.MISSING_FIELD: _all_rows(lambda row, true: set(true) - set(row) == {"price"}),
    FaultKind.NULL_FIELD: _all_rows(lambda row, true: row == {**true, "price": None}),
    FaultKind.EXTRA_FIELD: _all_rows(lambda row, true: set(row) - set(true) == {"surprise"}),
    FaultKind.WRONG_TYPE: _all_rows(lambda row, true: row == {**true, "price": str(true["price"])}),
    FaultKind.ABSURD_VALUE: _all_rows(lambda row, true: row == {**true, "price": -1e300}),
    FaultKind.OLD_DATA: _all_rows(lambda row, true: int(str(row["timestamp"])) < int(str(true["timestamp"]))),
    FaultKind.BAD_ROW: lambda heard, honest: _rows(heard)[0] == honest[0] and _rows(heard)[1] != honest[1],
    FaultKind.DUPLICATE_ROWS: lambda heard, honest: _rows(heard) == [row for row in honest for _ in range(2)],
    FaultKind.OTHER_KEY: lambda heard, honest: _rows(heard)[:2] == honest and _rows(heard)[2]["symbol"] == "ZZZZ.X",
    FaultKind.MISSING_KEY: lambda heard, honest: _rows(heard) == honest[:1],
    FaultKind.NO_LENGTH: lambda heard, honest: "content-length" not in heard.headers and _rows(heard) == honest,
    FaultKind.CHUNKED: lambda heard, _: heard.headers["transfer-encoding"] == "chunked",
    FaultKind.LENGTH_TOO_LONG: _promises(-1),
    FaultKind.LENGTH_TOO_SHORT: _promises(1),
    FaultKind.LARGE_HEADERS: lambda heard, _: len(heard.raw) - len(heard.body) > 200_000,
    FaultKind.REDIRECT_SAME: _goes_to("/_moved/api/v3/quote/"),
    FaultKind.REDIRECT_OTHER: _goes_to("http://localhost:"),
    FaultKind.REDIRECT_PRIVATE: _goes_to("http://169.254.169.254/"),
    FaultKind.REDIRECT_LOOP: _goes_to(f"/_again{QUOTES}"),
}

HANGS = [FaultKind.HANG, FaultKind.HANG_IN_BODY]


def test_every_fault_is_described_and_tried() -> None:
    """There is no fault without its sentence, and none that no test here has seen happen."""
    assert set(FAULTS) == set(FaultKind) == {*DOES, *HANGS}


@pytest.mark.parametrize("kind", DOES)
async def test_a_fault_does_what_it_says(simulator: Simulator, kind: FaultKind) -> None:
    """The answer is wrong in this way and in no other, and is logged as such; the next one is right again."""
    honest = _rows(await ask(simulator, QUOTES))
    simulator.fault(kind, "quote", count=1, seconds=0.0, size=2 << 20)
    heard = await ask(simulator, QUOTES)
    assert DOES[kind](heard, honest), heard.raw[:500]
    assert _rows(await ask(simulator, QUOTES)) == honest
    await simulator.settled()
    assert [call.fault for call in simulator.calls] == [None, kind.value, None]


@pytest.mark.parametrize("kind", HANGS)
async def test_a_call_that_hangs_ends_when_its_caller_goes(simulator: Simulator, kind: FaultKind) -> None:
    """It waits, after nothing or after half an answer, and is over and logged as soon as the client hangs up."""
    simulator.fault(kind, "quote")
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(simulator.url).port)
    writer.write(question(QUOTES))
    if kind is FaultKind.HANG_IN_BODY:
        await reader.readuntil(b"\r\n\r\n")
    else:
        while not simulator.log.in_flight:
            await asyncio.sleep(0)
    assert simulator.figures()["quote"].calls == 0
    writer.close()
    async with asyncio.timeout(5):
        await simulator.settled()
    (call,) = simulator.calls
    assert (call.status is None, call.bytes_out == 0) == ((kind is FaultKind.HANG,) * 2)


async def test_a_server_closes_in_spite_of_calls_that_hang(simulator: Simulator) -> None:
    """Its end ends them."""
    simulator.fault("hang")
    hanging = asyncio.create_task(ask(simulator, QUOTES))
    while not simulator.log.in_flight:
        await asyncio.sleep(0)
    async with asyncio.timeout(5):
        await simulator.close()
    assert (await hanging).raw == b""


async def test_a_bomb_is_small_and_opens_to_what_it_promises(simulator: Simulator) -> None:
    """A valid gzip body, a thousandth of what it opens to, and that is valid JSON."""
    simulator.fault("bomb", size=16 << 20)
    body = (await ask(simulator, QUOTES)).body
    opened = gzip.decompress(body)
    assert len(body) * 500 < len(opened)
    assert json.loads(opened) == []
    assert len(zlib.decompressobj(31).decompress(body)) == len(opened)


async def test_a_redirect_to_the_same_host_leads_to_the_data(simulator: Simulator) -> None:
    """Whoever follows it gets the honest answer, in a second call."""
    honest = _rows(await ask(simulator, QUOTES))
    simulator.fault("redirect_same")
    moved = await ask(simulator, QUOTES)
    assert _rows(await ask(simulator, moved.headers["location"])) == honest


async def test_a_loop_has_no_end(simulator: Simulator) -> None:
    """Whoever follows it is sent to the same address again, a call each time, though the fault came once."""
    simulator.fault("redirect_loop", count=1)
    first = await ask(simulator, QUOTES)
    again = await ask(simulator, first.headers["location"])
    assert (again.status, again.headers["location"]) == (302, first.headers["location"])
    await simulator.settled()
    assert simulator.figures()["quote"].calls == 2


async def faults_of(seed: int, order: list[str]) -> dict[str, list[str | None]]:
    """Which faults befell which symbol, in the order of its own calls."""
    faults = (Fault(kind=FaultKind.EMPTY, share=0.3), Fault(kind=FaultKind.NULL, endpoint="quote", share=0.3))
    async with Simulator(SimulatorOptions(seed=seed, faults=faults), clock=SteppedClock(START)) as simulator:
        for symbol in order:
            await ask(simulator, f"/api/v3/quote/{symbol}")
        await simulator.settled()
        return {key: [call.fault for call in simulator.calls if call.keys == (key,)] for key in sorted(set(order))}


async def test_faults_are_replayed_whatever_the_order_of_calls() -> None:
    """The same seed gives each symbol the same faults, with its calls between others or not; another seed others."""
    mixed = await faults_of(1, ["AAPL", "MSFT", "V"] * 10)
    assert mixed == await faults_of(1, sorted(["AAPL", "MSFT", "V"] * 10))
    assert mixed != await faults_of(2, ["AAPL", "MSFT", "V"] * 10)
    happened = [fault for faults in mixed.values() for fault in faults]
    assert {"empty", "null", None} == set(happened)


async def test_a_fault_befalls_only_whom_it_concerns(simulator: Simulator) -> None:
    """By endpoint, by key, and no oftener than its count; what was cleared does not happen."""
    simulator.fault("null", "profile")
    simulator.fault("empty", "quote", keys=frozenset({"MSFT"}), count=2)
    bodies = [(await ask(simulator, f"/api/v3/quote/{key}")).body for key in ("AAPL", "MSFT", "MSFT,V", "MSFT")]
    assert [body == b"" for body in bodies] == [False, True, True, False]
    assert (await ask(simulator, "/api/v3/profile/AAPL")).body == b"null"
    simulator.clear_faults("profile")
    assert (await ask(simulator, "/api/v3/profile/AAPL")).json[0]["symbol"] == "AAPL"


async def test_a_field_can_be_chosen(simulator: Simulator) -> None:
    """A fault of a field befalls the one it names, as the source time."""
    simulator.fault("missing_field", field="timestamp")
    assert all("timestamp" not in row and "price" in row for row in (await ask(simulator, QUOTES)).json)


def test_faults_are_read_as_people_write_them() -> None:
    """Share, count and the rest after colons."""
    assert parse_fault("quote=empty:0.01").share == 0.01
    slow = parse_fault("*=slow:x3:seconds=2:keys=AAPL,MSFT")
    assert (slow.kind, slow.endpoint, slow.count, slow.seconds) == (FaultKind.SLOW, "*", 3, 2)
    assert slow.keys == frozenset({"AAPL", "MSFT"})
    large = parse_fault("profile=missing_field:field=price:size=9")
    assert (large.field, large.size) == ("price", 9)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("quote", "is not a fault"),
        ("quote=emty", "did you mean empty"),
        ("quote=empty:often", "says nothing"),
        ("quote=empty:2", "no share"),
        ("quote=empty:x0", "at least once"),
        ("quote=slow:seconds=-1", "not negative"),
    ],
)
def test_what_is_no_fault_is_refused(text: str, said: str) -> None:
    """In one line that names the fix."""
    with pytest.raises(InvalidFault, match=said):
        parse_fault(text)


async def test_a_fault_of_no_endpoint_is_refused(simulator: Simulator) -> None:
    """A mistyped endpoint would otherwise go wrong nowhere."""
    with pytest.raises(InvalidFault, match="no endpoint 'qoute'"):
        simulator.fault("empty", "qoute")
    with pytest.raises(InvalidFault):
        SimulatorOptions(faults=[Fault(kind=FaultKind.EMPTY, endpoint="qoute")])
