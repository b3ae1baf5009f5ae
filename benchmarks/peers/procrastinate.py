"""Procrastinate at concurrency 50, jobs kept after success; its batch call takes no lock per job, so none is given."""

import asyncio
import logging
from collections.abc import Sequence
from importlib.metadata import version

import procrastinate
import psycopg
import uvloop

from benchmarks.protocol import Plan, Tally, leave, measure, report_version


class ProcrastinateSubject:
    """The application's pool serves worker and client; a connection of its own looks on."""

    def __init__(self, app: "procrastinate.App", watcher: "psycopg.AsyncConnection", plan: Plan) -> None:
        self.tally = Tally()
        self._app = app
        self._watcher = watcher
        self._concurrency = plan.settings["concurrency"]
        self._task = app.task(name="noop")(self._noop)
        self._worker: asyncio.Task[None] | None = None

    async def _noop(self, i: int) -> None:
        self.tally.hit(i)

    async def enqueue(self, number: int) -> None:
        await self._task.defer_async(i=number)

    async def enqueue_many(self, numbers: Sequence[int], *, unique: bool) -> None:
        del unique
        await self._task.batch_defer_async(*({"i": number} for number in numbers))

    async def clear(self) -> None:
        await self._watcher.execute("truncate procrastinate_jobs cascade")

    async def tidy(self) -> None:
        await self._watcher.execute("vacuum analyze procrastinate_jobs")

    async def start_worker(self) -> None:
        run = self._app.run_worker_async(concurrency=self._concurrency, wait=True, install_signal_handlers=False)
        self._worker = asyncio.create_task(run)

    async def unfinished(self) -> int:
        cursor = await self._watcher.execute(
            "select count(*) from procrastinate_jobs where status in ('todo', 'doing')"
        )
        row = await cursor.fetchone()
        return int(row[0])


async def main() -> None:
    logging.disable(logging.INFO)
    plan = Plan.from_environment()
    pool = plan.settings["pool"]
    connector = procrastinate.PsycopgConnector(conninfo=plan.dsn, min_size=pool, max_size=pool)
    async with procrastinate.App(connector=connector).open_async() as app:
        await app.schema_manager.apply_schema_async()
        watcher = await psycopg.AsyncConnection.connect(plan.dsn, autocommit=True)
        subject = ProcrastinateSubject(app, watcher, plan)
        report_version(f"procrastinate {version('procrastinate')}, psycopg {version('psycopg')}")
        await measure(subject, plan)
        leave()


if __name__ == "__main__":
    uvloop.run(main())
