"""A worker of the demonstration: one like any other, which ends when the demonstration does."""

import asyncio

from livewell.demo.jobs import app
from livewell.demo.processes import end_with_parent
from livewell.kernel import configure_logs
from livewell.worker import WorkerOptions

_CONCURRENCY = 10


async def serve() -> int:
    async with app:
        return await app.run_worker(WorkerOptions(concurrency=_CONCURRENCY))


if __name__ == "__main__":
    configure_logs()
    end_with_parent()
    raise SystemExit(asyncio.run(serve()))
