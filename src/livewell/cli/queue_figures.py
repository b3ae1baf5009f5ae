"""What a live picture shows of the queue, read now and then."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from livewell.kernel import shown_duration

if TYPE_CHECKING:
    from livewell.jobs import JobCount, JobStore

HISTORY = 24

_RECENT = timedelta(seconds=5)
_SAMPLE = 400
# An idle worker is heard of as often as it polls, a busy one at its heartbeats, which may be further apart.
_SILENCE = timedelta(seconds=7)
_REFRESHES = "refresh."
_FINISHED = frozenset({"completed", "cancelled"})
_SELDOM = 20


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
    """A worker, and for how long nothing was heard of it; one that is known to have ended is gone."""

    name: str
    slots: int
    unseen: timedelta
    gone: bool = False

    @property
    def silent(self) -> bool:
        return self.gone or self.unseen > _SILENCE

    @property
    def state(self) -> str:
        if self.gone:
            return "gone"
        return (
            f"silent for {shown_duration(timedelta(seconds=round(self.unseen.total_seconds())))}"
            if self.silent
            else "working"
        )


class Counts:
    """How many jobs there are by kind and state, on all nodes. Counting what is finished takes time where much is.

    What waits and runs is counted whenever it is asked for; what is finished only so often that it takes a twentieth
    of the time, and is remembered in between.
    """

    def __init__(self, store: "JobStore") -> None:
        self._store = store
        self._finished: list[JobCount] = []
        self.again_at = float("-inf")
        self.finished_at = time.monotonic()

    async def read(self) -> "list[JobCount]":
        if time.monotonic() < self.again_at:
            return [*await self._store.job_counts(finished=False), *self._finished]
        return await self.read_all()

    async def read_all(self) -> "list[JobCount]":
        """What is finished too, whatever it takes."""
        began = time.monotonic()
        found = await self._store.job_counts(finished=True)
        self.finished_at = time.monotonic()
        self.again_at = self.finished_at + _SELDOM * (self.finished_at - began)
        self._finished = [count for count in found if count.state in _FINISHED]
        return found


class Observer:
    """Reads the figures of some kinds, or of all but refreshes, on all nodes; what was finished before does not count.

    `is_gone` tells of a worker by its name that it has ended, where somebody knows before it has been silent for long.
    """

    def __init__(
        self,
        store: "JobStore",
        kinds: Sequence[str] | None = None,
        *,
        is_gone: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._store = store
        self._counts = Counts(store)
        self._kinds = kinds
        self._is_gone = is_gone
        self._before: dict[tuple[str, str], int] | None = None
        self._completed: dict[str, int] = {}
        self._looked_at = self._counts.finished_at
        self._rates: dict[str, deque[float]] = {}

    async def begin(self) -> None:
        """What is finished by now was there before."""
        self._before = _by_state(await self._counts.read_all())

    async def look(self) -> Figures:
        counts = _by_state(await self._counts.read())
        kinds = self._kinds or sorted({kind for kind, _ in counts if not kind.startswith(_REFRESHES)})
        recent = await self._store.list_jobs(states=["completed"], kinds=kinds, limit=_SAMPLE) if kinds else []
        workers = await self._store.list_workers()
        passed, self._looked_at = self._counts.finished_at - self._looked_at, self._counts.finished_at
        return Figures(
            kinds=[self._figures(kind, counts, recent, passed) for kind in kinds],
            workers=[
                self._worker(worker)
                for worker in workers
                if self._kinds is None or set(worker["kinds"]) & set(self._kinds)
            ],
        )

    def _worker(self, row: dict[str, Any]) -> WorkerFigures:
        return WorkerFigures(name=row["id"], slots=row["slots"], unseen=row["unseen"], gone=self._is_gone(row["id"]))

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
        if passed > 0:
            rates.append(max(0, completed - self._completed.get(kind, 0)) / passed)
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
