"""The two hot calls, 500 jobs at a time, with the finish of one batch overlapping the claim of the next.

Used inside the child processes of both drivers; standard library only, as in `protocol.py`.
"""

import asyncio
import json
import os
import signal
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from benchmarks.protocol import Plan, report

SCHEMA = Path(__file__).parent / "sql" / "driver.sql"
FILL = """
insert into job_live (payload, dedupe_key)
select jsonb_build_object('i', i, 'type', 'quote', 'key', 'K' || i), 'refresh/quote/' || i
from generate_series(1, {jobs}) as i
"""
RESULT = '{"bytes":512}'
PATIENCE = 2.0
SILENT_LIMIT = 60.0

Row = tuple[int, Any]


class Calls(Protocol):
    """One driver in one call shape."""

    async def claim(self, most: int, token: uuid.UUID) -> Sequence[Row]:
        """The id and the parsed payload of each job claimed."""

    async def finish(self, rows: Sequence[Row], token: uuid.UUID) -> int:
        """How many were finished."""


async def drain(calls: Calls, plan: Plan) -> None:
    batch = int(plan.settings["batch"])
    done = 0
    finishing: asyncio.Task[int] | None = None
    started, spent = time.perf_counter(), time.process_time()
    while True:
        token = uuid.uuid4()
        rows = await calls.claim(batch, token)
        if finishing is not None:
            done += await finishing
        if not rows:
            break
        finishing = asyncio.create_task(_finish(calls, rows, token))
    elapsed = time.perf_counter() - started
    if done != plan.drain:
        raise RuntimeError(f"finished {done} of {plan.drain}")
    report("claim_and_finish", plan.drain / elapsed, "jobs/s")
    # The server does the same work for both drivers; what differs is spent here, and says so on a busy machine too.
    report("client_cpu", (time.process_time() - spent) / plan.drain * 1_000_000, "µs/job")


async def _finish(calls: Calls, rows: Sequence[Row], token: uuid.UUID) -> int:
    return await calls.finish(rows, token)


def batch_as_json(rows: Sequence[Row]) -> str:
    return json.dumps([[row[0], "completed", RESULT] for row in rows])


def rows_of_json(value: str | None) -> Sequence[Row]:
    return [] if value is None else [(entry[0], entry[2]) for entry in json.loads(value)]


async def silence(backend: int, ask: Callable[[], Awaitable[Any]]) -> None:
    """Stop the server process of this very connection and see when a call with two seconds to live comes back."""
    os.kill(backend, signal.SIGSTOP)
    started = time.perf_counter()
    try:
        async with asyncio.timeout(SILENT_LIMIT):
            async with asyncio.timeout(PATIENCE):
                await ask()
            raise RuntimeError("a stopped server answered")
    except TimeoutError:
        report("silent_server", time.perf_counter() - started, "s")
    finally:
        os.kill(backend, signal.SIGCONT)
