"""A provider that answers, a type fetched from it, and workers that do: what the bars of refreshes share."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from pydantic_core import to_json

from benchmarks.field import own
from benchmarks.harness import Context, child_lines
from benchmarks.solo.queue import TEMPLATE

STAGE = """
create table public.quoted (
    symbol text primary key, price double precision not null, volume bigint not null, exchange text not null,
    description text not null, source_at timestamptz not null, fetched_at timestamptz
) with (fillfactor = 70);
grant select on public.quoted to livewell_reader;
grant insert, update on public.quoted to livewell_writer;
insert into livewell_private.provider (name, quota_bytes, base_url, allow_private) values ('bench', 20e15, '{url}',
    true);
insert into livewell_private.quota_use (provider) values ('bench');
insert into livewell_private.endpoint (name, provider, requests_per_minute, concurrent, depth_limit)
values ('bench/quote', 'bench', 1000000000, 1000000000, null);
insert into livewell_private.limit_use (name) values ('bench/quote');
insert into livewell_private.data_type (
    name, endpoint, ttl, table_name, key_column, time_column, source_time_column, source_rule, expected_bytes,
    keys_per_request, fetch_call, fields
)
values (
    'quote', 'bench/quote', '1 minute', 'public.quoted', 'symbol', 'fetched_at', 'source_at', 'not_older', {bytes},
    {keys}, '{call}', '{fields}'
);
select livewell_private.make_items(
    array_fill('quote'::text, array[{items}]),
    array(select '{prefix}' || i from generate_series(1, {items}) as i), clock_timestamp()
);
analyze livewell_private.item;
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


@asynccontextmanager
async def answering(*, delay: float = 0.0) -> AsyncIterator[str]:
    """The server that answers, in a process of its own; its URL."""
    command = (sys.executable, "-m", "benchmarks.stage.answers", "--delay", str(delay))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None  # noqa: S101 - asked for above
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}"
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def declared(
    context: Context,
    url: str,
    *,
    items: int,
    keys_per_request: int = 1,
    prefix: str = "K",
    expected_bytes: int = 1_200,
) -> AsyncIterator[str]:
    """A database in which so many keys of a type are known, and nothing is queued; where it is."""
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
        yield database


async def child(context: Context, module: str, database: str, plan: dict[str, Any]) -> dict[str, float]:
    """What a program measured, by name."""
    found: dict[str, float] = {}
    async for line in child_lines(own(module)(), database, plan):
        if "version" in line:
            context.versions[module] = line["version"]
        else:
            found[line["measure"]] = line["value"]
    return found
