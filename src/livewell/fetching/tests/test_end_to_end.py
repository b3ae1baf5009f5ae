"""From the provider to a table and back: declared, fetched, read, stored, finished and settled."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest_asyncio

from livewell.fetching import Asked, Client, EndedFetch, Fetching, FetchStore, check_fetching, read_source
from livewell.fetching.tests.storing_surface import Storing
from livewell.kernel import Database
from livewell.registry import RegistryStore
from livewell.simulator import FaultKind, Simulator, SimulatorOptions, symbol_names
from livewell.testing import grant_table, make_endpoint

KEYS = symbol_names(3)
FIELDS: dict[str, Any] = {
    "symbol": {"type": "string"},
    "name": {"type": "string"},
    "price": {"type": "number", "above": 0},
    "change": {"type": "number"},
    "change_percent": {"type": "number", "from": "changesPercentage"},
    "day_low": {"type": "number", "from": "dayLow"},
    "day_high": {"type": "number", "from": "dayHigh"},
    "volume": {"type": "integer"},
    "market_cap": {"type": "integer", "from": "marketCap"},
    "exchange": {"type": "string"},
    "source_at": {"type": "epoch", "from": "timestamp", "source_time": True, "rule": "not_older"},
}
TABLE = """
create table public.live_quotes (
    symbol text primary key, name text not null, price numeric not null, change numeric, change_percent numeric,
    day_low numeric, day_high numeric, volume bigint, market_cap bigint, exchange text,
    source_at timestamptz not null, fetched_at timestamptz
)
"""


@pytest_asyncio.fixture
async def simulator(owner: Database) -> Any:
    """A provider with quotes that stay as they are, declared with a table of its own."""
    options = SimulatorOptions(symbols=KEYS, rhythm={"quote": timedelta(days=1)})
    async with Simulator(options) as provider:
        await make_endpoint(owner, "sim/quote")
        await owner.execute(
            "select livewell.set_provider('sim', jsonb_build_object('base_url', $1::text, 'allow_private', true))",
            provider.url,
        )
        await owner.execute(TABLE)
        await grant_table(owner, "public.live_quotes")
        wanted = {
            "endpoint": "sim/quote",
            "ttl": "1 minute",
            "table_name": "public.live_quotes",
            "key_column": "symbol",
            "time_column": "fetched_at",
            "source_time_column": "source_at",
            "source_rule": "not_older",
            "keys_per_request": 20,
            "fetch_call": {"path": "/api/v3/quote/{keys}", "key": "symbol"},
            "fields": FIELDS,
        }
        await RegistryStore(owner).apply_types({"quote": wanted}, plan_only=False, actor="tests")
        yield provider


async def _refresh(owner: Database, storing: Storing) -> tuple[dict[str, tuple[str, str]], int]:
    """Hold, fetch and store all keys, as a worker does; what became of each, and the bytes they cost."""
    held = {leased["key"]: leased for leased in await storing.hold("quote", *KEYS, now=datetime.now(UTC))}
    (data_type,) = await RegistryStore(owner).list_types(["quote"])
    async with Client() as client:
        source = await read_source(owner, data_type)
        answers = await Fetching(client).fetch(source, [Asked(data_type="quote", key=key) for key in KEYS])
    ended = [
        EndedFetch(
            job_id=held[one.key]["job"],
            lease_token=held[one.key]["token"],
            item_id=held[one.key]["item"],
            data_type="quote",
            key=one.key,
            outcome=one.outcome,
            bytes=one.bytes,
            rate=one.rate,
            sent=one.sent,
        )
        for one in answers
    ]
    stored = {
        stored_fetch.job_id: (stored_fetch.state, stored_fetch.outcome)
        for stored_fetch in await FetchStore(owner).store_fetches(ended)
    }
    return {key: stored[held[key]["job"]] for key in KEYS}, sum(answer.bytes or 0 for answer in answers)


async def test_what_the_provider_has_is_in_the_table(owner: Database, storing: Storing, simulator: Simulator) -> None:
    """Each key's row as its model has it, with its source time; the same again is unchanged; every byte is known."""
    assert await check_fetching(owner) == []
    first, spent = await _refresh(owner, storing)
    assert first == dict.fromkeys(KEYS, ("completed", "fetched"))
    rows = await owner.fetch("select * from public.live_quotes order by symbol")
    assert [row["symbol"] for row in rows] == sorted(KEYS)
    assert all(row["price"] > 0 and row["source_at"] and row["fetched_at"] for row in rows)
    again, more = await _refresh(owner, storing)
    assert again == dict.fromkeys(KEYS, ("completed", "unchanged"))
    await simulator.settled()
    assert spent + more == sum(call.bytes_out for call in simulator.calls)


async def test_a_bad_row_leaves_what_is_stored(owner: Database, storing: Storing, simulator: Simulator) -> None:
    """The key it belongs to is refused and tried again later; the others are stored."""
    await _refresh(owner, storing)
    simulator.fault(FaultKind.BAD_ROW, "quote")
    before = await owner.fetch("select * from public.live_quotes where symbol = $1", KEYS[-1])
    found, _ = await _refresh(owner, storing)
    assert found == {**dict.fromkeys(KEYS[:-1], ("completed", "unchanged")), KEYS[-1]: ("pending", "refused")}
    assert await owner.fetch("select * from public.live_quotes where symbol = $1", KEYS[-1]) == before
