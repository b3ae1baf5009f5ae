"""The kind of job that calls the oracle: waits, asks whether its permit is still good, sends, says what it spent."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
from pydantic import BaseModel

from livewell import JobContext, Livewell
from livewell.jobs import Throttled
from tests.faults.history import Notebook
from tests.faults.kinds import PATIENT, noted
from tests.faults.plan import Plan

_LONGEST = timedelta(days=10_000)


class Call(BaseModel):
    """How long to wait before sending, how long the oracle is to take, and the tokens that are really used."""

    wait: float = 0.0
    seconds: float = 0.0
    tokens: int = 0


class Caller:
    """Sends the calls of one process, over connections that it keeps."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._session: aiohttp.ClientSession | None = None

    async def call(self, work: Call, ctx: JobContext) -> Throttled | None:
        if self._session is None:
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        await asyncio.sleep(work.wait)
        if not self._plan.heedless:
            ctx.sending()
        asked = {"job": ctx.job_id, "attempt": ctx.attempt, "tokens": work.tokens, "seconds": work.seconds}
        async with self._session.get(
            f"{self._plan.oracle}/call/{ctx.job.endpoint}",
            params={**asked, "sent": time.monotonic()},
            headers={"x-api-key": ctx.job.api_key} if ctx.job.api_key else {},
        ) as answer:
            ctx.spent(bytes=len(await answer.read()), tokens=work.tokens, rate=_facts(answer))
            if answer.status == 429:
                return Throttled(retry_after=_stated(answer.headers.get("Retry-After")))
        return None


def declare_calls(app: Livewell, book: Notebook, plan: Plan) -> None:
    caller = Caller(plan)

    @app.job("call", retries=PATIENT)
    async def call(work: Call, ctx: JobContext) -> Throttled | None:
        async with noted(book, ctx):
            return await caller.call(work, ctx)


def _facts(answer: aiohttp.ClientResponse) -> dict[str, Any]:
    """What the headers say of limits, believed as far as they are numbers."""
    stated = _stated(answer.headers.get("Retry-After"))
    limit, remaining, reset = (
        _number(answer.headers.get(f"x-ratelimit-{name}")) for name in ("limit", "remaining", "reset")
    )
    facts: dict[str, Any] = {"status": answer.status}
    if stated is not None:
        facts["retry_after_seconds"] = stated.total_seconds()
    if remaining is not None:
        facts["limits"] = [{"unit": "requests", "limit": limit, "remaining": remaining, "reset_seconds": reset}]
    return facts


def _number(header: str | None) -> int | None:
    return int(header) if header is not None and header.isdecimal() else None


def _stated(header: str | None) -> timedelta | None:
    """The time a Retry-After states, in seconds or as a date; None for what is neither."""
    if header is None:
        return None
    try:
        if header.isdecimal():
            return min(timedelta(seconds=int(header)), _LONGEST)
        return max(timedelta(0), parsedate_to_datetime(header) - datetime.now(UTC))
    except (ValueError, OverflowError):
        return None
