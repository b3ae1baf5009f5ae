"""Reading costs what is read, however much there is already and however old the statistics are."""

import pytest

from livewell.fetching.tests.storing_surface import make_quotes
from livewell.kernel import Connection, Database
from livewell.testing import make_table, make_type

THERE = 20_000
KEYS = [f"K{n}" for n in range(1, 21)]
TABLES = ["public.quotes", "public.news", "livewell_private.record", "livewell_private.item"]
READ = "select count(value) from livewell.read_items($1, $2)"
FILL = """
insert into public.quotes (symbol, price, fetched_at) select 'K' || n, 1, now() from generate_series(1, {there}) as n;
insert into public.news (symbol, fetched_at, value)
select 'K' || n % 5000, now() - n * interval '1 second', '1' from generate_series(1, {there}) as n;
insert into livewell_private.record (data_type, key, value, fetched_at)
select 'note', 'K' || n, '1', now() from generate_series(1, {there}) as n;
insert into livewell_private.item (data_type, key, due_at) select 'note', 'K' || n, now() from generate_series(1,
    {there}) as n;
"""
# How often tables were read from end to end, and how many entries of all their indexes were read.
COUNTS = """
select sum(pg_stat_get_xact_numscans(t.name::regclass))::bigint, (
    select sum(pg_stat_get_xact_tuples_returned(i.indexrelid))::bigint from pg_index as i
    where i.indrelid = any (array(select name::regclass from unnest($1::text[]) as name))
)
from unnest($1::text[]) as t (name)
"""


async def counted(connection: Connection, data_type: str) -> tuple[int, int, int]:
    """How many values were found, how many tables read whole, how many entries of indexes."""
    async with connection.transaction():
        before = await connection.fetchrow(COUNTS, TABLES)
        found = await connection.fetchval(READ, data_type, KEYS)
        after = await connection.fetchrow(COUNTS, TABLES)
    assert before is not None
    assert after is not None
    return found, after[0] - before[0], after[1] - before[1]


async def test_reading_goes_by_the_index(owner: Database) -> None:
    """Twenty keys among twenty thousand rows, of records, of a table with one row a key and of one with many, are found
    by their index: no table is read from end to end, with statistics of the empty tables and with fresh ones.
    """
    await make_quotes(owner)
    await make_type(owner, "news", **await make_table(owner, "public.news"))
    await make_type(owner, "note")
    for table in TABLES:
        await owner.execute(f"alter table {table} set (autovacuum_enabled = false)")
    async with owner.connection() as connection:
        for data_type in ("quote", "news", "note"):
            for _ in range(6):
                await connection.fetchval(READ, data_type, KEYS)
        await connection.execute(FILL.format(there=THERE))
        for statistics in ("stale", "fresh"):
            if statistics == "fresh":
                await connection.execute("analyze")
            for data_type in ("quote", "news", "note"):
                found, whole, entries = await counted(connection, data_type)
                assert (found, whole) == (20, 0), (data_type, statistics)
                assert entries <= 400, (data_type, statistics)


@pytest.mark.parametrize("table", TABLES)
async def test_the_counts_see_a_table_read_whole(owner: Database, table: str) -> None:
    """What the plans are judged by counts a table that is read from end to end."""
    await make_quotes(owner)
    await make_table(owner, "public.news")
    async with owner.connection() as connection, connection.transaction():
        before = await connection.fetchrow(COUNTS, TABLES)
        await connection.fetch(f"select * from {table}")
        after = await connection.fetchrow(COUNTS, TABLES)
    assert before is not None
    assert after is not None
    assert after[0] - before[0] == 1
