"""Storing costs what is stored, however much there is already and however old the statistics are."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from pydantic_core import to_json

from livewell.fetching.tests.storing_surface import (
    HOUR,
    NOON,
    STORE,
    Storing,
    Told,
    fetched,
    make_quotes,
    unchanged,
)
from livewell.kernel import Connection, Database
from livewell.testing import make_type

THERE = 20_000
KEYS = [f"K{n}" for n in range(1, 21)]
TABLES = [
    "public.quotes",
    "livewell_private.record",
    "livewell_private.item",
    "livewell_private.job_live",
    "livewell_private.fetch_state",
]
FILL = """
insert into public.quotes (symbol, price, source_at) select 'X' || n, 1, now() from generate_series(1, {there}) as n;
insert into livewell_private.record (data_type, key, value) select 'note', 'X' || n, '1' from generate_series(1,
    {there}) as n;
insert into livewell_private.item (data_type, key, due_at) select 'note', 'X' || n, now() from generate_series(1,
    {there}) as n;
insert into livewell_private.fetch_state select i.id, 'e' from livewell_private.item as i where i.key like 'X%';
insert into livewell_private.job_live (lane_id, kind, priority, due_at, retries, payload, created_at)
select l.id, l.kind, 0, 'infinity', 3, '{{"n": 1}}', now() from generate_series(1, {there}) as n,
    (select * from livewell_private.job_lane limit 1) as l;
"""
# Of a table: how often it was read from end to end; of each index: how many entries were read.
COUNTS = """
select t.name, pg_stat_get_xact_numscans(t.name::regclass) from unnest($1::text[]) as t (name)
union all
select i.indexrelid::regclass::text, pg_stat_get_xact_tuples_returned(i.indexrelid)
from unnest($1::text[]) as t (name) join pg_index as i on i.indrelid = t.name::regclass
"""


async def ended(connection: Connection, hour: int) -> list[Told]:
    """A batch of both types, fetched and unchanged, held."""
    storing, now = Storing(connection), NOON + hour * HOUR
    batch: list[Told] = []
    for name in ("quote", "note"):
        held = await storing.hold(name, *KEYS, now=now)
        batch += [
            fetched(job, {"price": hour}, source_time=now, etag=f'"{hour}"') if hour < 4 or n % 2 else unchanged(job)
            for n, job in enumerate(held)
        ]
    return batch


@pytest_asyncio.fixture
async def filled(owner: Database) -> AsyncIterator[Connection]:
    """A session whose plans were made while nothing was there, before tables that have filled up since."""
    await make_quotes(owner, source_time_column="source_at")
    await make_type(owner, "note", source_rule="not_older")
    for table in TABLES:
        await owner.execute(f"alter table {table} set (autovacuum_enabled = false)")
    async with owner.connection() as connection:
        for hour in range(1, 4):
            await connection.fetch(STORE, to_json(await ended(connection, hour)).decode(), NOON + hour * HOUR)
        await connection.execute(FILL.format(there=THERE))
        yield connection


@pytest.mark.parametrize("statistics", ["stale", "fresh"])
async def test_storing_reads_what_it_stores(filled: Connection, statistics: str) -> None:
    """Forty refreshes among twenty thousand rows, items and jobs read no table and no index from end to end."""
    if statistics == "fresh":
        await filled.execute("analyze")
    batch = to_json(await ended(filled, 4)).decode()
    async with filled.transaction():
        before = await counts(filled)
        rows = await filled.fetch(STORE, batch, NOON + 4 * HOUR)
        after = await counts(filled)
    assert {row["state"] for row in rows} == {"completed"}
    read = {name: count - before[name] for name, count in after.items()}
    assert {name: count for name, count in read.items() if count > (0 if name in TABLES else 500)} == {}


async def counts(connection: Connection) -> dict[str, int]:
    return {row[0]: row[1] for row in await connection.fetch(COUNTS, TABLES)}
