"""The oracle: a provider in a process of its own that notes every call by its own clock and counts what is open.

It answers after as long as the call says, or with 429 while there is a storm, under headers that are honest, missing or
lies. It knows nothing of the limits: those who read its notes judge them.

| noted | fields |
|---|---|
| listening | port |
| arrived | call, clock, endpoint, key, job, attempt, tokens, sent (as the caller says), at once (open now), refused |
| left | call, clock: before its answer is written, or when its caller is gone |
| storm, calm | endpoint, clock, headers, until (the time stated by an honest one) |
"""

import asyncio
import itertools
import math
import sys
import time
from collections import Counter
from dataclasses import dataclass
from email.utils import formatdate

from aiohttp import web

from tests.faults.history import Notebook
from tests.faults.plan import Plan

# Every answer says that there is more room than anybody is allowed.
_BOAST = {"x-ratelimit-limit": "1000000", "x-ratelimit-remaining": "999999", "x-ratelimit-reset": "30"}


@dataclass(frozen=True, kw_only=True)
class Storm:
    """Calls of an endpoint are refused; `{seconds}` and `{date}` in a header become the time until it ends."""

    headers: dict[str, str]
    until: float

    def answer(self, now: float) -> web.Response:
        left = max(1, math.ceil(self.until - now))
        date = formatdate(math.ceil(time.time() + self.until - now), usegmt=True)
        headers = {name: text.format(seconds=left, date=date) for name, text in self.headers.items()}
        return web.Response(status=429, headers=headers)


class Oracle:
    """Calls as they come, and who tells it how to answer them."""

    def __init__(self, book: Notebook) -> None:
        self._book = book
        self._leaped = 0.0
        self._numbers = itertools.count(1)
        self._open: Counter[str] = Counter()
        self._storms: dict[str, Storm] = {}

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_get("/call/{endpoint:.+}", self.call)
        application.router.add_post("/storm/{endpoint:.+}", self.storm)
        application.router.add_post("/calm/{endpoint:.+}", self.calm)
        application.router.add_post("/leap/{seconds}", self.leap)
        return application

    async def call(self, request: web.Request) -> web.Response:
        clock = self._clock()
        endpoint, number, asked = request.match_info["endpoint"], next(self._numbers), request.query
        storm = self._storms.get(endpoint)
        self._open[endpoint] += 1
        self._book.note(
            "arrived",
            call=number,
            clock=clock,
            endpoint=endpoint,
            key=request.headers.get("x-api-key"),
            job=int(asked["job"]),
            attempt=int(asked["attempt"]),
            tokens=int(asked["tokens"]),
            sent=float(asked["sent"]),
            at_once=self._open[endpoint],
            refused=storm is not None,
        )
        try:
            if storm is not None:
                return storm.answer(clock)
            await asyncio.sleep(float(asked["seconds"]))
            return web.Response(body=b"x" * 100, headers=_BOAST)
        finally:
            self._open[endpoint] -= 1
            self._book.note("left", call=number, clock=self._clock())

    async def storm(self, request: web.Request) -> web.Response:
        """Refuse the calls of an endpoint; the time it states is so many seconds from now."""
        told, endpoint = await request.json(), request.match_info["endpoint"]
        storm = self._storms[endpoint] = Storm(headers=told["headers"], until=self._clock() + told["seconds"])
        self._book.note("storm", endpoint=endpoint, clock=self._clock(), headers=storm.headers, until=storm.until)
        return web.Response()

    async def calm(self, request: web.Request) -> web.Response:
        endpoint = request.match_info["endpoint"]
        self._storms.pop(endpoint, None)
        self._book.note("calm", endpoint=endpoint, clock=self._clock())
        return web.Response()

    async def leap(self, request: web.Request) -> web.Response:
        """Let time pass at once; whoever asks for it lets the same time pass for those who are judged."""
        self._leaped += float(request.match_info["seconds"])
        return web.Response()

    def _clock(self) -> float:
        return time.monotonic() + self._leaped


async def _serve(book: Notebook) -> None:
    # A call is over when its caller is gone, not when its answer would have been ready.
    runner = web.AppRunner(Oracle(book).application(), handler_cancellation=True, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    book.note("listening", port=runner.addresses[0][1])
    await asyncio.Event().wait()


def main() -> int:
    plan = Plan.read()
    asyncio.run(_serve(Notebook(plan.folder, plan.name)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
