"""What the provider says it sent is what arrives, to the byte."""

import asyncio
import gzip
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from livewell.simulator import KeyPlace, Limit, Simulator, SimulatorOptions, SteppedClock, UnknownSymbol
from livewell.simulator.tests.surface import START, Heard, ask, question, send

QUOTE = "/api/v3/quote/AAPL,MSFT"
STATEMENTS = "/api/v3/financial-statements/AAPL"

WAYS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "plain": (QUOTE, None, {}),
    "large": (STATEMENTS, None, {}),
    "gzip": (STATEMENTS, None, {"Accept_Encoding": "gzip, deflate"}),
    "chunked": (STATEMENTS, "chunked", {}),
    "chunked gzip": (STATEMENTS, "chunked", {"Accept_Encoding": "gzip"}),
    "no length": (STATEMENTS, "no_length", {}),
    "not modified": (QUOTE, None, {"If_None_Match": "*"}),
    "unknown symbol": ("/api/v3/quote/NOBODY", None, {}),
    "unknown path": ("/api/v3/nothing/AAPL", None, {}),
    "server error": (QUOTE, "error_500", {}),
    "throttled": (QUOTE, "throttled_seconds", {}),
    "redirect": (QUOTE, "redirect_private", {}),
    "empty": (QUOTE, "empty", {}),
    "length too long": (QUOTE, "length_too_long", {}),
    "length too short": (QUOTE, "length_too_short", {}),
    "bomb": (QUOTE, "bomb", {}),
    "large headers": (QUOTE, "large_headers", {}),
    "drip": (QUOTE, "drip", {}),
    "several megabytes": (QUOTE, "large", {}),
}


@pytest.mark.parametrize("way", WAYS)
async def test_bytes_are_those_of_the_socket(simulator: Simulator, way: str) -> None:
    """Both ways, status line and headers included, whatever the framing, the encoding and the status."""
    path, fault, headers = WAYS[way]
    if fault is not None:
        simulator.fault(fault, seconds=0, size=5 << 20)
    request = question(path, **headers)
    heard = await send(simulator, request)
    await simulator.settled()
    (call,) = simulator.calls
    assert (call.bytes_in, call.bytes_out) == (len(request), len(heard.raw))
    assert call.status == heard.status


async def test_bytes_of_calls_on_one_connection_are_told_apart(simulator: Simulator) -> None:
    """With keep-alive each call has its own bytes, and together they are all there were."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(simulator.url).port)
    sizes = []
    for path in (QUOTE, STATEMENTS, QUOTE):
        writer.write(request := question(path, Connection="keep-alive"))
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(int(Heard(raw=head, was_reset=False).headers["content-length"]))
        sizes.append((len(request), len(head) + len(body)))
    writer.close()
    await simulator.settled()
    assert [(call.bytes_in, call.bytes_out) for call in simulator.calls] == sizes


async def test_half_an_answer_counts_as_half(simulator: Simulator) -> None:
    """What was sent before a reset is counted, what was not is not."""
    simulator.fault("reset_in_body")
    heard = await ask(simulator, STATEMENTS)
    await simulator.settled()
    (call,) = simulator.calls
    assert heard.was_reset
    assert 20_000 < call.bytes_out < 30_000
    assert len(heard.raw) <= call.bytes_out


async def test_gzip_is_for_those_who_ask(simulator: Simulator) -> None:
    """The same rows, compressed only where that is accepted."""
    plain = await ask(simulator, STATEMENTS)
    packed = await ask(simulator, STATEMENTS, Accept_Encoding="br;q=1, gzip")
    refused = await ask(simulator, STATEMENTS, Accept_Encoding="gzip;q=0")
    assert gzip.decompress(packed.body) == plain.body == refused.body
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert len(packed.body) < len(plain.body) / 2


async def test_who_has_it_is_told_so(simulator: Simulator, clock: SteppedClock) -> None:
    """304 without a body for the same tag or date, until the data change; a tag counts for more than a date."""
    first = await ask(simulator, QUOTE)
    tag, date = first.headers["etag"], first.headers["last-modified"]
    for told in ({"If_None_Match": tag}, {"If_None_Match": f'"x", {tag}'}, {"If_Modified_Since": date}):
        same = await ask(simulator, QUOTE, **told)
        assert (same.status, same.body, same.headers["etag"]) == (304, b"", tag)
    other = await ask(simulator, QUOTE, If_None_Match='"x"', If_Modified_Since=date)
    assert other.status == 200
    clock.advance(timedelta(minutes=5))
    for told in ({"If_None_Match": tag}, {"If_Modified_Since": date}):
        assert (await ask(simulator, QUOTE, **told)).status == 200


async def test_several_keys_are_answered_in_their_order(simulator: Simulator) -> None:
    """Each symbol once, in the order asked for; those that do not exist are left out."""
    heard = await ask(simulator, "/api/v3/quote/MSFT,NOBODY,AAPL,MSFT,BRK.A")
    assert [row["symbol"] for row in heard.json] == ["MSFT", "AAPL", "BRK.A"]
    assert (await ask(simulator, "/api/v3/quote/NOBODY")).json == []


async def test_unknown_symbols_and_keys_can_be_errors() -> None:
    """By option an unknown symbol is 404, and a call without a valid key 401, wherever the key is looked for."""
    options = SimulatorOptions(unknown=UnknownSymbol.NOT_FOUND, api_keys=frozenset({"s3"}))
    async with Simulator(options, clock=SteppedClock(START)) as simulator:
        assert (await ask(simulator, QUOTE)).status == 401
        assert (await ask(simulator, f"{QUOTE}?apikey=wrong")).status == 401
        assert (await ask(simulator, f"{QUOTE}?apikey=s3")).status == 200
        assert (await ask(simulator, "/api/v3/quote/NOBODY?apikey=s3")).status == 404
        await simulator.settled()
        assert [call.api_key for call in simulator.calls] == [None, "wrong", "s3", "s3"]
    options = SimulatorOptions(api_keys=frozenset({"s3"}), key_place=KeyPlace.HEADER)
    async with Simulator(options, clock=SteppedClock(START)) as simulator:
        assert (await ask(simulator, f"{QUOTE}?apikey=s3")).status == 401
        assert (await ask(simulator, QUOTE, Authorization="Bearer s3")).status == 200
        assert (await ask(simulator, QUOTE, X_Api_Key="s3")).status == 200


async def test_an_answer_takes_as_long_as_it_is_told(clock: SteppedClock) -> None:
    """The latency is waited for, by calls beside each other at the same time."""
    loop = asyncio.get_running_loop()
    options = SimulatorOptions(latency=timedelta(milliseconds=50), limits={"quote": Limit(concurrent=20)})
    async with Simulator(options, clock=clock) as simulator:
        began = loop.time()
        await asyncio.gather(*(ask(simulator, QUOTE) for _ in range(10)))
        assert loop.time() - began >= 0.05
        assert simulator.figures()["quote"].most_in_flight == 10
