"""Livewell as an application uses it: one worker, with dedupe keys, leases and a history of attempts."""

import asyncio
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import asyncpg
import uvloop
from pydantic import BaseModel

from benchmarks.protocol import Plan, Tally, leave, measure, report_version
from benchmarks.solo.queue import migrated

UNFINISHED = "select count(*) from livewell.job where state in ('pending', 'processing')"


class Noop(BaseModel):
    """What a no-op job carries."""

    i: int


class LivewellSubject:
    """The application enqueues and works; a connection of its own looks on."""

    def __init__(self, app: Any, watcher: "asyncpg.Connection[asyncpg.Record]", plan: Plan) -> None:
        self.tally = Tally()
        self._app = app
        self._watcher = watcher
        self._serial_keys = int(plan.settings["serial_keys"])
        self._worker: asyncio.Task[None] | None = None
        app.job("noop")(self._noop)

    async def _noop(self, payload: Noop) -> None:
        self.tally.hit(payload.i)

    async def enqueue(self, number: int) -> None:
        await self._app.enqueue("noop", Noop(i=number), dedupe_key=f"refresh/quote/{number}")

    async def enqueue_many(self, numbers: Sequence[int], *, unique: bool) -> None:
        await self._app.enqueue_many([self._job(number, unique=unique) for number in numbers])

    def _job(self, number: int, *, unique: bool) -> dict[str, Any]:
        job: dict[str, Any] = {"kind": "noop", "payload": {"i": number}}
        if unique:
            job["dedupe_key"] = f"refresh/quote/{number}"
        if self._serial_keys:
            job["serial_key"] = f"serial/{number % self._serial_keys}"
        return job

    async def clear(self) -> None:
        await self._watcher.execute("truncate livewell.job, livewell.job_attempt")

    async def tidy(self) -> None:
        await self._watcher.execute("vacuum analyze livewell.job")

    async def start_worker(self) -> None:
        self._worker = asyncio.create_task(self._app.worker().run())

    async def unfinished(self) -> int:
        return int(await self._watcher.fetchval(UNFINISHED))


async def main() -> None:
    from livewell import Livewell  # noqa: PLC0415 - the field can be listed before there is an application class

    plan = Plan.from_environment()
    await migrated(plan.dsn)
    watcher = await asyncpg.connect(plan.dsn)
    report_version(f"livewell {version('livewell')}, asyncpg {asyncpg.__version__}")
    async with Livewell(database_url=plan.dsn) as app:
        await measure(LivewellSubject(app, watcher, plan), plan, unique_drain=True)
        leave()


if __name__ == "__main__":
    uvloop.run(main())
