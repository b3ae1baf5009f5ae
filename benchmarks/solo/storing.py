"""What storing costs: 500 refreshes beside a bare upsert of the same 500 rows, and with one bad row among them.

The store path is what `store_fetches` does before learning and finishing: the batch is read, its leases are locked and
compared, rows are judged (key, source time, hash) and upserted. The whole call, with items, jobs, budgets and notices,
is measured beside it and has no bar of its own. All are one transaction each, over the same rows, in turn.
"""

import hashlib
import statistics
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic_core import to_json

from benchmarks.harness import Bar, Context
from benchmarks.solo.queue import Queue, fresh_queue

ROWS = 500
FULL_ROUNDS, FULL_TURNS = 3, 30
QUICK_ROUNDS, QUICK_TURNS = 1, 10
STAGE = """
create table public.stored (
    symbol text primary key, name text not null, price numeric not null check (price > 0), change double precision,
    volume bigint, exchange text, source_at timestamptz not null, fetched_at timestamptz
) with (fillfactor = 70);
create table public.bare (like public.stored including all);
grant select on public.stored to livewell_reader;
grant insert, update on public.stored to livewell_writer;
insert into livewell_private.provider (name, quota_bytes) values ('bench', 20e15);
insert into livewell_private.quota_use (provider) values ('bench');
insert into livewell_private.endpoint (name, provider, requests_per_minute, concurrent, depth_limit)
values ('bench/quote', 'bench', 1000000000, 1000000000, null);
insert into livewell_private.limit_use (name) values ('bench/quote');
insert into livewell_private.data_type (
    name, endpoint, ttl, table_name, key_column, time_column, source_time_column, source_rule
)
values ('quote', 'bench/quote', '1 minute', 'public.stored', 'symbol', 'fetched_at', 'source_at', 'not_older');
"""
ITEMS = (
    "select livewell_private.make_items("
    "array_fill('quote'::text, array[cardinality($1::text[])]), $1, clock_timestamp())"
)
ENQUEUE = """
select livewell_private.queue_refreshes(array(
    select row (i.id, 1, 'stale', null, false)::livewell_private.wanted_refresh from livewell_private.item as i
), clock_timestamp())
"""
AWAKE = "update livewell_private.job_live set waiting_for = null, due_at = clock_timestamp()"
CLAIM = """
select c.job_id as job, c.lease_token as token, (c.payload ->> 'item')::bigint as item, 'quote' as type,
    c.payload ->> 'key' as key
from livewell.claim_jobs('w', '{refresh}', $1) as c
"""
STORE = """
select cardinality(livewell_private.store_by_type(
    livewell_private.lock_fetches(livewell_private.read_fetches($1::text::jsonb)), clock_timestamp()
))
"""
WHOLE = "select count(*) from livewell.store_fetches($1::text::jsonb)"
BARE = """
insert into public.bare (symbol, name, price, change, volume, exchange, source_at, fetched_at)
select * from unnest(
    $1::text[], $2::text[], $3::numeric[], $4::float[], $5::bigint[], $6::text[], $7::timestamptz[], $8::timestamptz[]
)
on conflict (symbol) do update
set name = excluded.name, price = excluded.price, change = excluded.change, volume = excluded.volume,
    exchange = excluded.exchange, source_at = excluded.source_at, fetched_at = excluded.fetched_at
"""

Row = dict[str, Any]


async def bars(context: Context) -> list[Bar]:
    rounds, turns = (QUICK_ROUNDS, QUICK_TURNS) if context.quick else (FULL_ROUNDS, FULL_TURNS)
    medians: dict[str, list[float]] = {}
    async with fresh_queue(context, "storing") as queue:
        await queue.other.execute(STAGE)
        await queue.other.execute(ITEMS, _keys())
        for _ in range(rounds):
            waits = await _round(queue, turns)
            for name, found in waits.items():
                medians.setdefault(name, []).append(statistics.median(found))
            await queue.other.execute(
                "vacuum analyze public.stored, public.bare, livewell_private.item, livewell_private.job"
            )
    times = {name: statistics.median(found) for name, found in medians.items()}
    context.rows += [
        {
            "contender": "livewell",
            "measure": name,
            "median": round(ROWS / wait),
            "unit": "rows/s",
            "sizes": {"rows": ROWS},
        }
        for name, wait in times.items()
    ]
    whole = f"the whole call: {times['bare upsert'] / times['whole call']:.2f}"
    return [
        Bar(
            name=f"store path, {ROWS} rows / bare upsert",
            value=times["bare upsert"] / times["store path"],
            at_least=0.3,
            note=whole,
        ),
        Bar(
            name=f"store path, one bad row of {ROWS} / none",
            value=times["store path"] / times["store path, one bad row"],
            at_least=0.5,
        ),
    ]


def _keys() -> list[str]:
    return [f"K{number:04}" for number in range(ROWS)]


async def _round(queue: Queue, turns: int) -> dict[str, list[float]]:
    """All of them in turn, each with rows never seen before; the first turn only warms up."""
    waits: dict[str, list[float]] = {}
    for turn in range(turns + 1):
        for name in ("bare upsert", "store path", "store path, one bad row", "whole call"):
            wait = await _timed(queue, name, turn)
            if turn:
                waits.setdefault(name, []).append(wait)
    return waits


async def _timed(queue: Queue, name: str, turn: int) -> float:
    rows = _rows(turn)
    if name == "bare upsert":
        started = time.perf_counter()
        columns = [list(column) for column in zip(*(row.values() for row in rows), strict=True)]
        await queue.claimer.execute(BARE, *columns, [rows[0]["source_at"]] * ROWS)
        return time.perf_counter() - started
    if name == "store path, one bad row":
        rows[turn * 37 % ROWS]["price"] = -1
    ended = await _held(queue, rows)
    started = time.perf_counter()
    await queue.claimer.execute(WHOLE if name == "whole call" else STORE, to_json(ended).decode())
    wait = time.perf_counter() - started
    if name != "whole call":
        await queue.claimer.execute(WHOLE, to_json(ended).decode())
    return wait


def _rows(turn: int) -> list[Row]:
    now = datetime.now(UTC)
    return [
        {
            "symbol": key,
            "name": f"The company of {key}",
            "price": 100 + turn + number / 100,
            "change": number / 7,
            "volume": 1_000_000 + turn * number,
            "exchange": "XNAS",
            "source_at": now + timedelta(microseconds=turn),
        }
        for number, key in enumerate(_keys())
    ]


async def _held(queue: Queue, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The refreshes of these rows, held by a worker and ended by what they brought."""
    await queue.other.execute(ENQUEUE)
    await queue.other.execute(AWAKE)
    held = {record["key"]: dict(record) for record in await queue.other.fetch(CLAIM, ROWS)}
    return [
        {
            **held[row["symbol"]],
            "outcome": "fetched",
            "rows": [row],
            "hash": hashlib.sha256(to_json(row)).hexdigest(),
            "bytes": 400,
        }
        for row in rows
    ]
