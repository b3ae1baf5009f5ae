"""A worker in this process, for tests: an application, its service in the background, and what the database says."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from livewell import Livewell, WorkerOptions
from livewell.testing import until
from livewell.worker import Worker

QUICK = WorkerOptions(concurrency=4, claim_batch=10, poll_interval=timedelta(milliseconds=50))


@asynccontextmanager
async def running(app: Livewell, options: WorkerOptions = QUICK) -> AsyncIterator[Worker]:
    """Run a worker for the block's length and drain it after; a failure of the service fails the test."""
    service, worker = await app.service(options)
    task = asyncio.create_task(service.run())
    try:
        await worker.started.wait()
        yield worker
    finally:
        service.drain()
        async with asyncio.timeout(20):
            await task
    assert not service.failures, service.failures


async def until_state(app: Livewell, job_id: int, *states: str) -> dict[str, Any]:
    """Wait until a job is shown in one of the states, and answer it."""

    async def reached() -> bool:
        return (await app.jobs.show_job(job_id))["shown_state"] in states

    await until(reached, f"job {job_id} is {' or '.join(states)}", within=timedelta(seconds=15))
    return await app.jobs.show_job(job_id)


async def outcomes(app: Livewell, job_id: int) -> list[str]:
    """How the attempts of a job ended, in order."""
    return [attempt["outcome"] for attempt in await app.jobs.list_attempts(job_id)]
