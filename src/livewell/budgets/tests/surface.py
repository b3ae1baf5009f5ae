"""Budgets as tests call them: permits by hand, and jobs that draw on an endpoint, with the clock passed in."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg

from livewell.kernel import Database
from livewell.testing import make_endpoint, make_key

NOW = datetime(2025, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

Row = asyncpg.Record


@dataclass(frozen=True)
class Budgets:
    """The functions of the room and of the queue that draws on it; `owner` sets up what they work on."""

    database: Database
    owner: Database

    async def endpoint(self, name: str, **fields: Any) -> None:
        await make_endpoint(self.owner, name, **fields)

    async def key(self, provider: str, name: str, **fields: Any) -> None:
        await make_key(self.owner, provider, name, **fields)

    async def provider(self, name: str, **fields: Any) -> None:
        changes = ", ".join(f"{column} = ${n}" for n, column in enumerate(fields, 2))
        await self.owner.execute(
            f"update livewell_private.provider set {changes} where name = $1", name, *fields.values()
        )

    async def acquire(
        self,
        endpoint: str,
        permits: int = 1,
        *,
        tokens: int | None = None,
        bytes_each: int | None = None,
        holder: str = "me",
        key: str | None = None,
        now: datetime = NOW,
    ) -> Row:
        statement = "select * from livewell.acquire_permits($1, $2, $3, $4, $5, $6, $7)"
        (row,) = await self.database.fetch(statement, endpoint, holder, permits, tokens, bytes_each, key, now)
        return row

    async def settle(
        self,
        block: UUID,
        numbers: Sequence[int],
        *,
        tokens: int | None = None,
        bytes_each: int | None = None,
        outcome: str = "completed",
        now: datetime = NOW,
    ) -> list[int]:
        count = len(numbers)
        settled = await self.database.fetchval(
            "select livewell.settle_permits($1, $2, $3, $4, $5, $6)",
            block,
            list(numbers),
            [tokens] * count,
            [bytes_each] * count,
            [outcome] * count,
            now,
        )
        return list(settled)

    async def renew(self, blocks: Sequence[UUID], *, holder: str = "me", now: datetime = NOW) -> list[UUID]:
        rows = await self.database.fetch("select livewell.renew_permits($1, $2, $3) as id", holder, blocks, now)
        return [row["id"] for row in rows]

    async def learn(
        self,
        endpoint: str,
        facts: dict[str, Any],
        *,
        api_key: str | None = None,
        age: float = 0,
        now: datetime = NOW,
    ) -> datetime | None:
        closed: datetime | None = await self.database.fetchval(
            "select livewell.learn_limits($1, $2, $3::text::jsonb, $4, $5)",
            endpoint,
            api_key,
            json.dumps(facts),
            age,
            now,
        )
        return closed

    async def care(self, *, now: datetime = NOW) -> dict[str, int]:
        done: dict[str, int] = json.loads(
            await self.database.fetchval("select livewell.task_budget_care($1)::text", now)
        )
        return done

    async def quota(self, provider: str, *, now: datetime = NOW) -> Row:
        (row,) = await self.database.fetch("select * from livewell.quota_states($2) where provider = $1", provider, now)
        return row

    async def is_open(self, provider: str, *, priority: int = 0, now: datetime = NOW) -> bool:
        return bool(await self.database.fetchval("select livewell.quota_open($1, $2, $3)", provider, priority, now))

    async def state(self, name: str, *, now: datetime = NOW) -> Row:
        (row,) = await self.database.fetch("select * from livewell.budget_state($2) where name = $1", name, now)
        return row

    async def declare(self, kind: str, **fields: Any) -> None:
        await self.database.fetch(
            "select * from livewell.declare_kinds($1::text::jsonb, 'tester', $2)",
            json.dumps([{"kind": kind, **fields}]),
            NOW,
        )

    async def enqueue(self, endpoint: str, count: int = 1, *, now: datetime = NOW, **fields: Any) -> list[int]:
        one = {"kind": "call", "payload": {"n": 1}, "endpoint": endpoint, **fields}
        rows = await self.database.fetch(
            "select job_id from livewell.enqueue_jobs($1::text::jsonb, 'keep', $2) order by job_position",
            json.dumps([one] * count),
            now,
        )
        return [row["job_id"] for row in rows]

    async def claim(self, max_jobs: int = 50, *, worker: str = "w1", now: datetime = NOW) -> list[Row]:
        statement = "select * from livewell.claim_jobs($1, '{general}', $2, null, null, $3)"
        return await self.database.fetch(statement, worker, max_jobs, now)

    async def finish(
        self, jobs: Iterable[Row], outcome: str = "completed", *, now: datetime = NOW, **detail: Any
    ) -> list[str]:
        leased = list(jobs)
        rows = await self.database.fetch(
            "select state from livewell.finish_jobs($1, $2, $3, $4::text::jsonb, $5)",
            [job["job_id"] for job in leased],
            [job["lease_token"] for job in leased],
            [outcome] * len(leased),
            json.dumps([detail] * len(leased)),
            now,
        )
        return [row["state"] for row in rows]

    async def rescue(self, *, now: datetime) -> int:
        return len(await self.database.fetch("select * from livewell.rescue_jobs(500, $1)", now))

    async def audited(self, event: str) -> list[Row]:
        return await self.owner.fetch("select * from livewell_private.audit_entry where event = $1 order by id", event)


def worst(moments: Iterable[tuple[datetime, int]], window: timedelta) -> int:
    """The most that falls into one window of this length, wherever it begins (its end not part of it)."""
    ordered = sorted(moments)
    most, total, first = 0, 0, 0
    for moment, amount in ordered:
        total += amount
        while ordered[first][0] <= moment - window:
            total -= ordered[first][1]
            first += 1
        most = max(most, total)
    return most
