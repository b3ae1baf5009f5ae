"""In which order a worker asks for jobs and runs them."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from livewell import JobRequest, Livewell, WorkerOptions
from livewell.jobs import JobStore
from livewell.testing import until
from livewell.worker.tests.running import running

BATCH = 5


async def test_the_next_batch_is_asked_for_before_a_full_one_is_run(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the server looks for jobs while handlers run."""
    events: list[str] = []
    claim: Callable[..., Awaitable[Any]] = JobStore.claim_jobs

    async def noted(store: JobStore, *arguments: Any) -> Any:
        events.append("claim")
        return await claim(store, *arguments)

    monkeypatch.setattr(JobStore, "claim_jobs", noted)
    app = Livewell(database_url)

    @app.job("noop")
    async def noop(_: dict[str, Any]) -> None:
        events.append("run")

    async def all_ran() -> bool:
        return events.count("run") == 2 * BATCH

    async with app:
        await app.enqueue_many([JobRequest(kind="noop", payload={"i": number}) for number in range(2 * BATCH)])
        async with running(app, WorkerOptions(concurrency=4 * BATCH, claim_batch=BATCH)):
            await until(all_ran, "all have run")
    assert events[:3] == ["claim", "claim", "run"]
