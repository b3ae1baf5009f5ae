"""What refreshes leave on disk: 500 keys at a TTL of 5 s, 5,600 refreshes a minute, kept as long as the settings say.

Items are made and watched by a session, refreshes are queued by the checker, claimed, stored and finished by the
functions that the product calls, and old partitions are dropped by its task; here are the clock, which is passed in
and runs ahead, and the answers, of which every second one is unchanged. What autovacuum would do once a minute is done
once a minute of that clock. A full run begins with an hour, goes on for a hundred minutes and looks at the most there
ever was; a shorter one takes the bytes of a refresh from some thousand and multiplies: what is kept, half an hour of a
partition that is not over, and the five minutes between two runs of the task.
"""

import hashlib
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
from pydantic_core import to_json

from benchmarks.harness import Bar, Context, Size
from benchmarks.solo.queue import TEMPLATE
from livewell import Livewell

ITEMS = 500
A_MINUTE = 5_600
MEGABYTE = 1_000_000
TICK = timedelta(seconds=1)
KEPT = timedelta(hours=1)
LONGEST = KEPT + timedelta(minutes=35)
TICKS: dict[Size, int] = {"full": 100 * 60, "quick": 90, "smoke": 9}
HOT = ("limit_use", "quota_use", "quota_hour", "estimate", "worker", "task", "item", "item_outcomes")
STAGE = """
insert into livewell_private.provider (name) values ('bench');
insert into livewell_private.quota_use (provider) values ('bench');
insert into livewell_private.endpoint (name, provider, requests_per_minute, concurrent)
values ('bench/quote', 'bench', 100000, 100);
insert into livewell_private.limit_use (name) values ('bench/quote');
insert into livewell_private.data_type (name, endpoint, ttl, keys_per_request)
values ('quote', 'bench/quote', '5 seconds', 20);
"""
CLAIM = """
select c.job_id as job, c.lease_token as token, (c.payload ->> 'item')::bigint as item, 'quote' as type,
    c.payload ->> 'key' as key
from livewell.claim_jobs('bench-host-12345-a1b2c3', '{refresh}', 500, null, null, $1) as c
"""
STORE = "select count(*) filter (where state = 'completed') from livewell.store_fetches($1::text::jsonb, $2)"
VACUUM = (
    "vacuum livewell_private.job_live, livewell_private.learned, livewell_private.record, livewell_private."
    + ", livewell_private.".join(HOT)
)
SIZE = """
select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
from pg_class as c where c.relnamespace = 'livewell_private'::regnamespace and c.relkind = 'r' and c.relname like $1
"""
BRIEF = """
select sum(pg_total_relation_size(p.place))::bigint, sum(p.refreshes)::bigint
from (select tableoid::oid as place, count(*) as refreshes from livewell_private.job_brief group by 1) as p
"""
HOT_SIZES = """
select c.relname, pg_table_size(c.oid) as bytes, s.n_tup_upd as updates, s.n_tup_hot_upd as in_place
from pg_class as c join pg_stat_all_tables as s on s.relid = c.oid
where c.relnamespace = 'livewell_private'::regnamespace and c.relname = any ($1) order by c.relname
"""


async def bars(context: Context) -> list[Bar]:
    async with (
        context.server.database("solo_leavings", template=TEMPLATE) as url,
        Livewell(url) as app,
    ):
        line = await asyncpg.connect(url)
        await line.execute(STAGE)
        session = await app.presence.open("anna")
        keys = [f"K{number:03}" for number in range(ITEMS)]
        for first in range(0, ITEMS, 100):
            await app.presence.subscribe(session, [("quote", key) for key in keys[first : first + 100]])
        before = await line.fetchval(SIZE, "%")
        refreshes, most = await _refresh(line, TICKS[context.size])
        brief, rows = await line.fetchrow(BRIEF) or (0, 1)
        rest = await line.fetchval(SIZE, "%") - before - brief
        hot = await line.fetch(HOT_SIZES, HOT)
        await line.close()
    each = brief / rows
    kept = LONGEST / timedelta(minutes=1) * A_MINUTE * each + rest
    value = (most - before if context.size == "full" else kept) / MEGABYTE
    _add_rows(context, each, rest, hot, refreshes)
    return [
        Bar(
            name=f"{ITEMS} keys at a TTL of 5 s: what stays on disk, MB",
            value=value,
            at_most=250.0,
            note=f"{each:.0f} bytes a completed refresh"
            + ("" if context.size == "full" else f", of {refreshes:,}, multiplied"),
        )
    ]


async def _refresh(line: "asyncpg.Connection[asyncpg.Record]", ticks: int) -> tuple[int, int]:
    """Round after round of refreshes; how many were completed, and the most bytes there ever were."""
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    now = minute = cared = hour + timedelta(hours=1)
    refreshes = most = 0
    turns: Counter[str] = Counter()
    for _ in range(ticks):
        now += TICK
        await line.execute("select livewell_private.task_check($1)", now)
        while held := await line.fetch(CLAIM, now):
            ended = [_ended(dict(row), turns, number) for number, row in enumerate(held)]
            refreshes += await line.fetchval(STORE, to_json(ended).decode(), now)
        if now - minute > timedelta(minutes=1):
            minute = now
            await line.execute(VACUUM)
            most = max(most, await line.fetchval(SIZE, "%"))
        if now - cared > timedelta(minutes=5):
            cared = now
            await line.execute("select livewell.task_job_partitions($1), livewell.task_brief_retention($1)", now)
    return refreshes, max(most, await line.fetchval(SIZE, "%"))


def _ended(held: dict[str, Any], turns: Counter[str], number: int) -> dict[str, Any]:
    turns[held["key"]] += 1
    turn = turns[held["key"]]
    if turn % 2 == 0:
        return {**held, "outcome": "unchanged", "reason": "not_modified", "bytes": 20}
    row = {"symbol": held["key"], "price": 100 + turn + number / 100, "volume": 1_000_000 + turn * number}
    return {
        **held,
        "outcome": "fetched",
        "rows": [row],
        "hash": hashlib.sha256(to_json(row)).hexdigest(),
        "bytes": 60,
    }


def _add_rows(context: Context, each: float, rest: float, hot: list[asyncpg.Record], refreshes: int) -> None:
    sizes = {"items": ITEMS, "refreshes": refreshes}
    figures = [
        ("bytes of a completed refresh", each, "bytes"),
        ("everything else", rest / MEGABYTE, "MB"),
        *(
            (f"{row['relname']}, {row['in_place']:,} of {row['updates']:,} in place", row["bytes"] / 1000, "kB")
            for row in hot
        ),
    ]
    context.rows += [
        {"contender": "livewell", "measure": name, "median": round(value, 1), "unit": unit, "sizes": sizes}
        for name, value, unit in figures
    ]
