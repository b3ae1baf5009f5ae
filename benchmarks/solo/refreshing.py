"""The whole path of a refresh beside the raw loop: the same server, as many requests at once, in turn.

Asking for twenty keys at a time is measured beside asking for one. A worker's memory is looked at before and after
many fetches, and while 200 large answers are under way.
"""

import asyncio
import statistics
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from pydantic_core import to_json

from benchmarks.field import own
from benchmarks.harness import Bar, Context, child_lines
from benchmarks.solo.queue import TEMPLATE

CONCURRENCY = 100
KEYS_AT_ONCE = 20
ANSWER = "1 KB"
STAGE = """
create table public.quoted (
    symbol text primary key, price double precision not null, volume bigint not null, exchange text not null,
    description text not null, source_at timestamptz not null, fetched_at timestamptz
) with (fillfactor = 70);
grant select, insert, update on public.quoted to livewell_owner;
insert into livewell.provider (name, quota_bytes, base_url, allow_private) values ('bench', 20e15, '{url}', true);
insert into livewell.quota_use (provider) values ('bench');
insert into livewell.endpoint (name, provider, requests_per_minute, concurrent, depth_limit, serial_keys)
values ('bench/quote', 'bench', 1000000000, 1000000000, null, false);
insert into livewell.limit_use (name) values ('bench/quote');
insert into livewell.data_type (
    name, endpoint, ttl, table_name, key_column, time_column, source_time_column, source_rule, expected_bytes,
    keys_per_request, fetch_call, fields
)
values (
    'quote', 'bench/quote', '1 minute', 'public.quoted', 'symbol', 'fetched_at', 'source_at', 'not_older', {bytes},
    {keys}, '{call}', '{fields}'
);
select livewell.make_items(
    array_fill('quote'::text, array[{items}]),
    array(select '{prefix}' || i from generate_series(1, {items}) as i), clock_timestamp()
);
analyze livewell.item;
"""
CALL = {"path": "/quote/{keys}", "items": "$[*]", "key": "symbol"}
FIELDS = {
    "symbol": {"type": "string"},
    "price": {"type": "number", "above": 0},
    "volume": {"type": "integer", "at_least": 0},
    "exchange": {"type": "string"},
    "source_at": {"type": "epoch", "from": "timestamp", "source_time": True},
    "description": {"type": "string", "min_length": 1},
}


async def bars(context: Context) -> list[Bar]:
    items, turns = (4_000, 1) if context.quick else (20_000, 2)
    found: dict[str, list[float]] = {"raw": [], "one": [], "many": []}
    async with answering() as url:
        for _ in range(context.rounds):
            raw = {"url": url, "requests": items, "concurrency": CONCURRENCY}
            found["raw"].append((await _child(context, "raw_requests", "", raw))["requests"])
            for name, keys in (("one", 1), ("many", KEYS_AT_ONCE)):
                figures = await _refreshes(context, url, items=items, turns=turns, keys_per_request=keys)
                found[name].append(figures["items"])
        memory = await _refreshes(context, url, items=20_000 if not context.quick else 4_000, turns=10)
        large = await _refreshes(
            context, url, items=200, turns=3, concurrency=200, prefix="LARGE", expected_bytes=500_000
        )
    raw_rate, one, many = (statistics.median(found[name]) for name in ("raw", "one", "many"))
    _add_rows(context, found, items)
    fetches = (20_000 if not context.quick else 4_000) * 10
    return [
        Bar(name="whole path / raw aiohttp, requests", value=one / raw_rate, at_least=0.35, note=f"{ANSWER} answers"),
        Bar(
            name=f"{KEYS_AT_ONCE} keys a request / one, items",
            value=many / one,
            at_least=4.0,
            note=f"{many:,.0f} and {one:,.0f} items/s",
        ),
        Bar(
            name="memory after many fetches / before",
            value=memory["resident_last"] / memory["resident_first"],
            at_most=1.15,
            note=f"{fetches:,} fetches, {memory['resident_last']:.0f} MB",
        ),
        Bar(name="memory at 200 answers of 500 KB at once, MB", value=large["peak"], at_most=150.0),
    ]


async def _refreshes(
    context: Context,
    url: str,
    *,
    items: int,
    turns: int,
    keys_per_request: int = 1,
    concurrency: int = CONCURRENCY,
    prefix: str = "K",
    expected_bytes: int = 1_200,
) -> dict[str, float]:
    """One worker on a database of its own."""
    stage = STAGE.format(
        url=url,
        bytes=expected_bytes,
        keys=keys_per_request,
        call=to_json(CALL).decode(),
        fields=to_json(FIELDS).decode(),
        items=items,
        prefix=prefix,
    )
    async with context.server.database("solo_refreshing", template=TEMPLATE) as database:
        connection = await asyncpg.connect(database)
        await connection.execute(stage)
        await connection.close()
        plan = {
            "items": items,
            "warm_up": min(items, 2_000),
            "turns": turns,
            "concurrency": concurrency * keys_per_request,
            "claim_batch": 500,
        }
        return await _child(context, "refreshes", database, plan)


async def _child(context: Context, module: str, database: str, plan: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    async for line in child_lines(own(module)(), database, plan):
        if "version" in line:
            context.versions[module] = line["version"]
        else:
            found[line["measure"]] = line["value"]
    return found


@asynccontextmanager
async def answering(*, delay: float = 0.0) -> AsyncIterator[str]:
    """The server that answers, in a process of its own; its URL."""
    command = (sys.executable, "-m", "benchmarks.stage.answers", "--delay", str(delay))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None  # noqa: S101 - asked for above
        port = int(await process.stdout.readline())
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


def _add_rows(context: Context, found: dict[str, list[float]], items: int) -> None:
    names = {
        "raw": ("raw aiohttp", "requests"),
        "one": ("livewell", "whole path, one key a request"),
        "many": ("livewell", f"whole path, {KEYS_AT_ONCE} keys a request"),
    }
    context.rows += [
        {
            "contender": names[name][0],
            "measure": names[name][1],
            "median": round(statistics.median(values)),
            "unit": "1/s",
            "samples": [round(value) for value in values],
            "sizes": {"items": items, "concurrency": CONCURRENCY},
        }
        for name, values in found.items()
    ]
