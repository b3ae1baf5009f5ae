"""The same world replayed through the SQL engine, on a virtual clock: what is decided here, PostgreSQL decides.

Viewers come and go by `change_viewers`, the checker's task runs every few seconds of the virtual clock, jobs are
claimed under the real limits and the real quota, rows are stored, learned from and finished in one transaction. Workers
that die with what they claimed, and a provider that answers 429 for minutes, can be injected.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import numpy as np

from benchmarks.replay.audience import Audience
from benchmarks.replay.junk import GONE_BYTES, Junk, is_junk, junk_items
from benchmarks.replay.meter import Figures, Meter
from benchmarks.replay.pure import Rules
from benchmarks.replay.source import Source
from benchmarks.replay.world import DAY, OFFERS, Floats, Ints, World
from benchmarks.solo.queue import SET
from livewell.kernel import Queries

SQL = Queries.parse((Path(__file__).parents[1] / "sql" / "replay.sql").read_text(encoding="utf-8"))
BEGINNING = datetime(2030, 1, 1, tzinfo=UTC)
TICK_SECONDS = 20
RETRY_SECONDS = 30


@dataclass(frozen=True, kw_only=True)
class Faults:
    """How often a claimed batch dies with its worker, and in which minutes of each so many the provider says 429."""

    killed_share: float = 0.0
    storm_every: int = 0
    storm_minutes: int = 0

    def storm(self, minute: int) -> bool:
        return self.storm_every > 0 and minute % self.storm_every < self.storm_minutes


@dataclass(frozen=True, kw_only=True)
class Course:
    """How it is run: minutes before anything is measured, seconds from one run of the checker to the next, faults."""

    warm_up: int = DAY
    tick_seconds: int = TICK_SECONDS
    faults: Faults = Faults()
    junk_users: int = 0

    @property
    def ticks(self) -> int:
        return 60 // self.tick_seconds

    def limit(self, requests: int) -> int:
        """The limit that lets so many start in a minute: the limiter counts 63 seconds, which are so many ticks."""
        return round(requests * (1 + 62 // self.tick_seconds) / self.ticks)


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """`junk` of the requests were for keys that are not there; `most_requests` arrived at the source within any 60
    seconds; `latest` is the longest, in seconds, that somebody had looked at a stale row when it was fetched.
    """

    figures: Figures
    killed: int
    rescued: int
    throttled: int
    junk: int
    most_requests: int
    latest: float


async def replay_engine(url: str, world: World, rules: Rules, course: Course) -> Replayed:
    connection = await asyncpg.connect(url, server_settings={"synchronous_commit": "off"})
    try:
        run = _Run(connection, world, rules, course)
        await run.prepare()
        for minute in range(world.minutes):
            await run.minute(minute)
        return run.replayed()
    finally:
        await connection.close()


class _Run:
    def __init__(
        self, connection: "asyncpg.Connection[asyncpg.Record]", world: World, rules: Rules, course: Course
    ) -> None:
        self._db, self._world, self._rules, self._course = connection, world, rules, course
        self._audience = Audience(world)
        self._source = Source(world, conditional=rules.conditional_rows(world))
        self._meter = Meter(world, course.warm_up)
        self._fetched: Floats = world.fetched.copy()
        self._versions: Ints = np.zeros(world.rows, dtype=np.int64)
        self._random = np.random.default_rng([world.seed, 4])
        self._types = [OFFERS[offer].name for offer in world.offer]
        self._keys = [f"K{row // len(OFFERS)}" for row in range(world.rows)]
        self._items: list[int] = []
        self._row_of: dict[int, int] = {}
        self._asked: list[float] = []
        self._killed = self._rescued = self._throttled = 0
        self._junk, self._junk_fetches = Junk(users=course.junk_users, begins=course.warm_up), 0
        self._latest = 0.0

    async def prepare(self) -> None:
        """The world's provider, types, rows and items; everything is fetched, nobody looks."""
        await self._declare()
        await self._fill()

    async def _declare(self) -> None:
        scale = self._world.scale
        policy = "viewers" if self._rules.rule == "viewers" else "value"
        bucket = timedelta(hours=scale.bucket_hours)
        await self._db.execute(SQL["provider"], int(scale.quota), scale.buffer, bucket, policy)
        await self._db.execute(SQL["quota_use"])
        await self._db.execute(SQL["endpoint"], self._course.limit(scale.requests))
        await self._db.execute(SQL["limit_use"])
        value_rule = "contract" if self._rules.rule == "contract" else "observed"
        for offer in OFFERS:
            keys = offer.batch if self._rules.batches else 1
            await self._db.execute(SQL["data_type"], offer.name, offer.ttl, int(offer.size), value_rule, keys)

    async def _fill(self) -> None:
        fetched = [_clock(minute) for minute in self._world.fetched]
        await self._db.execute(SQL["rows"], self._types, self._keys, fetched)
        found = await self._db.fetch(SQL["items"], self._types, self._keys, BEGINNING)
        self._items = [row["item_id"] for row in found]
        self._row_of = {item: row for row, item in enumerate(self._items)}
        await self._db.execute(SQL["first_fetches"], self._items, fetched)
        await self._db.execute("analyze")
        # One run stands for as many as there would be in its time.
        await self._db.execute(SET, "freshness.max_items", str(1000 * self._course.tick_seconds))
        await self._db.execute(SET, "freshness.horizon", f"{self._course.tick_seconds} seconds")

    async def minute(self, minute: int) -> None:
        if minute % DAY == 0:
            await self._db.execute(SQL["partitions"], _clock(minute))
        left, came = self._audience.move(minute)
        await self._change(left, -1, minute)
        await self._change(came, 1, minute)
        await self._junk.come(self._db, minute, _clock(minute))
        self._rescued += await self._db.fetchval(SQL["task_rescue"], _clock(minute))
        ticks = self._course.ticks
        for tick in range(ticks):
            if tick == (ticks + 1) // 2:
                self._meter.look(minute, self._audience, self._fetched, self._source)
            await self._tick(minute, minute + tick / ticks)

    async def _change(self, rows: Ints, by: int, minute: int) -> None:
        if len(rows):
            items = [self._items[row] for row in rows]
            await self._db.execute(SQL["change_viewers"], items, [by] * len(items), _clock(minute))

    async def _tick(self, minute: int, now: float) -> None:
        await self._db.execute(SQL["task_check"], _clock(now))
        # One key's rows are fetched one after the other, so a second claim finds what the first had to leave.
        while jobs := await self._db.fetch(SQL["claim"], _clock(now)):
            if self._random.random() < self._course.faults.killed_share:
                self._killed += len(jobs)
            elif self._course.faults.storm(minute):
                self._throttled += len(jobs)
                details = [{"delay_seconds": RETRY_SECONDS, "actual_bytes": 0}] * len(jobs)
                await self._finish(jobs, "throttled", details, now)
            else:
                await self._fetch_junk([job for job in jobs if is_junk(job, self._row_of)], minute, now)
                await self._fetch([job for job in jobs if not is_junk(job, self._row_of)], minute, now)

    async def _fetch_junk(self, jobs: Sequence[asyncpg.Record], minute: int, now: float) -> None:
        if not jobs:
            return
        items, outcomes = junk_items(jobs)
        nothing, size = [None] * len(items), [GONE_BYTES] * len(items)
        async with self._db.transaction():
            await self._db.execute(SQL["learn"], items, outcomes, nothing, size, _clock(now))
            await self._finish(jobs, "completed", [{"actual_bytes": each} for each in size], now)
        requests = _requests(jobs)
        self._junk_fetches += requests
        self._asked += [now] * requests
        self._meter.spent(minute, requests=requests, rows=0, unchanged=0, size=float(sum(size)))

    async def _fetch(self, jobs: Sequence[asyncpg.Record], minute: int, now: float) -> None:
        if not jobs:
            return
        rows = np.array([self._row_of[job["item"]] for job in jobs])
        changed, received = self._source.ask(rows, now)
        self._versions[rows[changed]] += 1
        outcomes = ["fetched" if new or not self._rules.conditional else "unchanged" for new in changed]
        hashes = [int(version).to_bytes(8) if version else b"\x00" for version in self._versions[rows]]
        size = [int(each) for each in received]
        async with self._db.transaction():
            at = _clock(now)
            await self._db.execute(
                SQL["store"], [self._types[row] for row in rows], [self._keys[row] for row in rows], at
            )
            await self._db.execute(SQL["learn"], [self._items[row] for row in rows], outcomes, hashes, size, at)
            await self._finish(jobs, "completed", [{"actual_bytes": each} for each in size], now)
        self._note_wait(rows, now)
        self._fetched[rows] = now
        requests = _requests(jobs)
        self._asked += [now] * requests
        self._meter.spent(
            minute, requests=requests, rows=len(rows), unchanged=int((~changed).sum()), size=received.sum()
        )

    def _note_wait(self, rows: Ints, now: float) -> None:
        watched = rows[self._audience.viewers[rows] > 0]
        begun = np.maximum(self._fetched[watched] + self._world.ttl[watched], self._audience.since[watched])
        self._latest = max(self._latest, 60 * float((now - begun).max(initial=0.0)))

    async def _finish(
        self, jobs: Sequence[asyncpg.Record], outcome: str, details: list[dict[str, int]], now: float
    ) -> None:
        await self._db.execute(
            SQL["finish"],
            [job["job_id"] for job in jobs],
            [job["lease_token"] for job in jobs],
            [outcome] * len(jobs),
            json.dumps(details),
            _clock(now),
        )

    def replayed(self) -> Replayed:
        asked = np.array(self._asked)
        within = np.searchsorted(asked, asked + 1 - 1e-9) - np.arange(len(asked))
        return Replayed(
            figures=self._meter.figures(),
            killed=self._killed,
            rescued=self._rescued,
            throttled=self._throttled,
            junk=self._junk_fetches,
            most_requests=int(within.max(initial=0)),
            latest=self._latest,
        )


def _requests(jobs: Sequence[asyncpg.Record]) -> int:
    """How many went out for them: those of a bundle share one."""
    bundles = {job["bundle"] for job in jobs if job["bundle"] is not None}
    return len(bundles) + sum(job["bundle"] is None for job in jobs)


def _clock(minute: float) -> datetime:
    return BEGINNING + timedelta(minutes=float(minute))
