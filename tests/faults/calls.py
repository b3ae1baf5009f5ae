"""The kind of job that calls the oracle: waits, asks whether its permit is still good, sends, says what it spent."""

import asyncio
import time

import aiohttp
from pydantic import BaseModel

from livewell import JobContext, Livewell
from livewell.jobs import Throttled
from tests.faults.history import Notebook
from tests.faults.kinds import PATIENT, noted
from tests.faults.plan import Plan


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
            facts = ctx.answered(answer.status, answer.headers)
            ctx.spent(bytes=len(await answer.read()), tokens=work.tokens)
        return Throttled(retry_after=facts.retry_after) if facts.is_throttled else None


def declare_calls(app: Livewell, book: Notebook, plan: Plan) -> None:
    caller = Caller(plan)

    @app.job("call", retries=PATIENT)
    async def call(work: Call, ctx: JobContext) -> Throttled | None:
        async with noted(book, ctx):
            return await caller.call(work, ctx)
