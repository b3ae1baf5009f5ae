"""How a contender is measured: the same steps for each, run inside the contender's own process.

A contender is a child process. It is told where the database is (`BENCH_DSN`) and how much to do (`BENCH_PLAN`, JSON)
and prints one JSON object per line: `{"measure", "value", "unit"}` for a figure, `{"version"}` for what was measured.
Only the standard library is used here, because the peers import it inside environments of their own.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

FINISH_POLL = 0.005
SETTLE = 1.0
SAMPLE_LIMIT = 30.0
FIRST_SAMPLE = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How much of everything; sizes are jobs."""

    dsn: str
    single: int
    bulk: int
    batch: int
    drain: int
    samples: int
    gap: float
    settings: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_environment(cls) -> "Plan":
        return cls(dsn=os.environ["BENCH_DSN"], **json.loads(os.environ["BENCH_PLAN"]))


class Tally:
    """What the handlers saw: how many, and when each sampled job started."""

    def __init__(self) -> None:
        self.seen = 0
        self._goal = 0
        self._reached = asyncio.Event()
        self._awaited: dict[int, asyncio.Future[float]] = {}

    def hit(self, number: int) -> None:
        """Called by the handler at its first line."""
        self.seen += 1
        if self._awaited and (started := self._awaited.pop(number, None)) is not None:
            started.set_result(time.perf_counter())
        if self.seen == self._goal:
            self._reached.set()

    async def reach(self, goal: int) -> None:
        self._goal = goal
        if self.seen < goal:
            await self._reached.wait()

    def start_of(self, number: int) -> "asyncio.Future[float]":
        self._awaited[number] = asyncio.get_running_loop().create_future()
        return self._awaited[number]


class Subject(Protocol):
    """What a contender must offer to be measured."""

    tally: Tally

    async def enqueue(self, number: int) -> None:
        """One no-op job, as the peer documents it."""

    async def enqueue_many(self, numbers: Sequence[int], *, unique: bool) -> None:
        """Many in one call; with a dedupe key each when `unique` and the peer has one."""

    async def clear(self) -> None:
        """Forget all jobs."""

    async def tidy(self) -> None:
        """Vacuum and analyze, so that no contender starts on stale statistics."""

    async def start_worker(self) -> None:
        """One worker in this process."""

    async def unfinished(self) -> int:
        """Jobs that the database does not show as finished."""


def report(measure: str, value: float, unit: str) -> None:
    print(json.dumps({"measure": measure, "value": value, "unit": unit}), flush=True)


def leave() -> NoReturn:
    """End at once: the database is dropped next, and no peer's way of stopping is measured."""
    sys.stdout.flush()
    os._exit(0)


def report_version(version: str) -> None:
    print(json.dumps({"version": version}), flush=True)


async def measure(subject: Subject, plan: Plan, *, unique_drain: bool = False) -> None:
    """Enqueue, drain and latency; a peer drains jobs without keys unless it says otherwise, which favours the peer."""
    await _singles(subject, plan)
    await _bulk(subject, plan)
    await _drain(subject, plan, unique=unique_drain)
    if not plan.samples:
        return
    await _latency(subject, plan, FIRST_SAMPLE, "latency_after_burst")
    await subject.tidy()
    await asyncio.sleep(SETTLE)
    await _latency(subject, plan, FIRST_SAMPLE + plan.samples, "latency_idle")


async def _singles(subject: Subject, plan: Plan) -> None:
    if not plan.single:
        return
    await subject.enqueue(0)
    started = time.perf_counter()
    for number in range(1, plan.single + 1):
        await subject.enqueue(number)
    report("enqueue_single", plan.single / (time.perf_counter() - started), "jobs/s")
    await subject.clear()


async def _bulk(subject: Subject, plan: Plan) -> None:
    if not plan.bulk:
        return
    started = time.perf_counter()
    await _fill(subject, plan, plan.bulk, unique=True)
    report("enqueue_bulk", plan.bulk / (time.perf_counter() - started), "jobs/s")
    await subject.clear()


async def _fill(subject: Subject, plan: Plan, jobs: int, *, unique: bool) -> None:
    for first in range(0, jobs, plan.batch):
        await subject.enqueue_many(range(first, min(first + plan.batch, jobs)), unique=unique)


async def _drain(subject: Subject, plan: Plan, *, unique: bool) -> None:
    await _fill(subject, plan, plan.drain, unique=unique)
    await subject.tidy()
    goal = subject.tally.seen + plan.drain
    started = time.perf_counter()
    await subject.start_worker()
    await subject.tally.reach(goal)
    await until_zero(subject.unfinished)
    report("drain", plan.drain / (time.perf_counter() - started), "jobs/s")


async def until_zero(count: Callable[[], Awaitable[int]]) -> None:
    while await count():  # noqa: ASYNC110 - the database has no event to wait for
        await asyncio.sleep(FINISH_POLL)


async def _latency(subject: Subject, plan: Plan, first: int, name: str) -> None:
    """From before the call that enqueues until the handler's first line, one job at a time."""
    waits = []
    for number in range(first, first + plan.samples):
        start = subject.tally.start_of(number)
        asked = time.perf_counter()
        await subject.enqueue(number)
        async with asyncio.timeout(SAMPLE_LIMIT):
            waits.append(await start - asked)
        await asyncio.sleep(plan.gap)
    report(f"{name}_p50", percentile(waits, 50) * 1000, "ms")
    report(f"{name}_p99", percentile(waits, 99) * 1000, "ms")


def percentile(values: Sequence[float], percent: float) -> float:
    ordered = sorted(values)
    return ordered[round(percent / 100 * (len(ordered) - 1))]
