"""The world the policies are replayed in: what is offered, how it changes, who looks at it, and what may be spent.

Four types of data for each key, sizes and change rates spread widely around what the registry knows, viewers that come
by Poisson, follow the day, prefer few keys (Zipf) and stay for minutes. Everything but the changes is drawn before the
replay, so that all policies of a seed see the same rows and the same viewers.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

DAY = 1440
WINDOW = 30 * DAY


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A type of data: its TTL in minutes, its usual bytes, the share of sessions that look at it, keys per request."""

    name: str
    ttl: float
    size: float
    seen: float
    batch: int = 1


OFFERS = (
    Offer(name="quote", ttl=1, size=1e3, seen=1.0, batch=20),
    Offer(name="profile", ttl=60, size=50e3, seen=0.6),
    Offer(name="filing", ttl=1440, size=250e3, seen=0.5),
    Offer(name="history", ttl=43200, size=500e3, seen=0.3),
)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How big the world is. Viewers, quota and requests go with the keys: a tenth of all is the same problem."""

    keys: int = 2000
    viewers: float = 400.0
    quota: float = 20e9
    requests: int = 100
    stay: float = 12.0
    buffer: float = 0.95
    bucket_hours: float = 14.4
    begins: float = 0.0
    """The hour of day at which the replay begins; most look at 13, fewest at 1."""

    @property
    def bucket(self) -> float:
        """What may be saved up, and so spent at once: the even allowance of some hours."""
        return self.quota * self.buffer * self.bucket_hours * 60 / WINDOW

    @property
    def rate(self) -> float:
        """The even allowance, bytes a minute: with the bucket, no window of 30 days passes the buffered quota."""
        return (self.quota * self.buffer - self.bucket) / WINDOW


def smaller(by: float) -> Scale:
    """The same problem with fewer keys, viewers, bytes and requests."""
    whole = Scale()
    return Scale(
        keys=round(whole.keys / by),
        viewers=whole.viewers / by,
        quota=whole.quota / by,
        requests=round(whole.requests / by),
    )


@dataclass(frozen=True, kw_only=True)
class Moves:
    """Rows by minute: those of minute t are rows[starts[t]:starts[t + 1]]."""

    rows: Ints
    starts: Ints

    def at(self, minute: int) -> Ints:
        return self.rows[self.starts[minute] : self.starts[minute + 1]]


@dataclass(frozen=True, kw_only=True)
class World:
    seed: int
    minutes: int
    scale: Scale
    offer: Ints
    ttl: Floats
    estimate: Floats
    size: Floats
    rate: Floats
    fetched: Floats
    arrivals: Moves
    departures: Moves
    per_request: Floats = field(repr=False)

    @property
    def rows(self) -> int:
        return len(self.ttl)


def make_world(seed: int, days: float, scale: Scale | None = None) -> World:
    scale = scale or Scale()
    minutes = int(days * DAY)
    random = np.random.default_rng([seed, 1])
    offer = np.tile(np.arange(len(OFFERS)), scale.keys)
    ttl = np.array([o.ttl for o in OFFERS])[offer]
    estimate = np.array([o.size for o in OFFERS])[offer]
    rate = random.lognormal(0.0, 1.2, len(offer)) / ttl
    rate[random.random(len(offer)) < 0.3] /= 50
    arrivals, departures = _sessions(np.random.default_rng([seed, 2]), minutes, scale)
    return World(
        seed=seed,
        minutes=minutes,
        scale=scale,
        offer=offer,
        ttl=ttl,
        estimate=estimate,
        size=np.clip(estimate * random.lognormal(0.0, 0.5, len(offer)), 500, 1e6),
        rate=rate,
        fetched=-2 * ttl * random.random(len(offer)),
        arrivals=arrivals,
        departures=departures,
        per_request=np.array([float(o.batch) for o in OFFERS])[offer],
    )


def _sessions(random: np.random.Generator, minutes: int, scale: Scale) -> tuple[Moves, Moves]:
    clock = np.arange(minutes)
    by_hour = 1 + 0.7 * np.sin(2 * np.pi * (clock / DAY + scale.begins / 24 - 0.3))
    coming = random.poisson(scale.viewers / scale.stay * by_hour)
    start = np.repeat(clock, coming)
    share = 1 / np.arange(1, scale.keys + 1)
    key = random.permutation(scale.keys)[random.choice(scale.keys, len(start), p=share / share.sum())]
    stay = np.maximum(1, np.ceil(random.exponential(scale.stay, len(start)))).astype(np.int64)
    session, offer = np.nonzero(random.random((len(start), len(OFFERS))) < np.array([o.seen for o in OFFERS]))
    rows = key[session] * len(OFFERS) + offer
    return _moves(rows, start[session], minutes), _moves(rows, (start + stay)[session], minutes)


def _moves(rows: Ints, minute: Ints, minutes: int) -> Moves:
    order = np.argsort(minute, kind="stable")
    return Moves(rows=rows[order], starts=np.searchsorted(minute[order], np.arange(minutes + 1)))
