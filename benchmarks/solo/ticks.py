"""The checker's tick against a walk key by key, at more watched, at more due, and with nothing to do.

The world: so many users who each look at three types of one of so many keys; six in a hundred items are stale. Every
measured run is one transaction that is rolled back, so that each begins from the same state. The endpoint is as it is
by default, with a breaker and serial keys; its limits are there and so wide that none binds.
"""

import statistics
import time

import asyncpg

from benchmarks.harness import Bar, Context
from benchmarks.solo.queue import Queue, fresh_queue, scaled

USERS = 100_000
KEYS = 10_000
TYPES = ("quote", "profile", "ratios")
STALE_OF_HUNDRED = 6
ROUNDS = 3
IDLE_SAMPLES = 300

ENDPOINTS = """
insert into livewell_private.provider (name) values ('bench');
insert into livewell_private.quota_use (provider) values ('bench');
insert into livewell_private.endpoint (name, provider, requests_per_minute, concurrent, depth_limit)
values ('bench/all', 'bench', 1000000000, 1000000000, null);
insert into livewell_private.limit_use (name) values ('bench/all');
"""
TYPE = """
create table public.{name} (symbol text primary key, fetched_at timestamptz);
grant select on public.{name} to livewell_reader;
insert into livewell_private.data_type (name, endpoint, table_name, key_column, time_column, ttl)
values ('{name}', 'bench/all', 'public.{name}', 'symbol', 'fetched_at', '1 hour');
"""
ROWS = """
insert into public.{name} select 'K' || k, case when k % 100 < {stale} then now() - interval '2 hours' else now() end
from generate_series(1, {keys}) as k;
analyze public.{name};
"""
ITEMS = """
insert into livewell_private.item (data_type, key, viewers, due_at, watched_since)
select '{name}', 'K' || k, {users} / {keys},
    now() + case when k % 100 < {stale} then interval '-1 minute' else interval '1 hour' end, now()
from generate_series(1, {keys}) as k
"""
SESSIONS = """
insert into livewell_private.session (id, user_id, last_seen)
select ('00000000-0000-4000-8000-' || lpad(to_hex(u), 12, '0'))::uuid, 'u' || u, now()
from generate_series(1, {users}) as u
"""
SUBSCRIPTIONS = """
insert into livewell_private.subscription (session_id, item_id)
select ('00000000-0000-4000-8000-' || lpad(to_hex(u), 12, '0'))::uuid, i.id
from generate_series(1, {users}) as u join livewell_private.item as i on i.key = 'K' || (u % {keys} + 1)
"""
VIEWERS = """
insert into livewell_private.viewer (item_id, user_id, sessions)
select i.id, 'u' || u, 1
from generate_series(1, {users}) as u join livewell_private.item as i on i.key = 'K' || (u % {keys} + 1)
"""
# What the tick replaces: every watched key, one after the other, and of each every type that is watched.
WALK = """
create table public.watched (user_id text, key text, data_type text);
insert into public.watched
select v.user_id, i.key, i.data_type from livewell_private.viewer as v join livewell_private.item as i on i.id =
    v.item_id;
create table public.queue (data_type text, key text, priority integer, state text default 'pending');
create unique index on public.queue (data_type, key) where state = 'pending';
create function public.walk(p_now timestamptz) returns bigint language plpgsql as $$
declare
    v_key text;
    v_type record;
    v_stale boolean;
    v_found bigint := 0;
begin
    create temporary table looked_at on commit drop as
    select w.key, w.data_type, count(distinct w.user_id) as viewers
    from public.watched as w group by w.key, w.data_type;
    create index on looked_at (key);
    analyze looked_at;
    for v_key in select distinct l.key from looked_at as l loop
        for v_type in
            select l.data_type, l.viewers, t.table_name, t.key_column, t.time_column, t.ttl
            from looked_at as l join livewell_private.data_type as t on t.name = l.data_type where l.key = v_key
        loop
            execute format(
                'select livewell.is_stale((select max(t.%I) from public.%I as t where t.%I = $1), $2, $3)',
                v_type.time_column, split_part(v_type.table_name, '.', 2), v_type.key_column
            ) into v_stale using v_key, v_type.ttl, p_now;
            if v_stale then
                insert into public.queue (data_type, key, priority) values (v_type.data_type, v_key, v_type.viewers)
                on conflict do nothing;
                v_found := v_found + 1;
            end if;
        end loop;
    end loop;
    return v_found;
end $$;
analyze public.watched;
"""
TICK = "select livewell_private.task_check(clock_timestamp())::text"
FOUND = "select kind || '/' || (payload ->> 'key') from livewell_private.job_live order by 1"
WALKED = "select 'refresh.' || data_type || '/' || key from public.queue order by 1"


