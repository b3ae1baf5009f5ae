"""Contracts 5, 6a and 21 where data is fetched: nothing is believed unseen, every byte counts, nothing hangs."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from livewell.fetching import Answered, Asked, CallLimits, Client, Fetched, Fetching, source_of
from livewell.fetching.tests.stage import a_provider, a_type, an_endpoint
from livewell.simulator import FaultKind, Simulator, SimulatorOptions, symbol_names

Proof = Callable[[], Awaitable[None]]
KEYS = symbol_names(2)
FIELDS: dict[str, Any] = {
    "symbol": {"type": "string"},
    "name": {"type": "string"},
    "price": {"type": "number", "above": 0},
    "change": {"type": "number"},
    "changesPercentage": {"type": "number"},
    "dayLow": {"type": "number"},
    "dayHigh": {"type": "number"},
    "volume": {"type": "integer"},
    "marketCap": {"type": "integer"},
    "exchange": {"type": "string"},
    "timestamp": {"type": "epoch", "source_time": True},
}


async def _fetch(simulator: Simulator, *, asked: str = "quote", seconds: float = 5) -> list[Answered]:
    source = source_of(
        a_type(
            fields=FIELDS,
            fetch_call={"path": "/api/v3/quote/{keys}", "key": "symbol"},
            keys_per_request=len(KEYS),
        ),
        a_provider(simulator.url),
        an_endpoint(call_timeout=timedelta(seconds=seconds), max_bytes=1_000_000),
    )
    async with Client() as client:
        return await Fetching(client).fetch(source, [Asked(data_type=asked, key=key) for key in KEYS])


def _simulator(**options: Any) -> Simulator:
    return Simulator(SimulatorOptions(symbols=KEYS, **options))


async def _another_type_is_refused() -> None:
    async with _simulator() as simulator:
        answers = await _fetch(simulator, asked="profile")
        assert [answer.outcome.word for answer in answers] == ["refused"] * 2
        assert simulator.calls == ()


async def _nothing_is_fetched(kind: FaultKind) -> None:
    async with _simulator() as simulator:
        simulator.fault(kind, "quote", field="price")
        assert not any(isinstance(answer.outcome, Fetched) for answer in await _fetch(simulator))


async def _an_unknown_field_is_refused() -> None:
    await _nothing_is_fetched(FaultKind.EXTRA_FIELD)


async def _a_retyped_field_is_refused() -> None:
    await _nothing_is_fetched(FaultKind.WRONG_TYPE)


async def _an_absurd_value_is_refused() -> None:
    await _nothing_is_fetched(FaultKind.ABSURD_VALUE)


async def _a_key_left_out_is_not_fetched() -> None:
    async with _simulator() as simulator:
        simulator.fault(FaultKind.MISSING_KEY, "quote")
        assert [answer.outcome.word for answer in await _fetch(simulator)] == ["fetched", "refused"]


BELIEFS = [
    _another_type_is_refused,
    _an_unknown_field_is_refused,
    _a_retyped_field_is_refused,
    _an_absurd_value_is_refused,
    _a_key_left_out_is_not_fetched,
]


@pytest.mark.parametrize("proof", BELIEFS)
async def test_contract_5_a_fetcher_believes_nothing(proof: Proof) -> None:
    """Contract 5: the type of the job, the whole shape of the answer and the sanity of its values are checked."""
    await proof()


@pytest.mark.parametrize(
    ("guard", "instead", "proof"),
    [
        ("engine._objection", lambda *_: None, BELIEFS[0]),
        ("rows.RowReader.read", lambda _, row: {**row}, BELIEFS[1]),
        ("rows.RowReader.read", lambda _, row: {**row}, BELIEFS[2]),
        ("models._BOUNDS", {}, BELIEFS[3]),
        ("judge._judge_absent", lambda *_, **__: _taken(), BELIEFS[4]),
    ],
)
async def test_contract_5_needs_its_guards(
    guard: str, instead: object, proof: Proof, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its guard each proof of contract 5 fails."""
    monkeypatch.setattr(f"livewell.fetching.{guard}", instead)
    monkeypatch.setattr("livewell.fetching.rows.RowReader.time_of", lambda *_: None)
    with pytest.raises(AssertionError):
        await proof()


def _taken() -> Fetched:
    return Fetched(rows=[{}], content_hash=b"")


async def _every_byte_is_counted() -> None:
    for kind in (None, FaultKind.CHUNKED, FaultKind.NO_LENGTH, FaultKind.ERROR_500, FaultKind.REDIRECT_SAME):
        for gzip in (True, False):
            async with _simulator(gzip=gzip) as simulator:
                if kind is not None:
                    simulator.fault(kind, "quote")
                answers = await _fetch(simulator)
                await simulator.settled()
                assert sum(answer.bytes or 0 for answer in answers) == sum(call.bytes_out for call in simulator.calls)


async def _a_missing_length_is_warned_about() -> None:
    async with _simulator() as simulator:
        simulator.fault(FaultKind.NO_LENGTH, "quote")
        answers = await _fetch(simulator)
        assert [warning.code for warning in answers[0].warnings] == ["content_length_missing"]


BYTES = [_every_byte_is_counted, _a_missing_length_is_warned_about]


@pytest.mark.parametrize("proof", BYTES)
async def test_contract_6a_bytes_are_counted_as_transferred(proof: Proof) -> None:
    """Contract 6a: headers and body as sent, whatever the headers say; a missing Content-Length is told."""
    await proof()


@pytest.mark.parametrize(
    ("guard", "instead", "proof"),
    [("wire.Meter.count", lambda *_: None, BYTES[0]), ("client._check_length", lambda *_: None, BYTES[1])],
)
async def test_contract_6a_needs_its_guards(
    guard: str, instead: object, proof: Proof, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its guard each proof of contract 6a fails."""
    monkeypatch.setattr(f"livewell.fetching.{guard}", instead)
    with pytest.raises(AssertionError):
        await proof()


async def _a_call_ends_in_time(kind: FaultKind) -> None:
    async with _simulator() as simulator:
        simulator.fault(kind, "quote")
        try:
            async with asyncio.timeout(3):
                answers = await _fetch(simulator, seconds=0.2)
        except TimeoutError:
            raise AssertionError("a call without an end") from None
        assert [answer.outcome.word for answer in answers] == ["failed"] * 2


@pytest.mark.parametrize("kind", [FaultKind.HANG, FaultKind.HANG_IN_BODY, FaultKind.DRIP])
async def test_contract_21_a_call_has_its_own_short_timeout(kind: FaultKind) -> None:
    """Contract 21: slow is a failure, before the first byte and after it, at the endpoint's own limit."""
    await _a_call_ends_in_time(kind)


async def test_contract_21_needs_its_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the limit of the call a body that does not end hangs."""
    monkeypatch.setattr(
        "livewell.fetching.sources.CallLimits",
        lambda seconds, max_bytes: CallLimits(seconds=seconds * 1e4, max_bytes=max_bytes),
    )
    with pytest.raises(AssertionError):
        await _a_call_ends_in_time(FaultKind.HANG_IN_BODY)
