"""Refreshes as tests end them: held by a worker, with the clock passed in."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
from pydantic_core import to_json

from livewell.kernel import Caller, Connection, Database
from livewell.testing import grant_table, make_type

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)

Told = dict[str, Any]
Row = Mapping[str, Any]

ENQUEUE = """
select count(*) from livewell.enqueue_jobs((
    select jsonb_agg(jsonb_build_object(
        'kind', 'refresh.' || i.data_type, 'endpoint', t.endpoint,
        'dedupe_key', 'refresh/' || i.data_type || '/' || i.key,
        'payload', jsonb_build_object('type', i.data_type, 'key', i.key, 'item', i.id)
    ))
    from livewell_private.item as i join livewell_private.data_type as t on t.name = i.data_type
    where i.data_type = $1 and i.key = any ($2)
), 'keep', $3)
"""
# Nothing but what is asked for is due, whatever was put off before.
AWAKE = """
update livewell_private.job_live
set waiting_for = case when payload ->> 'key' = any ($2) then null else 'due' end,
    due_at = case when payload ->> 'key' = any ($2) then $3 else 'infinity'::timestamptz end
where kind = 'refresh.' || $1 and state = 'pending'
"""
CLAIM = """
select c.job_id as job, c.lease_token as token, (c.payload ->> 'item')::bigint as item, c.payload ->> 'type' as type,
    c.payload ->> 'key' as key
from livewell.claim_jobs('w', '{refresh}', $1, array['refresh.' || $2], null, $3) as c order by c.payload ->> 'key'
"""
STORE = "select * from livewell.store_fetches($1::text::jsonb, $2) order by job_id"


def fetched(held: Told, *rows: Row, content: str | None = None, **fields: Any) -> Told:
    """A held refresh that brought rows; other rows, other hash, unless it is said what they are."""
    digest = hashlib.sha256((content or json.dumps(rows, sort_keys=True, default=str)).encode()).hexdigest()
    return {**held, "outcome": "fetched", "rows": rows, "hash": digest, **fields}


def unchanged(held: Told, **fields: Any) -> Told:
    return {**held, "outcome": "unchanged", "reason": "not_modified", **fields}


def refused(held: Told, reason: str = "schema", **fields: Any) -> Told:
    return {**held, "outcome": "refused", "reason": reason, "message": "not as it should be", **fields}


def failed(held: Told, reason: str = "timeout", **fields: Any) -> Told:
    return {**held, "outcome": "failed", "reason": reason, "message": "nothing came", **fields}


def throttled(held: Told, seconds: float | None = 30, **fields: Any) -> Told:
    return {**held, "outcome": "throttled", "seconds": seconds, "message": "too much", **fields}


def gone(held: Told, **fields: Any) -> Told:
    return {**held, "outcome": "gone", "message": "no such thing", **fields}


@dataclass(frozen=True)
class Storing:
    """A worker's view as the owner: refreshes of keys queued and held at once, and ended."""

    caller: "Caller | Connection"

    async def watch(self, data_type: str, *keys: str) -> list[int]:
        """Items that one looks at, in the order of the keys."""
        made = "select item_id from livewell_private.make_items($1, $2, $3) order by item_position"
        rows = await self.caller.fetch(made, [data_type] * len(keys), keys, NOON)
        ids = [row["item_id"] for row in rows]
        await self.caller.fetch("update livewell_private.item set viewers = 1 where id = any ($1)", ids)
        return ids

    async def hold(self, data_type: str, *keys: str, now: datetime = NOON) -> list[Told]:
        """Refreshes of these keys, held; in the order of the keys."""
        await self.caller.fetch("select livewell_private.make_items($1, $2, $3)", [data_type] * len(keys), keys, now)
        await self.caller.fetchval(ENQUEUE, data_type, keys, now)
        await self.caller.fetch(AWAKE, data_type, keys, now)
        held = {row["key"]: dict(row) for row in await self.caller.fetch(CLAIM, len(keys), data_type, now)}
        return [held[key] for key in keys]

    async def hold_one(self, data_type: str, key: str = "AAPL", now: datetime = NOON) -> Told:
        return (await self.hold(data_type, key, now=now))[0]

    async def answers(self, *ended: Told, now: datetime = NOON) -> list[asyncpg.Record]:
        return await self.caller.fetch(STORE, to_json(ended).decode(), now)

    async def end(self, *ended: Told, now: datetime = NOON) -> dict[str, tuple[str, str, str | None]]:
        """By key: the state of the job, the outcome and its reason."""
        rows = await self.answers(*ended, now=now)
        found = {row["job_id"]: (row["state"], row["outcome"], row["reason"]) for row in rows}
        assert len(rows) == len(ended)
        return {fetch["key"]: found[fetch["job"]] for fetch in ended}

    async def fetch(
        self, data_type: str, rows: Mapping[str, Row | Sequence[Row]], now: datetime = NOON, **fields: Any
    ) -> dict[str, tuple[str, str, str | None]]:
        """Hold, fetch and store one batch: rows by key."""
        held = await self.hold(data_type, *rows, now=now)
        return await self.end(
            *(
                fetched(
                    job, *([rows[job["key"]]] if isinstance(rows[job["key"]], Mapping) else rows[job["key"]]), **fields
                )
                for job in held
            ),
            now=now,
        )

    async def item(self, item_id: int) -> dict[str, Any]:
        row = await self.caller.fetchrow("select * from livewell_private.item where id = $1", item_id)
        assert row is not None
        return dict(row)

    async def table(self, table: str, columns: str = "*", order: str = "1, 2") -> list[tuple[Any, ...]]:
        return [tuple(row) for row in await self.caller.fetch(f"select {columns} from {table} order by {order}")]

    async def warnings(self) -> dict[str, tuple[int, str]]:
        rows = await self.caller.fetch(
            "select subject, warnings, message from livewell.warnings where code = 'fetching.refused'"
        )
        return {row["subject"]: (row["warnings"], row["message"]) for row in rows}


async def make_quotes(owner: Database, name: str = "quote", **fields: Any) -> None:
    """A user's table with a row per key, and its type."""
    await owner.execute(
        "create table public.quotes (symbol text primary key, price numeric not null check (price > 0), volume bigint,"
        " source_at timestamptz, fetched_at timestamptz, first_seen_at timestamptz not null default 'epoch')"
    )
    await grant_table(owner, "public.quotes")
    columns = {"table_name": "public.quotes", "key_column": "symbol", "time_column": "fetched_at"}
    await make_type(owner, name, **columns, **fields)
