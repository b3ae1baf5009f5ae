"""Storing beside others: no deadlock, no older row over a newer one, and nothing of what is not committed."""

import asyncio

import pytest

from livewell.fetching.tests.storing_surface import HOUR, MINUTE, NOON, Storing, fetched, make_quotes, unchanged
from livewell.jobs.tests.sql_surface import somebody_waits
from livewell.kernel import Database, DatabaseOptions, connect
from livewell.testing import make_type, until, wait_long


async def test_rivals_on_the_same_rows(owner: Database, storing: Storing) -> None:
    """Two types that keep the same rows, each batch in its own order, wait for each other and never lock up."""
    await make_quotes(owner)
    columns = {"table_name": "public.quotes", "key_column": "symbol", "time_column": "fetched_at"}
    await make_type(owner, "rival", **columns)
    keys = [f"K{n:02}" for n in range(40)]

    async def go(name: str, order: list[str], number: int) -> None:
        async with owner.connection() as connection:
            mine = Storing(connection)
            for turn in range(8):
                now = NOON + turn * MINUTE
                held = await mine.hold(name, *order, now=now)
                ended = [fetched(job, {"price": turn + 1, "volume": number}) for job in held]
                if turn % 2:
                    ended[::3] = [unchanged(job) for job in held[::3]]
                assert {verdict[0] for verdict in (await mine.end(*ended, now=now)).values()} == {"completed"}

    await asyncio.gather(go("quote", keys, 1), go("rival", keys[::-1], 2))
    assert await owner.fetchval("select count(*) from public.quotes") == 40


async def test_rows_are_locked_in_one_order(owner: Database, storing: Storing) -> None:
    """What is only touched is locked in its turn: of two batches, each writing what the other touches, one waits."""
    await make_quotes(owner)
    columns = {"table_name": "public.quotes", "key_column": "symbol", "time_column": "fetched_at"}
    await make_type(owner, "rival", **columns)
    await wait_long(owner, "lock_keys", "store_rows", "touch_keys")
    keys = ["K0", "K1", "K2", "K3"]
    batches = []
    for name, touched in (("quote", "K0"), ("rival", "K1")):
        await storing.fetch(name, {key: {"price": 1} for key in keys})
        held = await storing.hold(name, *keys, now=NOON + MINUTE)
        batches.append([unchanged(told) if told["key"] == touched else fetched(told, {"price": 2}) for told in held])
    # On sessions of their own, where a deadlock is not repeated but raised.
    async with owner.connection() as one, owner.connection() as other, owner.connection() as blocker:
        async with blocker.transaction():
            await blocker.fetch("select from public.quotes where symbol = 'K3' for update")
            first = asyncio.create_task(Storing(one).end(*batches[0], now=NOON + MINUTE))
            await until(lambda: waiting(owner, 1), "the first waits for the blocker")
            second = asyncio.create_task(Storing(other).end(*batches[1], now=NOON + MINUTE))
            await until(lambda: waiting(owner, 2), "the second waits for the first")
        for answer in await asyncio.gather(first, second):
            assert {verdict[0] for verdict in answer.values()} == {"completed"}


async def waiting(owner: Database, sessions: int) -> bool:
    statement = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    return bool(await owner.fetchval(statement) == sessions)


@pytest.mark.parametrize("rule", ["newer", "not_older"])
async def test_a_newer_row_written_meanwhile_stays(owner: Database, storing: Storing, rule: str) -> None:
    """A row that somebody makes newer while a batch is being stored is not overwritten: the upsert itself compares."""
    await make_quotes(owner, source_time_column="source_at", source_rule=rule)
    await storing.fetch("quote", {"AAPL": {"price": 1}}, source_time=NOON)
    held = await storing.hold_one("quote", now=NOON + HOUR)
    await wait_long(owner, "store_rows")
    async with owner.connection() as other:
        async with other.transaction():
            await other.execute("update public.quotes set price = 99, source_at = $1", NOON + HOUR)
            ended = fetched(held, {"price": 2}, source_time=NOON + MINUTE)
            storage = asyncio.create_task(storing.end(ended, now=NOON + HOUR))
            await until(lambda: somebody_waits(owner), "the store waits")
        await storage
    assert await storing.table("public.quotes", "price::int, source_at") == [(99, NOON + HOUR)]


async def test_killed_in_the_middle(owner: Database, owner_url: str, storing: Storing) -> None:
    """A session that ends before its commit has stored, learned, finished, spent and told nothing."""
    await make_quotes(owner)
    held = await storing.hold_one("quote")
    connection = await connect(DatabaseOptions(url=owner_url))
    await connection.execute("begin")
    assert await Storing(connection).end(fetched(held, {"price": 1}, etag='"1"', bytes=100)) == {
        "AAPL": ("completed", "fetched", None)
    }
    await owner.fetchval("select pg_terminate_backend($1)", await connection.fetchval("select pg_backend_pid()"))
    await until(lambda: _ended(owner), "the session is gone")
    connection.terminate()
    assert await storing.table("public.quotes") == []
    assert await storing.table("livewell_private.fetch_state", "*", "1") == []
    assert (await storing.item(held["item"]))["fetched_at"] is None
    assert await owner.fetchval("select state from livewell_private.job_live") == "processing"
    assert not await owner.fetchval("select sum(bytes) from livewell_private.quota_hour")
    assert await storing.end(fetched(held, {"price": 1})) == {"AAPL": ("completed", "fetched", None)}


async def _ended(owner: Database) -> bool:
    held = "select from pg_locks where relation = 'public.quotes'::regclass and mode = 'RowExclusiveLock'"
    return bool(await owner.fetchval(f"select not exists ({held})"))


async def test_a_finish_and_a_store_at_once(owner: Database, storing: Storing) -> None:
    """Of a finish and a store of the same job one counts; the other is told that it lost, and stores nothing."""
    await make_quotes(owner)
    held = await storing.hold_one("quote")
    await wait_long(owner, "lock_free_fetches")
    async with owner.connection() as other:
        async with other.transaction():
            await other.execute("select livewell.finish_jobs($1, $2)", [held["job"]], [held["token"]])
            storage = asyncio.create_task(storing.end(fetched(held, {"price": 1})))
            await until(lambda: somebody_waits(owner), "the store waits")
        assert await storage == {"AAPL": ("lost", "fetched", None)}
    assert await storing.table("public.quotes") == []
