"""The small application that workers of a run serve: one kind for each way in which work can be awkward."""

import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from pydantic import BaseModel

from livewell import JobContext, Livewell
from tests.faults.history import Notebook
from tests.faults.plan import CAP, Plan

# Kills and cuts cost an attempt each; a job of these kinds must outlive all of them.
PATIENT = 200
POISON_RETRIES = 2
RUDE_WAYS = 6


class Work(BaseModel):
    """What all kinds take: how long to work, and what else they need."""

    seconds: float = 0.0
    rows: list[int] = []


def declare(app: Livewell, book: Notebook, plan: Plan) -> None:
    """Give the application its handlers; each notes its start, its effect and its end outside the database."""
    _declare_plain(app, book, plan)
    _declare_deadly(app, book)
    _declare_contending(app, book)
    _declare_demanding(app, book)


def _declare_plain(app: Livewell, book: Notebook, plan: Plan) -> None:
    @app.job("quick", retries=PATIENT)
    async def quick(_work: Work, ctx: JobContext) -> None:
        async with noted(book, ctx):
            pass

    @app.job("slow", retries=PATIENT)
    async def slow(work: Work, ctx: JobContext) -> None:
        async with noted(book, ctx):
            await asyncio.sleep(work.seconds)

    @app.job("serial", retries=PATIENT)
    async def serial(work: Work, ctx: JobContext) -> None:
        async with noted(book, ctx):
            await asyncio.sleep(work.seconds)

    @app.job("capped", retries=PATIENT, concurrency=CAP)
    async def capped(work: Work, ctx: JobContext) -> None:
        async with noted(book, ctx):
            await asyncio.sleep(work.seconds)

    @app.job(
        "flaky",
        retries=PATIENT,
        backoff_first=timedelta(milliseconds=50),
        backoff_max=timedelta(milliseconds=200),
    )
    async def flaky(_work: Work, ctx: JobContext) -> None:
        async with noted(book, ctx):
            if random.Random(f"{plan.seed}/{ctx.job_id}/{ctx.attempt}").random() < 0.4:
                raise ValueError("this attempt was to fail")


def _declare_deadly(app: Livewell, book: Notebook) -> None:
    @app.job("mortal", retries=PATIENT)
    async def mortal(_work: Work, ctx: JobContext) -> None:
        """Dies between its effect and the acknowledgement, the first time."""
        async with noted(book, ctx):
            if ctx.attempt == 1:
                die(book)

    @app.job("poison", retries=POISON_RETRIES)
    async def poison(_work: Work, ctx: JobContext) -> None:
        async with noted(book, ctx):
            die(book)

    @app.job(
        "rude", retries=POISON_RETRIES, backoff_first=timedelta(milliseconds=50), backoff_max=timedelta(milliseconds=50)
    )
    async def rude(work: Work, ctx: JobContext) -> object:
        """Ends in every way that a worker must survive, one per payload."""
        async with noted(book, ctx):
            return _misbehave(work.rows[0])


def _misbehave(way: int) -> object:
    match way:
        case 0:
            raise asyncio.CancelledError
        case 1:
            sys.exit("a library that thinks it is a program")
        case 2:
            raise ValueError("not a \0 character")
        case 3:
            return {"text": "\0"}
        case 4:
            return float("nan")
        case _:
            raise BaseExceptionGroup("several", [ValueError("one"), asyncio.CancelledError()])


def die(book: Notebook) -> None:
    """Kill -9 of this process, by itself; noted before it can have any consequence."""
    book.note("killed", process=book.process)
    os.kill(os.getpid(), signal.SIGKILL)


def _declare_contending(app: Livewell, book: Notebook) -> None:
    @app.job("crossing", retries=0)
    async def crossing(work: Work, ctx: JobContext) -> None:
        """Locks rows in the order it is told, against others that are told another order."""
        async with noted(book, ctx), app.database.transaction() as connection:
            for row in work.rows:
                await connection.execute("update public.hot set n = n + 1 where id = $1", row)
                await asyncio.sleep(work.seconds)

    @app.job("serializable", retries=0)
    async def serializable(work: Work, ctx: JobContext) -> None:
        async with noted(book, ctx), app.database.transaction() as connection:
            await connection.execute("set transaction isolation level serializable")
            total = await connection.fetchval("select sum(n) from public.hot where id = any ($1)", work.rows)
            await asyncio.sleep(work.seconds)
            await connection.execute("update public.hot set n = $2 where id = $1", work.rows[0], total % 1000)


def _declare_demanding(app: Livewell, book: Notebook) -> None:
    @app.job("greedy", retries=0)
    async def greedy(work: Work, ctx: JobContext) -> None:
        """Keeps a connection of the pool for longer than a lease lasts."""
        async with noted(book, ctx), app.database.connection() as connection:
            await connection.fetchval("select 1")
            await asyncio.sleep(work.seconds)

    @app.job("ordering", retries=PATIENT)
    async def ordering(work: Work, ctx: JobContext) -> None:
        """Queues another job for a second later, by whatever clock the product takes."""
        async with noted(book, ctx):
            asked_at = time.monotonic()
            enqueued = await app.enqueue("quick", {"seconds": 0}, delay=timedelta(seconds=work.seconds))
            book.note("acknowledged", job=enqueued.job_id, key=None, kind="quick", outcome=enqueued.outcome)
            book.note("ordered", job=enqueued.job_id, asked_at=asked_at)


@asynccontextmanager
async def noted(book: Notebook, ctx: JobContext) -> AsyncIterator[None]:
    """Note the start with its effect, and how the handler ended."""
    what = {"job": ctx.job_id, "attempt": ctx.attempt}
    book.note("started", **what, kind=ctx.job.kind, idempotency_key=ctx.idempotency_key)
    book.note("effect", **what, idempotency_key=ctx.idempotency_key)
    try:
        yield
    except asyncio.CancelledError:
        book.note("stopped", **what)
        raise
    except BaseException as error:
        book.note("raised", **what, error=repr(error))
        raise
    else:
        book.note("ended", **what)
