"""The queue's SQL functions as tests call them: over any connection, with the clock passed in."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg

from livewell.kernel import Connection, Database

NOW = datetime(2025, 1, 1, 12, tzinfo=UTC)  # past, so that what is due then is due by the clock of a view too
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
LEASE = timedelta(minutes=5)
DAY = timedelta(days=1)
CENTURY = 36525 * DAY

Row = asyncpg.Record
Detail = Mapping[str, Any] | None


def job(kind: str = "plain", **fields: Any) -> dict[str, Any]:
    """A request as it is sent: whatever is not given is left to the database."""
    return {"kind": kind, "payload": {"n": 1}, **fields}


def jobs(count: int, kind: str = "plain", **fields: Any) -> list[dict[str, Any]]:
    return [job(kind, **fields) for _ in range(count)]


async def somebody_waits(owner: Database) -> bool:
    """Whether a session of the test's database waits for a lock."""
    statement = (
        "select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')"
    )
    return bool(await owner.fetchval(statement))


@dataclass(frozen=True)
class Surface:
    """Every function of the queue, over a pool or one connection; rows come back as the database gave them."""

    caller: "Database | Connection"

    async def declare(self, kind: str = "plain", **fields: Any) -> None:
        await self.declare_all([{"kind": kind, **fields}])

    async def declare_all(
        self, kinds: Sequence[Mapping[str, Any]], *, actor: str = "tester", now: datetime = NOW
    ) -> list[str]:
        statement = "select kind from livewell.declare_kinds($1::text::jsonb, $2, $3) as d (kind) order by 1"
        return [row["kind"] for row in await self.caller.fetch(statement, json.dumps(kinds), actor, now)]

    async def set_kind(self, kind: str, changes: Any, *, reason: str | None = None, now: datetime = NOW) -> bool:
        statement = "select livewell.set_kind($1, $2::text::jsonb, $3, 'tester', $4)"
        return bool(await self.caller.fetchval(statement, kind, json.dumps(changes), reason, now))

    async def pause(self, kind: str, *, until: datetime | None = None, now: datetime = NOW) -> None:
        statement = "select livewell.pause_kind($1, coalesce($2, 'infinity'::timestamptz), 'too hot', 'tester', $3)"
        await self.caller.fetchval(statement, kind, until, now)

    async def resume(self, kind: str, *, now: datetime = NOW) -> bool:
        statement = "select livewell.resume_kind($1, 'cooled down', 'tester', $2)"
        return bool(await self.caller.fetchval(statement, kind, now))

    async def set(self, name: str, value: str) -> None:
        await self.caller.fetchval("select livewell.set_setting($1, $2)", name, value)

    async def enqueue(
        self, *requests: Mapping[str, Any], on_duplicate: str | None = "keep", now: datetime = NOW
    ) -> list[Row]:
        statement = "select * from livewell.enqueue_jobs($1::text::jsonb, $2, $3) order by job_position"
        return await self.caller.fetch(statement, json.dumps(requests, default=str), on_duplicate, now)

    async def enqueue_ids(self, *requests: Mapping[str, Any], now: datetime = NOW) -> list[int]:
        return [row["job_id"] for row in await self.enqueue(*requests, now=now)]

    async def enqueue_one(self, kind: str = "plain", *, now: datetime = NOW, **fields: Any) -> int:
        return (await self.enqueue_ids(job(kind, **fields), now=now))[0]

    async def claim(
        self,
        worker: str = "w1",
        *,
        groups: Sequence[str] = ("general",),
        max_jobs: int = 50,
        kinds: Sequence[str] | None = None,
        shares: Sequence[float] | None = None,
        now: datetime = NOW,
    ) -> list[Row]:
        statement = "select * from livewell.claim_jobs($1, $2, $3, $4, $5, $6)"
        return await self.caller.fetch(statement, worker, groups, max_jobs, kinds, shares, now)

    async def claim_ids(self, worker: str = "w1", **options: Any) -> list[int]:
        return [row["job_id"] for row in await self.claim(worker, **options)]

    async def claim_one(self, worker: str = "w1", **options: Any) -> Row:
        (claimed,) = await self.claim(worker, max_jobs=1, **options)
        return claimed

    async def heartbeat(self, *leased: Row, worker: str = "w1", now: datetime = NOW) -> list[Row]:
        ids, tokens = [row["job_id"] for row in leased], [row["lease_token"] for row in leased]
        statement = "select * from livewell.heartbeat_jobs($1, $2, $3, $4) order by job_id"
        return await self.caller.fetch(statement, worker, ids, tokens, now)

    async def finish_all(
        self, ends: Sequence[tuple[int, UUID, str, Detail]], *, now: datetime = NOW
    ) -> list[tuple[int, str]]:
        """End attempts given as (id, token, outcome, detail); answers (id, state) in the order given."""
        rows = await self.caller.fetch(
            "select * from livewell.finish_jobs($1, $2, $3, $4::text::jsonb, $5)",
            *([end[column] for end in ends] for column in range(3)),
            json.dumps([end[3] for end in ends]),
            now,
        )
        return [(row["job_id"], row["state"]) for row in rows]

    async def finish(self, leased: Row, outcome: str = "completed", *, now: datetime = NOW, **detail: Any) -> str:
        """End one attempt; answers the state the job is in now."""
        ((_, state),) = await self.finish_all([(leased["job_id"], leased["lease_token"], outcome, detail)], now=now)
        return state

    async def rescue(self, *, limit: int = 500, now: datetime = NOW) -> list[Row]:
        return await self.caller.fetch("select * from livewell.rescue_jobs($1, $2) order by job_id", limit, now)

    async def heal(self) -> int:
        return int(await self.caller.fetchval("select livewell.heal_serial_jobs()"))

    async def cancel(self, *ids: int, reason: str | None = "not wanted", now: datetime = NOW) -> dict[int, str]:
        statement = "select * from livewell.cancel_jobs($1, $2, 'tester', $3)"
        return {row["job_id"]: row["outcome"] for row in await self.caller.fetch(statement, ids, reason, now)}

    async def retry(self, *ids: int, now: datetime = NOW) -> dict[int, tuple[str, int | None]]:
        rows = await self.caller.fetch("select * from livewell.retry_jobs($1, 'mended', 'tester', $2)", ids, now)
        return {row["job_id"]: (row["outcome"], row["live_job_id"]) for row in rows}

    async def acknowledge(self, *ids: int, now: datetime = NOW) -> dict[int, str]:
        statement = "select * from livewell.acknowledge_jobs($1, 'seen', 'tester', $2)"
        return {row["job_id"]: row["outcome"] for row in await self.caller.fetch(statement, ids, now)}

    async def register(
        self, worker: str = "w1", *, groups: Sequence[str] = ("general",), kinds: Sequence[str] = ("plain",)
    ) -> None:
        await self.caller.fetchval("select livewell.register_worker($1, $2, $3, 10, $4)", worker, groups, kinds, NOW)

    async def idle(self, worker: str = "w1", *, now: datetime = NOW) -> float | None:
        seconds: float | None = await self.caller.fetchval("select livewell.mark_worker_idle($1, $2)", worker, now)
        return seconds

    async def show(self, job_id: int) -> Row:
        row = await self.caller.fetchrow("select * from livewell.jobs where id = $1", job_id)
        assert row is not None, f"job {job_id} is gone"
        return row

    async def states(self, *ids: int) -> list[str]:
        """The states of the jobs, in the order asked for."""
        rows = await self.caller.fetch("select id, state from livewell.jobs where id = any ($1)", ids)
        states = {row["id"]: row["state"] for row in rows}
        return [states[job_id] for job_id in ids]

    async def attempts(self, job_id: int) -> list[Row]:
        statement = "select * from livewell.job_attempts where job_id = $1 order by attempt, ended_at"
        return await self.caller.fetch(statement, job_id)

    async def outcomes(self, job_id: int) -> list[tuple[int, str]]:
        return [(row["attempt"], row["outcome"]) for row in await self.attempts(job_id)]

    async def dead(self, kind: str = "plain", *, now: datetime = NOW, **fields: Any) -> int:
        """A job that was queued, claimed and given up at once."""
        job_id = await self.enqueue_one(kind, priority=1000, now=now, **fields)
        leased = await self.claim_one(kinds=[kind], now=now)
        assert leased["job_id"] == job_id
        assert await self.finish(leased, "dead", reason="hopeless", now=now) == "failed"
        return job_id
