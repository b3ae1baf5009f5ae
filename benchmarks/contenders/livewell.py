"""Livewell as an application uses it: one worker, with dedupe keys, leases and a history of attempts."""

import asyncio
from collections.abc import Sequence

import asyncpg
import uvloop
from pydantic import BaseModel

from benchmarks.protocol import Plan, Tally, leave, measure, report_version
from benchmarks.solo.queue import migrated
from livewell import JobRequest, Livewell, WorkerOptions, __version__

UNFINISHED = "select count(*) from livewell_private.job_live"


class Noop(BaseModel):
    """What a no-op job carries."""

    i: int


class LivewellSubject:
    """The application enqueues and works; a connection of its own looks on."""

    def __init__(self, app: Livewell, watcher: "asyncpg.Connection[asyncpg.Record]", plan: Plan) -> None:
        self.tally = Tally()
        self._app = app
        self._watcher = watcher
        self._serial_keys = int(plan.settings["serial_keys"])
        self._options = WorkerOptions(
            concurrency=plan.settings["concurrency"], claim_batch=plan.settings["claim_batch"]
        )
        self._worker: asyncio.Task[int] | None = None
        app.job("noop")(self._noop)

    async def _noop(self, job: Noop) -> None:
        self.tally.hit(job.i)

    async def enqueue(self, number: int) -> None:
        await self._app.enqueue(Noop(i=number), dedupe_key=f"refresh/quote/{number}")

    async def enqueue_many(self, numbers: Sequence[int], *, unique: bool) -> None:
        await self._app.enqueue_many([self._request(number, unique=unique) for number in numbers])

    def _request(self, number: int, *, unique: bool) -> JobRequest:
        return JobRequest(
            kind="noop",
            payload={"i": number},
            dedupe_key=f"refresh/quote/{number}" if unique else None,
            serial_key=f"serial/{number % self._serial_keys}" if self._serial_keys else None,
        )

    async def clear(self) -> None:
        await self._watcher.execute("truncate livewell_private.job, livewell_private.job_attempt")

    async def tidy(self) -> None:
        await self._watcher.execute("vacuum analyze livewell_private.job")

    async def start_worker(self) -> None:
        self._worker = asyncio.create_task(self._app.run_worker(self._options))

    async def unfinished(self) -> int:
        return int(await self._watcher.fetchval(UNFINISHED))


async def main() -> None:
    plan = Plan.from_environment()
    await migrated(plan.dsn)
    watcher = await asyncpg.connect(plan.dsn)
    app = Livewell(plan.dsn)
    subject = LivewellSubject(app, watcher, plan)
    report_version(f"livewell {__version__}, asyncpg {asyncpg.__version__}")
    async with app:
        await measure(subject, plan, unique_drain=True)
        leave()


if __name__ == "__main__":
    uvloop.run(main())
