"""Every fault of the simulator, against a declared and a written fetcher: the right outcome and every byte."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from livewell.fetching import Answered, Asked, Call, Client, Fetched, Fetcher, Fetching, Model, bounded, source_of
from livewell.fetching.tests.stage import a_provider, a_type, an_endpoint
from livewell.simulator import FAULTS, FaultKind, Simulator, SimulatorOptions, symbol_names

FIELDS: dict[str, Any] = {
    "symbol": {"type": "string"},
    "name": {"type": "string", "min_length": 1},
    "price": {"type": "number", "above": 0, "below": 10_000_000},
    "change": {"type": "number"},
    "change_percent": {"type": "number", "from": "changesPercentage", "above": -100},
    "day_low": {"type": "number", "from": "dayLow", "above": 0},
    "day_high": {"type": "number", "from": "dayHigh", "above": 0},
    "volume": {"type": "integer", "at_least": 0},
    "market_cap": {"type": "integer", "from": "marketCap", "above": 0},
    "exchange": {"type": "string"},
    "timestamp": {"type": "epoch", "source_time": True, "rule": "not_older"},
}


class Quote(Model):
    symbol: str
    name: str = bounded(min_length=1)
    price: float = bounded(gt=0, lt=10_000_000)
    change: float
    change_percent: float = bounded(gt=-100, alias="changesPercentage")
    day_low: float = bounded(gt=0, alias="dayLow")
    day_high: float = bounded(gt=0, alias="dayHigh")
    volume: int = bounded(ge=0)
    market_cap: int = bounded(gt=0, alias="marketCap")
    exchange: str
    timestamp: int


class QuoteFetcher(Fetcher[Quote]):
    key = "symbol"

    async def fetch(self, call: Call) -> Sequence[Any]:
        return await call.get(f"/api/v3/quote/{','.join(call.keys)}").items("$[*]")


# What faults come to for all keys of a request, with the reasons they may have.
REFUSED_ALL = {
    FaultKind.EMPTY: {"empty"},
    FaultKind.EMPTY_LIST: {"missing_key"},
    FaultKind.EMPTY_OBJECT: {"schema"},
    FaultKind.NULL: {"schema"},
    FaultKind.ERROR_OBJECT: {"schema"},
    FaultKind.TRUNCATED: {"not_json"},
    FaultKind.HTML: {"wrong_type"},
    FaultKind.BOM: {"not_json"},
    FaultKind.INVALID_UTF8: {"not_json"},
    FaultKind.NAN: {"not_json"},
    FaultKind.INFINITY: {"not_json"},
    FaultKind.NESTED: {"too_large"},
    FaultKind.LARGE: {"too_large"},
    FaultKind.LARGE_HEADERS: {"too_large"},
    FaultKind.DENSE: {"too_large"},
    FaultKind.TINY_CHUNKS: {"too_large"},
    FaultKind.CHUNK_EXTENSIONS: {"too_large"},
    FaultKind.ANNOUNCED: {"too_large"},
    FaultKind.BOMB: {"too_large"},
    FaultKind.EMPTY_MEMBERS: {"encoding", "too_large"},
    FaultKind.LENGTH_TOO_SHORT: {"wrong_length", "not_json", "encoding"},
    FaultKind.BAD_GZIP: {"encoding"},
    FaultKind.UNKNOWN_ENCODING: {"encoding"},
    FaultKind.RENAMED_FIELD: {"schema"},
    FaultKind.MISSING_FIELD: {"schema"},
    FaultKind.NULL_FIELD: {"schema"},
    FaultKind.EXTRA_FIELD: {"schema"},
    FaultKind.WRONG_TYPE: {"schema"},
    FaultKind.ABSURD_VALUE: {"bounds"},
    FaultKind.DUPLICATE_ROWS: {"duplicate_rows"},
}
FAILED_ALL = {
    FaultKind.SLOW: {"timeout"},
    FaultKind.DRIP: {"timeout"},
    FaultKind.HANG: {"timeout"},
    FaultKind.HANG_IN_BODY: {"timeout"},
    FaultKind.RESET: {"reset"},
    FaultKind.RESET_IN_BODY: {"reset", "truncated"},
    FaultKind.ERROR_500: {"status"},
    FaultKind.ERROR_502: {"status"},
    FaultKind.ERROR_503: {"status"},
    FaultKind.UNAUTHORIZED: {"unauthorized"},
    FaultKind.NOT_FOUND: {"status"},
    FaultKind.GONE: {"status"},
    FaultKind.LENGTH_TOO_LONG: {"truncated"},
    FaultKind.REDIRECT_OTHER: {"forbidden_address"},
    FaultKind.REDIRECT_PRIVATE: {"forbidden_address"},
    FaultKind.REDIRECT_LOOP: {"redirect"},
}
THROTTLED = {kind for kind in FaultKind if kind.startswith("throttled")}
WELL_BEHAVED = {
    FaultKind.NO_LENGTH,
    FaultKind.CHUNKED,
    FaultKind.REDIRECT_SAME,
    FaultKind.OTHER_KEY,
    FaultKind.OLD_DATA,
}
CUT_OFF = {
    *(FaultKind.LARGE, FaultKind.DENSE, FaultKind.BOMB, FaultKind.EMPTY_MEMBERS, FaultKind.LARGE_HEADERS),
    *(FaultKind.TINY_CHUNKS, FaultKind.CHUNK_EXTENSIONS, FaultKind.ANNOUNCED, FaultKind.DRIP, FaultKind.SLOW),
}


def told(answers: list[Answered]) -> list[tuple[str, str | None]]:
    return [(answer.outcome.word, getattr(answer.outcome, "reason", None)) for answer in answers]


def expected(kind: FaultKind) -> list[tuple[str, set[str | None]]]:
    """By the two keys of a request."""
    if kind in REFUSED_ALL:
        return [("refused", {*REFUSED_ALL[kind]})] * 2
    if kind in FAILED_ALL:
        return [("failed", {*FAILED_ALL[kind]})] * 2
    if kind in THROTTLED:
        return [("throttled", {None})] * 2
    if kind is FaultKind.BAD_ROW:
        return [("fetched", {None}), ("refused", {"schema"})]
    if kind is FaultKind.MISSING_KEY:
        return [("fetched", {None}), ("refused", {"missing_key"})]
    return [("fetched", {None})] * 2


async def ask(
    simulator: Simulator, client: Client, keys: Sequence[str], *, written: bool, seconds: float = 10
) -> list[Answered]:
    source = source_of(
        a_type(
            fields=FIELDS,
            fetch_call={"path": "/api/v3/quote/{keys}", "key": "symbol"},
            keys_per_request=len(keys),
        ),
        a_provider(simulator.url),
        an_endpoint(call_timeout=timedelta(seconds=seconds), max_bytes=1_000_000),
        fetcher=QuoteFetcher if written else None,
    )
    return await Fetching(client).fetch(source, [Asked(data_type="quote", key=key) for key in keys])


@pytest.mark.parametrize("written", [False, True], ids=["declared", "written"])
@pytest.mark.parametrize("kind", FAULTS)
async def test_a_fault_has_its_outcome(kind: FaultKind, written: bool) -> None:  # noqa: FBT001 - of the two kinds
    """Nothing bad is believed, nothing good is refused with it, and the bytes are those the simulator sent."""
    keys = symbol_names(2)
    field = "price" if kind in {FaultKind.WRONG_TYPE, FaultKind.ABSURD_VALUE, FaultKind.NULL_FIELD} else None
    async with Simulator(SimulatorOptions(symbols=keys)) as simulator, Client() as client:
        simulator.fault(kind, "quote", **({"field": field} if field else {}))
        seconds = 0.5 if FAILED_ALL.get(kind) == {"timeout"} else 10
        answers = await ask(simulator, client, keys, written=written, seconds=seconds)
        for (word, reason), (wanted, reasons) in zip(told(answers), expected(kind), strict=True):
            assert (word, reason in reasons) == (wanted, True), answers
        assert all(answer.sent for answer in answers)
        if kind not in CUT_OFF:
            await client.close()
            await simulator.settled()
            assert sum(answer.bytes or 0 for answer in answers) == sum(call.bytes_out for call in simulator.calls)


async def test_an_unchanged_quote_is_not_sent_again() -> None:
    """The simulator's marks come back to it, and 304 costs its head alone."""
    (key,) = symbol_names(1)
    async with (
        Simulator(SimulatorOptions(symbols=[key], rhythm={"quote": timedelta(days=1)})) as simulator,
        Client() as client,
    ):
        first = (await ask(simulator, client, [key], written=False))[0]
        assert isinstance(first.outcome, Fetched)
        assert isinstance(first.outcome.source_time, datetime)
        source = source_of(
            a_type(fields=FIELDS, fetch_call={"path": "/api/v3/quote/{keys}", "key": "symbol"}),
            a_provider(simulator.url),
            an_endpoint(),
        )
        asked = Asked(data_type="quote", key=key, etag=first.outcome.etag, last_modified=first.outcome.last_modified)
        again = (await Fetching(client).fetch(source, [asked]))[0]
        assert again.outcome.word == "unchanged"
        assert (again.bytes or 0) < (first.bytes or 0)
