"""The judge: what viewers saw, how long they looked at stale rows, and what was spent."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.replay.audience import Audience
from benchmarks.replay.source import Source
from benchmarks.replay.world import DAY, WINDOW, Floats, World

LOOK_EVERY = 3
WARM_UP = DAY
DARK = 0.5
_WAITS = np.concatenate([np.arange(0, 120, 0.5), np.geomspace(120, 160_000, 80)])


@dataclass(frozen=True, kw_only=True)
class Figures:
    """`ok` is the share of viewer-minutes not harmfully stale (within the TTL, or unchanged at the source)."""

    ok: float
    within_ttl: float
    ok_lone: float
    w50: float
    w99: float
    worst_hour: float
    dark_hours: int
    dark_days: int
    gigabytes: float
    over_quota: float
    requests: float
    unchanged: float

    def row(self) -> dict[str, Any]:
        return {name: round(value, 4) for name, value in asdict(self).items()}


class Meter:
    """Looks in the middle of a minute, every third one, after the first day (`warm_up`, minutes)."""

    def __init__(self, world: World, warm_up: int = WARM_UP) -> None:
        self._world = world
        self._warm_up = warm_up
        self.bytes: Floats = np.zeros(world.minutes)
        self.requests: Floats = np.zeros(world.minutes)
        self.rows: Floats = np.zeros(world.minutes)
        self._unchanged: Floats = np.zeros(world.minutes)
        self._seen = np.zeros((-(-world.minutes // 60), 3))
        self._lone = np.zeros(2)
        self._waits = np.zeros(len(_WAITS) + 1)

    def spent(self, minute: int, *, requests: float, rows: int, unchanged: int, size: float) -> None:
        self.bytes[minute] += size
        self.requests[minute] += requests
        self.rows[minute] += rows
        self._unchanged[minute] += unchanged

    def look(self, minute: int, audience: Audience, fetched: Floats, source: Source) -> None:
        if minute < self._warm_up or minute % LOOK_EVERY:
            return
        middle, rows = minute + 0.5, audience.watched()
        viewers, expires = audience.viewers[rows], fetched[rows] + self._world.ttl[rows]
        fresh = middle < expires
        ok = fresh | (source.changes_at[rows] > middle)
        self._seen[minute // 60] += (viewers.sum(), viewers[ok].sum(), viewers[fresh].sum())
        lone = viewers == 1
        self._lone += (lone.sum(), (lone & ok).sum())
        waits = np.where(fresh, 0.0, middle - np.maximum(expires, audience.since[rows]))
        self._waits += np.bincount(np.searchsorted(_WAITS, waits, side="right"), viewers, len(self._waits))

    def figures(self) -> Figures:
        whole = slice(self._warm_up, None)
        looked = self._seen[:, 0] > 0
        seen = self._seen[looked]
        viewers, ok, fresh = seen.sum(0)
        hourly = seen[:, 1] / seen[:, 0]
        fetches = np.add.reduceat(self.rows, np.arange(0, self._world.minutes, 60))[looked]
        dark = (hourly < DARK) | (fetches == 0)
        days = dark[: len(dark) // 24 * 24].reshape(-1, 24)
        return Figures(
            ok=float(ok / viewers),
            within_ttl=float(fresh / viewers),
            ok_lone=float(self._lone[1] / max(1.0, self._lone[0])),
            w50=self._wait(0.5),
            w99=self._wait(0.99),
            worst_hour=float(hourly.min()),
            dark_hours=int(dark.sum()),
            dark_days=int((days.sum(1) > 12).sum()),
            gigabytes=float(self.bytes[whole].mean()) * WINDOW / 1e9,
            over_quota=max(0.0, _largest_window(self.bytes) - self._world.scale.quota),
            requests=float(self.requests[whole].mean()),
            unchanged=float(self._unchanged[whole].sum() / max(1.0, self.rows[whole].sum())),
        )

    def _wait(self, share: float) -> float:
        """The upper edge of the half minute in which this share of viewer-minutes is reached."""
        reached = np.searchsorted(np.cumsum(self._waits) / self._waits.sum(), share)
        return float(_WAITS[min(int(reached), len(_WAITS) - 1)]) if reached > 1 else 0.0


def _largest_window(spent: Floats) -> float:
    """The most bytes of any 30 days, wherever they begin."""
    total = np.concatenate([[0.0], np.cumsum(spent)])
    return float((total[min(WINDOW, len(spent)) :] - total[: max(1, len(total) - WINDOW)]).max())
