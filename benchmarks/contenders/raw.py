"""The raw loop: claim 500 by SKIP LOCKED, finish in batches on a second connection meanwhile, notify always.

It has no leases, retries, keys or history; it shows what the server and the driver can do with the statements that
come to mind first. (With rows found by `id = any (array(…))` instead of a join it would drain faster.)
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import asyncpg
import uvloop

from benchmarks.protocol import Plan, Tally, leave, measure, report_version

SCHEMA = Path(__file__).parents[1] / "sql" / "raw.sql"
BATCH = 500
CLAIM = """
with chosen as materialized (
    select id from job where state = 0 order by priority desc, created_at, id limit $1 for update skip locked
)
update job set state = 1, attempts = attempts + 1, claimed_at = now(), claimed_by = 'raw'
from chosen where job.id = chosen.id
returning job.id, job.kind, job.payload
"""
FINISH = "update job set state = 2, finished_at = now() where id = any($1::bigint[]) and state = 1"
ENQUEUE = """
with added as (insert into job (payload) values ($1::jsonb) returning id)
select pg_notify('job', '') from added
"""
ENQUEUE_MANY = "insert into job (payload) select each::jsonb from unnest($1::text[]) as each"
UNFINISHED = "select count(*) from job where state <> 2"


class Raw:
    """Four connections: claim, finish, listen, and one for whoever enqueues."""

    def __init__(self, connections: "Sequence[asyncpg.Connection[asyncpg.Record]]") -> None:
        self.tally = Tally()
        self._claim, self._finish, self._listen, self._client = connections
        self._woken = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None

    async def enqueue(self, number: int) -> None:
        await self._client.execute(ENQUEUE, _payload(number))

    async def enqueue_many(self, numbers: Sequence[int], *, unique: bool) -> None:
        del unique
        await self._client.execute(ENQUEUE_MANY, [_payload(number) for number in numbers])

    async def clear(self) -> None:
        await self._client.execute("truncate job")

    async def tidy(self) -> None:
        await self._client.execute("vacuum analyze job")

    async def start_worker(self) -> None:
        await self._listen.add_listener("job", lambda *_: self._woken.set())
        self._worker = asyncio.create_task(self._work())

    async def unfinished(self) -> int:
        return int(await self._client.fetchval(UNFINISHED))

    async def _work(self) -> None:
        finishing: asyncio.Task[str] | None = None
        while True:
            self._woken.clear()
            rows = await self._claim.fetch(CLAIM, BATCH)
            for row in rows:
                self.tally.hit(json.loads(row["payload"])["i"])
            if finishing is not None:
                await finishing
                finishing = None
            if rows:
                finishing = asyncio.create_task(self._finish.execute(FINISH, [row["id"] for row in rows]))
            else:
                await self._woken.wait()


def _payload(number: int) -> str:
    return json.dumps({"i": number})


async def main() -> None:
    plan = Plan.from_environment()
    connections = [await asyncpg.connect(plan.dsn) for _ in range(4)]
    await connections[0].execute(SCHEMA.read_text(encoding="utf-8"))
    report_version(f"asyncpg {asyncpg.__version__}")
    await measure(Raw(connections), plan)
    leave()


if __name__ == "__main__":
    uvloop.run(main())
