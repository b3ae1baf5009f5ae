"""The one place where the solo bars touch Livewell: its SQL surface, called as any language would call it."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Self

import asyncpg

from benchmarks.harness import Context
from livewell.kernel import configure_logs, migrate

LIVE_PARTITION = "livewell_private.job_live"
TEMPLATE = "solo_template"
CHUNK = 1_000
ENQUEUE_SERIES = """
select count(*) from livewell.enqueue_jobs((
    select jsonb_agg(jsonb_build_object(
        'kind', $1::text, 'payload', jsonb_build_object('i', i), 'priority', $2::int,
        'dedupe_key', $1::text || '/' || i
    ))
    from generate_series($3::bigint, $4::bigint) as i
))
"""
CLAIM = "select job_id, lease_token, payload from livewell.claim_jobs($1::text, $2::text[], $3::int)"
FINISH = "select count(*) from livewell.finish_jobs($1::bigint[], $2::uuid[], $3::text[]) where state = 'completed'"
TASKS = "select name from livewell.tasks where due_at <= clock_timestamp() order by name"
RUN_TASK = "select livewell.run_task($1::text)"
SET = "select livewell.set_setting($1::text, $2::text)"
PAUSE = "select livewell.pause_kind($1::text)"
DECLARE = (
    "select livewell.declare_kinds(jsonb_build_array(jsonb_build_object('kind', $1::text, 'queue_group', $2::text)))"
)


async def migrated(url: str) -> None:
    """Bring a fresh database to Livewell's newest schema, as it is a moment later: every task has run once."""
    configure_logs(level="warning")
    await migrate(url)
    connection = await asyncpg.connect(url)
    for task in await connection.fetch(TASKS):
        await connection.execute(RUN_TASK, task["name"])
    await connection.close()


@dataclass(kw_only=True)
class Queue:
    """A database with Livewell's schema, and two connections: one claims, one does the rest."""

    url: str
    claimer: "asyncpg.Connection[asyncpg.Record]"
    other: "asyncpg.Connection[asyncpg.Record]"
    group: str = "bench"
    worker: str = "bench-worker"
    enqueued: int = 0

    @classmethod
    async def open(cls, url: str) -> Self:
        queue = cls(url=url, claimer=await asyncpg.connect(url), other=await asyncpg.connect(url))
        await queue.declare("noop", queue.group)
        return queue

    async def close(self) -> None:
        await self.claimer.close()
        await self.other.close()

    async def declare(self, kind: str, group: str) -> None:
        """A kind of jobs in a group."""
        await self.other.execute(DECLARE, kind, group)

    async def configure(self, settings: Mapping[str, str]) -> None:
        for name, value in settings.items():
            await self.other.execute(SET, name, value)

    async def pause(self, kind: str) -> None:
        await self.other.execute(PAUSE, kind)

    async def enqueue(self, jobs: int, *, kind: str = "noop", priority: int = 0) -> None:
        """So many jobs of a kind, each with a dedupe key never used before, in calls of a thousand."""
        first = self.enqueued
        self.enqueued += jobs
        for start in range(first, first + jobs, CHUNK):
            end = min(start + CHUNK, first + jobs) - 1
            await self.other.execute(ENQUEUE_SERIES, kind, priority, start, end)

    async def claim(self, most: int) -> list[asyncpg.Record]:
        return await self.claimer.fetch(CLAIM, self.worker, [self.group], most)

    async def timed_claim(self, most: int) -> tuple[float, list[asyncpg.Record]]:
        started = time.perf_counter()
        rows = await self.claim(most)
        return time.perf_counter() - started, rows

    async def finish(self, rows: Sequence[asyncpg.Record]) -> None:
        ids, tokens = [row["job_id"] for row in rows], [row["lease_token"] for row in rows]
        finished = await self.other.fetchval(FINISH, ids, tokens, ["completed"] * len(rows))
        if finished != len(rows):
            raise RuntimeError(f"finished {finished} of {len(rows)}")

    async def churn(self, jobs: int, *, batch: int = 500) -> None:
        """So many jobs in and out again, with nothing left behind but what they leave behind."""
        for start in range(0, jobs, CHUNK):
            await self.enqueue(min(CHUNK, jobs - start))
            while rows := await self.claim(batch):
                await self.finish(rows)

    async def tidy(self) -> None:
        await self.other.execute("vacuum analyze livewell_private.job")

    async def live_bytes(self) -> int:
        return int(await self.other.fetchval("select pg_total_relation_size($1::regclass)", LIVE_PARTITION))


@asynccontextmanager
async def template(context: Context) -> AsyncIterator[None]:
    """A migrated database to copy, so that each bar has one of its own without migrating again."""
    async with context.server.database(TEMPLATE) as url:
        await migrated(url)
        yield


@asynccontextmanager
async def fresh_queue(context: Context, name: str) -> AsyncIterator[Queue]:
    async with context.server.database(f"solo_{name}", template=TEMPLATE) as url:
        queue = await Queue.open(url)
        try:
            yield queue
        finally:
            await queue.close()


def scaled(context: Context, full: int) -> int:
    """A tenth in a quick run, a thousandth in a smoke run; the rows say which."""
    return full // {"full": 1, "quick": 10, "smoke": 1000}[context.size]
