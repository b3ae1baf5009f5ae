"""What a live picture shows of the queue, read now and then."""

import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from livewell.jobs import JobCount, JobStore

HISTORY = 24

_RECENT = timedelta(seconds=5)
_SAMPLE = 400
_SILENCE = timedelta(seconds=4)
_REFRESHES = "refresh."


@dataclass(frozen=True, kw_only=True)
class KindFigures:
    """One line of the view."""

    kind: str
    waiting: int
    running: int
    completed: int
    failed: int
    rates: Sequence[float]
    latency: tuple[timedelta, timedelta] | None

    @property
    def rate(self) -> float:
        recent = list(self.rates)[-4:]
        return sum(recent) / len(recent) if recent else 0.0


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The queue at one moment."""

    kinds: Sequence[KindFigures]
    workers: Sequence["WorkerFigures"]

    @property
    def live(self) -> int:
        return sum(kind.waiting + kind.running for kind in self.kinds)


@dataclass(frozen=True, kw_only=True)
class WorkerFigures:
    """A worker, and for how long nothing was heard of it."""

    name: str
    slots: int
    unseen: timedelta

    @property
    def silent(self) -> bool:
        return self.unseen > _SILENCE


class Observer:
    """Reads the figures of some kinds, or of all but refreshes; what was finished before does not count."""

    def __init__(self, store: "JobStore", kinds: Sequence[str] | None = None) -> None:
        self._store = store
        self._kinds = kinds
        self._before: dict[tuple[str, str], int] | None = None
        self._completed: dict[str, int] = {}
        self._looked_at = time.monotonic()
        self._rates: dict[str, deque[float]] = {}

    async def begin(self) -> None:
        """What is finished by now was there before."""
        self._before = _by_state(await self._store.job_counts(finished=True))

    async def look(self) -> Figures:
        counts = _by_state(await self._store.job_counts(finished=True))
        kinds = self._kinds or sorted({kind for kind, _ in counts if not kind.startswith(_REFRESHES)})
        recent = await self._store.list_jobs(states=["completed"], kinds=kinds, limit=_SAMPLE) if kinds else []
        workers = await self._store.list_workers()
        now = time.monotonic()
        passed, self._looked_at = now - self._looked_at, now
        return Figures(
            kinds=[self._figures(kind, counts, recent, passed) for kind in kinds],
            workers=[_worker(one) for one in workers if self._kinds is None or set(one["kinds"]) & set(self._kinds)],
        )

    def _figures(
        self, kind: str, counts: dict[tuple[str, str], int], recent: list[dict[str, Any]], passed: float
    ) -> KindFigures:
        before = self._before or {}

        def count(state: str) -> int:
            return counts.get((kind, state), 0)

        def new(state: str) -> int:
            return max(0, count(state) - before.get((kind, state), 0))

        completed = new("completed")
        rates = self._rates.setdefault(kind, deque(maxlen=HISTORY))
        rates.append(max(0, completed - self._completed.get(kind, 0)) / max(passed, 0.001))
        self._completed[kind] = completed
        return KindFigures(
            kind=kind,
            waiting=count("pending") + count("deferred") + count("retrying"),
            running=count("processing"),
            completed=completed,
            failed=new("failed"),
            rates=tuple(rates),
            latency=_latency(row for row in recent if row["kind"] == kind),
        )


def _by_state(counts: "Iterable[JobCount]") -> dict[tuple[str, str], int]:
    return {(count.kind, count.state): count.jobs for count in counts}


def _worker(row: dict[str, Any]) -> WorkerFigures:
    unseen = max(datetime.now(UTC) - row["last_seen"], timedelta())
    return WorkerFigures(name=row["id"], slots=row["slots"], unseen=unseen)


def _latency(rows: Iterable[dict[str, Any]]) -> tuple[timedelta, timedelta] | None:
    """From enqueue to start, median and worst in a hundred, of first attempts that ended lately."""
    since = datetime.now(UTC) - _RECENT
    waits = sorted(
        row["started_at"] - row["created_at"]
        for row in rows
        if row["attempt"] == 1 and row["started_at"] is not None and row["finished_at"] >= since
    )
    if not waits:
        return None
    return waits[len(waits) // 2], waits[min(len(waits) - 1, len(waits) * 99 // 100)]