async def bars(context: Context) -> list[Bar]:
    users, keys = scaled(context, USERS), scaled(context, KEYS)
    async with fresh_queue(context, "ticks") as queue:
        await _fill(queue, users, keys)
        await queue.other.execute(WALK)
        ticks, walks = await _tick_and_walk(queue)
        ten_times = await _due(queue, 10 * STALE_OF_HUNDRED)
    async with fresh_queue(context, "many_ticks") as queue:
        await _fill(queue, 10 * users, 10 * keys)
        await queue.other.execute(
            "update livewell_private.item set due_at = now() + interval '1 hour'"
            " where due_at < now() and substr(key, 2)::int > $1",
            keys,
        )
        await queue.other.execute("vacuum analyze livewell_private.item")
        many = await _ticks(queue)
        idle, nothing = await _idle(queue)
    tick, walk = statistics.median(ticks), statistics.median(walks)
    for name, seconds in (
        (f"tick, {3 * users:,} subscriptions", tick),
        ("walk key by key", walk),
        (f"tick, {30 * users:,} subscriptions", many),
        ("tick, ten times as many due", ten_times),
        ("idle tick", idle),
        ("select 1", nothing),
    ):
        context.rows.append(
            {
                "contender": "livewell" if "tick" in name else "bare",
                "measure": name,
                "median": round(seconds * 1000, 3),
                "unit": "ms",
                "sizes": {"users": users, "keys": keys, "stale_of_hundred": STALE_OF_HUNDRED},
            }
        )
    return [
        Bar(name="walk key by key / tick", value=walk / tick, at_least=40, note="the same items found"),
        Bar(name="tick with ten times as many watched / tick", value=many / tick, at_most=1.5),
        Bar(name="tick with ten times as many due / tick", value=ten_times / tick, at_most=12),
        Bar(name="idle tick / select 1", value=idle / nothing, at_most=5, note=f"{30 * users:,} subscriptions"),
    ]


async def _fill(queue: Queue, users: int, keys: int) -> None:
    run = queue.other.execute
    await run(ENDPOINTS)
    for name in TYPES:
        fields = {"name": name, "users": users, "keys": keys, "stale": STALE_OF_HUNDRED}
        for statement in (TYPE, ROWS, ITEMS):
            await run(statement.format(**fields))
    for statement in (SESSIONS, SUBSCRIPTIONS, VIEWERS):
        await run(statement.format(users=users, keys=keys))
    await run("update livewell_private.setting set value = '1000000' where name = 'freshness.max_items'")
    await run("vacuum analyze livewell_private.item")


async def _tick_and_walk(queue: Queue) -> tuple[list[float], list[float]]:
    ticks, walks = [], []
    for _ in range(ROUNDS):
        seconds, found = await _rolled_back(queue.claimer, TICK, FOUND)
        ticks.append(seconds)
        seconds, walked = await _rolled_back(queue.claimer, "select public.walk(now())", WALKED)
        walks.append(seconds)
        if found != walked:
            raise RuntimeError(f"the tick found {len(found)} items, the walk {len(walked)}")
    return ticks, walks


async def _due(queue: Queue, stale: int) -> float:
    for name in TYPES:
        await queue.other.execute(
            f"update public.{name} set fetched_at = now() - interval '2 hours'"
            f" where substr(symbol, 2)::int % 100 < {stale}"
        )
    await queue.other.execute(
        "update livewell_private.item set due_at = now() - interval '1 minute' where substr(key, 2)::int % 100"
        f" < {stale}"
    )
    await queue.other.execute("vacuum analyze livewell_private.item")
    return await _ticks(queue)


async def _ticks(queue: Queue) -> float:
    return statistics.median([(await _rolled_back(queue.claimer, TICK, FOUND))[0] for _ in range(ROUNDS)])


async def _rolled_back(
    connection: "asyncpg.Connection[asyncpg.Record]", call: str, found: str
) -> tuple[float, list[str]]:
    transaction = connection.transaction()
    await transaction.start()
    started = time.perf_counter()
    await connection.fetchval(call)
    seconds = time.perf_counter() - started
    rows = [row[0] for row in await connection.fetch(found)]
    await transaction.rollback()
    return seconds, rows


async def _idle(queue: Queue) -> tuple[float, float]:
    """Medians of a tick with nothing due and of the shortest round trip, in turn."""
    await queue.other.execute(
        "update livewell_private.item set due_at = now() + interval '1 day' where due_at < now() + interval '1 hour'"
    )
    await queue.other.execute("vacuum analyze livewell_private.item")
    waits: dict[str, list[float]] = {TICK: [], "select 1": []}
    for _ in range(IDLE_SAMPLES):
        for statement, found in waits.items():
            started = time.perf_counter()
            await queue.claimer.fetchval(statement)
            found.append(time.perf_counter() - started)
    return statistics.median(waits[TICK]), statistics.median(waits["select 1"])
