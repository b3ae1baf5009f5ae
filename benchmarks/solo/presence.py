"""What presence costs: renewing through gateways, and subscribing beside a plain insert and delete of the same rows.

A hundred thousand sessions in ten gateways look at three items each, among ten thousand keys of three types, and once
more all of them at one item. The plain side writes the same pairs into a table with the same primary key. Items are
known to be fresh: what a check of a stale one costs is the checker's bar.
"""

import asyncio
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg

from benchmarks.harness import Bar, Context
from benchmarks.solo.queue import TEMPLATE, scaled

SESSIONS = 100_000
ITEMS_EACH = 3
KEYS = 10_000
GATEWAYS = 10
BATCH = 100
OPEN_BATCH = 1_000
ROUNDS = 3
RIVALS = 8
RIVAL_CALLS = 200

WORLD = (
    # Nobody renews the gateways while others are measured.
    "select livewell.set_setting('live.gone_after', '1 hour')",
    "insert into livewell_private.provider (name) values ('bench')",
    "insert into livewell_private.quota_use (provider) values ('bench')",
    "insert into livewell_private.endpoint (name, provider) values ('bench/all', 'bench')",
    "insert into livewell_private.limit_use (name) values ('bench/all')",
    """
    insert into livewell_private.data_type (name, endpoint, ttl)
    select 't' || n, 'bench/all', '1 day' from generate_series(0, 2) as n
    """,
    """
    insert into livewell_private.item (data_type, key, due_at, expires_at, decision)
    select 't' || t, 'K' || k, now() + interval '1 day', now() + interval '1 day', 'fresh'
    from generate_series(0, 2) as t, generate_series(0, $1::int) as k
    """,
    "create table plain (session_id uuid not null, item_id bigint not null, primary key (session_id, item_id))",
    """
    create table beaten (
        session_id uuid, item_id bigint, last_seen timestamptz not null, primary key (session_id, item_id)
    )
    """,
)
UPSERT = """
insert into beaten (session_id, item_id, last_seen)
select a.session_id, a.item_id, clock_timestamp() from unnest($1::uuid[], $2::bigint[]) as a (session_id, item_id)
on conflict (session_id, item_id) do update set last_seen = excluded.last_seen
"""
INSERT = "insert into plain (session_id, item_id) select * from unnest($1::uuid[], $2::bigint[])"
DELETE = """
delete from plain as p using unnest($1::uuid[], $2::bigint[]) as a (session_id, item_id)
where p.session_id = a.session_id and p.item_id = a.item_id
"""
OPEN = "select livewell.open_sessions($1, $2, $3)"
RENEW = "select livewell.renew_gateway($1)"
SUBSCRIBE = "select outcomes from livewell.subscribe($1, $2, $3)"
UNSUBSCRIBE = "select livewell.unsubscribe($1, $2, $3)"
DRIFT = """
select count(*) from livewell_private.item as i
where i.viewers <> (
    select count(distinct s.user_id) from livewell_private.subscription as c join livewell_private.session as s on
        s.id = c.session_id
    where c.item_id = i.id
) and i.data_type = 't0' and i.key < 'K11'
"""


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Who looks at what, in batches."""

    sessions: list[UUID]
    types: list[str]
    keys: list[str]
    items: list[int]

    def batches(self) -> list["Pairs"]:
        return [
            Pairs(
                sessions=self.sessions[n : n + BATCH],
                types=self.types[n : n + BATCH],
                keys=self.keys[n : n + BATCH],
                items=self.items[n : n + BATCH],
            )
            for n in range(0, len(self.sessions), BATCH)
        ]


@dataclass(kw_only=True)
class Stage:
    """A database with the world in it, and its sessions."""

    url: str
    connection: "asyncpg.Connection[asyncpg.Record]"
    sessions: list[UUID]
    ids: dict[tuple[str, str], int]

    def spread(self) -> Pairs:
        """Three items for each session, of three types, at random and the same in every run."""
        chance = random.Random(4)
        chosen = [
            (session, f"t{n}", f"K{int(KEYS * chance.random() ** 2)}")
            for session in self.sessions
            for n in range(ITEMS_EACH)
        ]
        return self.pairs(chosen)

    def crowd(self) -> Pairs:
        """One item for all."""
        return self.pairs([(session, "t0", "K0") for session in self.sessions])

    def pairs(self, chosen: Sequence[tuple[UUID, str, str]]) -> Pairs:
        return Pairs(
            sessions=[session for session, _, _ in chosen],
            types=[data_type for _, data_type, _ in chosen],
            keys=[key for _, _, key in chosen],
            items=[self.ids[data_type, key] for _, data_type, key in chosen],
        )

    async def tidy(self) -> None:
        for table in (
            "plain",
            "livewell_private.subscription",
            "livewell_private.viewer",
            "livewell_private.item",
            "livewell_private.session",
        ):
            await self.connection.execute(f"vacuum analyze {table}")
        await self.connection.execute("checkpoint")


async def bars(context: Context) -> list[Bar]:
    async with context.server.database("solo_presence", template=TEMPLATE) as url:
        connection = await asyncpg.connect(url)
        try:
            stage = await _stage(context, url, connection)
            return [
                await _renewing(context, stage),
                *await _subscribing(context, stage, "spread over 30,000 items", stage.spread()),
                *await _subscribing(context, stage, "one item", stage.crowd()),
                await _rivalry(context, stage),
            ]
        finally:
            await connection.close()


async def _stage(context: Context, url: str, connection: "asyncpg.Connection[asyncpg.Record]") -> Stage:
    for statement in WORLD:
        await connection.execute(statement, *([KEYS - 1] if "$1" in statement else []))
    chance = random.Random(7)
    sessions = [UUID(int=chance.getrandbits(128)) for _ in range(scaled(context, SESSIONS))]
    per_gateway = len(sessions) // GATEWAYS
    for n in range(GATEWAYS):
        mine = sessions[n * per_gateway : (n + 1) * per_gateway]
        for start in range(0, len(mine), OPEN_BATCH):
            ids = mine[start : start + OPEN_BATCH]
            users = [f"user-{n}-{start + i}" for i in range(len(ids))]
            await connection.execute(OPEN, ids, users, f"gateway-{n}")
    rows = await connection.fetch("select data_type, key, id from livewell_private.item")
    ids_of = {(row["data_type"], row["key"]): row["id"] for row in rows}
    return Stage(url=url, connection=connection, sessions=sessions, ids=ids_of)


async def _renewing(context: Context, stage: Stage) -> Bar:
    """All sessions kept alive by their gateways, beside one upsert of a row with a time for each subscription."""
    batches = stage.spread().batches()
    upserts, renewals = [], []
    await _timed(stage, [(UPSERT, (batch.sessions, batch.items)) for batch in batches])
    for _ in range(ROUNDS):
        upserts.append(await _timed(stage, [(UPSERT, (batch.sessions, batch.items)) for batch in batches]))
        renewals.append(await _timed(stage, [(RENEW, (f"gateway-{n}",)) for n in range(GATEWAYS)]))
    _row(context, "renew all sessions by gateway", renewals)
    _row(context, "upsert all subscriptions", upserts)
    note = f"{statistics.median(renewals) * 1000:,.0f} of {statistics.median(upserts) * 1000:,.0f} ms"
    ratio = statistics.median(renewals) / statistics.median(upserts)
    return Bar(name="renew sessions / upsert subscriptions", value=ratio, at_most=0.02, note=note)


async def _subscribing(context: Context, stage: Stage, name: str, pairs: Pairs) -> list[Bar]:
    """Both sides in turn, round after round: in, then out."""
    batches = pairs.batches()
    sides: dict[str, tuple[str, str, list[tuple[Any, ...]]]] = {
        "plain": (INSERT, DELETE, [(batch.sessions, batch.items) for batch in batches]),
        "livewell": (SUBSCRIBE, UNSUBSCRIBE, [(batch.sessions, batch.types, batch.keys) for batch in batches]),
    }
    rates: dict[tuple[str, str], list[float]] = {}
    for _ in range(ROUNDS):
        for side, (there, back, arguments) in sides.items():
            for way, statement in (("in", there), ("out", back)):
                await stage.tidy()
                took = await _timed(stage, [(statement, each) for each in arguments])
                rates.setdefault((side, way), []).append(len(pairs.sessions) / took)
    found = []
    for way, call in (("in", "subscribe / insert"), ("out", "unsubscribe / delete")):
        plain, ours = (statistics.median(rates[side, way]) for side in sides)
        context.rows.append(
            {
                "contender": "livewell",
                "measure": f"{call}, {name}",
                "median": round(ours),
                "unit": "rows/s",
                "samples": [round(rate) for rate in rates["livewell", way]],
                "sizes": {
                    "rows": len(pairs.sessions),
                    "batch": BATCH,
                    "plain": [round(r) for r in rates["plain", way]],
                },
            }
        )
        note = f"{ours:,.0f} of {plain:,.0f} rows/s, {len(pairs.sessions):,} rows, {BATCH:,} a call"
        found.append(Bar(name=f"{call}, {name}", value=ours / plain, at_least=0.3, note=note))
    return found


async def _timed(stage: Stage, calls: Sequence[tuple[str, Sequence[Any]]]) -> float:
    started = time.perf_counter()
    for statement, arguments in calls:
        await stage.connection.execute(statement, *arguments)
    return time.perf_counter() - started


async def _rivalry(context: Context, stage: Stage) -> Bar:
    """Rival connections subscribe and unsubscribe the same sessions, a hot item always among what they ask for."""
    errors: list[str] = []

    async def rival(number: int) -> None:
        chance = random.Random(number)
        connection = await asyncpg.connect(stage.url)
        for _ in range(scaled(context, RIVAL_CALLS)):
            sessions = chance.choices(stage.sessions[:200], k=50)
            keys = [f"K{chance.randrange(20)}" for _ in sessions[1:]] + ["K0"]
            statement = SUBSCRIBE if chance.random() < 0.55 else UNSUBSCRIBE
            try:
                await connection.execute(statement, sessions, ["t0"] * len(sessions), keys)
            except asyncpg.PostgresError as error:
                errors.append(str(error))
        await connection.close()

    await asyncio.gather(*(rival(number) for number in range(RIVALS)))
    drift = await stage.connection.fetchval(DRIFT)
    note = (
        f"{RIVALS} connections, {RIVALS * scaled(context, RIVAL_CALLS):,} calls; {errors[0] if errors else 'no error'}"
    )
    return Bar(name="rivals: errors and items miscounted", value=float(len(errors) + drift), at_most=0.0, note=note)


def _row(context: Context, measure: str, seconds: Sequence[float]) -> None:
    context.rows.append(
        {
            "contender": "livewell",
            "measure": measure,
            "median": round(statistics.median(seconds), 4),
            "unit": "s",
            "samples": [round(each, 4) for each in seconds],
            "sizes": {"sessions": SESSIONS, "subscriptions": SESSIONS * ITEMS_EACH, "gateways": GATEWAYS},
        }
    )
