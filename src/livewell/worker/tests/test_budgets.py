"""Jobs that draw on an endpoint: what their handlers tell is settled, and what was not sent in time is given back."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from livewell import JobContext, Livewell
from livewell.jobs import Throttled
from livewell.kernel import Database
from livewell.testing import make_endpoint, make_key, until
from livewell.worker.tests.running import QUICK, outcomes, running, until_state


class Provider:
    """What the handler is to meet, and what it saw."""

    def __init__(self) -> None:
        self.status = 200
        self.headers: dict[str, str] = {}
        self.keys: list[str] = []
        self.wait = 0.0
        self.calls = 0


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest_asyncio.fixture
async def app(database_url: str, owner: Database, provider: Provider) -> AsyncIterator[Livewell]:
    application = Livewell(database_url)

    @application.job("call", retries=0)
    async def call(job: dict[str, Any], ctx: JobContext) -> Throttled | None:
        await asyncio.sleep(provider.wait)
        ctx.sending()
        provider.calls += 1
        if ctx.api_key is not None:
            provider.keys.append(ctx.api_key.reveal())
        facts = ctx.answered(provider.status, provider.headers)
        ctx.spent(bytes=1_200, tokens=34)
        return Throttled(retry_after=facts.retry_after) if facts.is_throttled else None

    await make_endpoint(owner, "p/a", quota_bytes=10**9, tokens_per_minute=10_000, send_within=timedelta(seconds=1))
    async with application:
        yield application


async def _call(app: Livewell, **fields: Any) -> int:
    return (await app.enqueue("call", {"n": 1}, endpoint="p/a", estimated_bytes=50_000, **fields)).job_id


async def test_what_was_used_is_settled_with_the_job(app: Livewell, provider: Provider, owner: Database) -> None:
    """Bytes and tokens that the handler tells take the place of what was reserved."""
    job = await _call(app)
    async with running(app):
        await until_state(app, job, "completed")
    (state,) = [state for state in await app.budgets.budget_state() if state.name == "p/a"]
    (quota,) = [quota for quota in await app.budgets.quota_states() if quota.provider == "p"]
    assert (quota.used_bytes, quota.in_flight_bytes) == (1_200, 0)
    assert (state.tokens_last_minute, state.in_flight) == (34, 0)


async def test_a_throttled_call_closes_the_endpoint(app: Livewell, provider: Provider, owner: Database) -> None:
    """429 costs no retry: the job waits, its endpoint is closed as long as the answer said, and then it is done."""
    provider.status, provider.headers = 429, {"Retry-After": "1"}
    job = await _call(app)
    async with running(app):
        await until(lambda: _closed(owner), "the endpoint is closed")
        provider.status, provider.headers = 200, {}
        await until_state(app, job, "completed")
    assert await outcomes(app, job) == ["rescheduled", "completed"]
    assert provider.calls == 2


async def _closed(owner: Database) -> bool:
    return bool(
        await owner.fetchval(
            "select closed_until > clock_timestamp() from livewell_private.limit_use where name = 'p/a'"
        )
    )


async def test_a_limit_in_the_headers_is_learned(app: Livewell, provider: Provider) -> None:
    """What a good answer says of limits holds from then on."""
    provider.headers = {"RateLimit-Policy": '"default";q=7;w=60', "RateLimit": '"default";r=6;t=30'}
    job = await _call(app)
    async with running(app):
        await until_state(app, job, "completed")
    (state,) = [state for state in await app.budgets.budget_state() if state.name == "p/a"]
    assert state.learned["requests_per_minute"] == 7


async def test_a_call_that_would_be_late_is_given_back(app: Livewell, provider: Provider) -> None:
    """A handler that took longer than `send_within` before its request may not send it: the job is queued again."""
    provider.wait = 1.2
    job = await _call(app)
    async with running(app):
        await until(lambda: _tried(app, job), "the first attempt is over")
        provider.wait = 0.0
        await until_state(app, job, "completed")
    assert (await outcomes(app, job))[0] == "reset"
    assert provider.calls == 1


async def _tried(app: Livewell, job: int) -> bool:
    return bool(await outcomes(app, job))


async def test_a_job_has_its_key(
    app: Livewell, provider: Provider, owner: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handler gets the key its call was granted with, read where it is kept."""
    monkeypatch.setenv("MAIN_API_KEY", "s3cret")
    await make_key(owner, "p", "main_api_key")
    job = await _call(app)
    async with running(app):
        await until_state(app, job, "completed")
    assert provider.keys == ["s3cret"]


async def test_a_worker_wakes_when_its_endpoint_opens(app: Livewell, provider: Provider, owner: Database) -> None:
    """With the poll far away, a job whose endpoint was closed runs when it opens."""
    await owner.execute(
        "update livewell_private.limit_use set next_allowed_at = clock_timestamp() + interval '1.5 seconds'"
        " where name = 'p/a'"
    )
    job = await _call(app)
    async with running(app, replace(QUICK, poll_interval=timedelta(minutes=5))):
        await until_state(app, job, "completed")
