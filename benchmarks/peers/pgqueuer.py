"""PgQueuer at batch 500 with one manager, on asyncpg; a finished job leaves its table for the log."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from importlib.metadata import version
from typing import Any

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries

from benchmarks.protocol import Plan, Tally, leave, measure, report_version


class PgQueuerSubject:
    """One connection enqueues, one is the manager's."""

    def __init__(self, client: Any, manager: Any, plan: Plan) -> None:
        self.tally = Tally()
        self._client = client
        self._queries = Queries(AsyncpgDriver(client))
        self._manager = PgQueuer(AsyncpgDriver(manager))
        self._batch = plan.settings["batch_size"]
        self._worker: asyncio.Task[None] | None = None

    async def install(self) -> None:
        await self._queries.install()
        self._manager.entrypoint("noop")(self._noop)

    async def _noop(self, job: Any) -> None:
        self.tally.hit(int(job.payload))

    async def enqueue(self, number: int) -> None:
        await self._queries.enqueue("noop", b"%d" % number, 0)

    async def enqueue_many(self, numbers: Sequence[int], *, unique: bool) -> None:
        count = len(numbers)
        await self._queries.enqueue(
            ["noop"] * count,
            [b"%d" % number for number in numbers],
            [0] * count,
            dedupe_key=[f"refresh/quote/{number}" for number in numbers] if unique else None,
        )

    async def clear(self) -> None:
        await self._client.execute("truncate pgqueuer, pgqueuer_log")

    async def tidy(self) -> None:
        await self._client.execute("vacuum analyze pgqueuer")

    async def start_worker(self) -> None:
        run = self._manager.run(batch_size=self._batch, dequeue_timeout=timedelta(seconds=5))
        self._worker = asyncio.create_task(run)

    async def unfinished(self) -> int:
        return int(await self._client.fetchval("select count(*) from pgqueuer"))


async def main() -> None:
    plan = Plan.from_environment()
    subject = PgQueuerSubject(await asyncpg.connect(plan.dsn), await asyncpg.connect(plan.dsn), plan)
    await subject.install()
    report_version(f"pgqueuer {version('pgqueuer')}, asyncpg {version('asyncpg')}")
    await measure(subject, plan)
    leave()


if __name__ == "__main__":
    uvloop.run(main())
