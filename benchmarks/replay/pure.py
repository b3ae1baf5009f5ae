"""The policies alone in the world: minute by minute, with nothing between a decision and its answer."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchmarks.replay import policy
from benchmarks.replay.audience import Audience
from benchmarks.replay.learning import Learning
from benchmarks.replay.meter import WARM_UP, Figures, Meter
from benchmarks.replay.source import UNCHANGED_BYTES, Source
from benchmarks.replay.world import WINDOW, Floats, Ints, World

Rule = Literal["viewers", "contract", "observed"]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What is replayed. `viewers` is the seeds' rule: most viewers first, of those the one stale for longest."""

    rule: Rule
    conditional: bool = False
    batches: bool = False
    paced: bool = True
    true_rates: bool = False
    name: str = ""


def replay(world: World, rules: Rules, warm_up: int = WARM_UP) -> Figures:
    run = _Run(world, rules, warm_up)
    for minute in range(world.minutes):
        run.tick(minute)
    return run.meter.figures()


class _Run:
    def __init__(self, world: World, rules: Rules, warm_up: int) -> None:
        self.world, self.rules = world, rules
        self.audience = Audience(world)
        self.source = Source(world, conditional=rules.conditional)
        self.learning = Learning(world)
        self.meter = Meter(world, warm_up)
        self.price = policy.Price()
        self.fetched: Floats = world.fetched.copy()
        self.balance = world.scale.bucket
        self.used = 0.0

    def tick(self, minute: int) -> None:
        self.audience.move(minute)
        self._allow(minute)
        watched = self.audience.watched()
        stale = watched[minute - self.fetched[watched] >= self.world.ttl[watched]]
        if len(stale) and self.balance > 0:
            self._refresh(self._wanted(stale, minute), minute)
        self.meter.look(minute, self.audience, self.fetched, self.source)

    def _allow(self, minute: int) -> None:
        scale = self.world.scale
        if self.rules.paced:
            self.balance = min(scale.bucket, self.balance + scale.rate)
            self.price.step(self.balance / scale.bucket)
        else:
            self.used -= self.meter.bytes[minute - WINDOW] if minute >= WINDOW else 0.0
            self.balance = scale.quota * scale.buffer - self.used

    def _wanted(self, stale: Ints, minute: int) -> Ints:
        """What is worth a refresh, best first, and as much of it as could be asked for."""
        order = self._worth(stale, minute)
        if self.rules.rule != "viewers":
            stale, order = stale[order > 0], order[order > 0]
        if self.rules.batches:
            order = order * self.world.per_request[stale]
        most = self.world.scale.requests * (int(self.world.per_request.max()) if self.rules.batches else 1)
        best = np.argpartition(-order, most)[:most] if most < len(stale) else np.arange(len(stale))
        return stale[best[np.argsort(-order[best], kind="stable")]]

    def _worth(self, stale: Ints, minute: int) -> Floats:
        ttl, viewers = self.world.ttl[stale], self.audience.viewers[stale]
        wait = minute - np.maximum(self.fetched[stale] + ttl, self.audience.since[stale])
        if self.rules.rule == "viewers":
            by_viewers: Floats = viewers * 1e6 + np.minimum(wait, 9e5)
            return by_viewers
        return policy.score_items(
            policy.Stale(
                age=minute - self.fetched[stale],
                ttl=ttl,
                viewers=viewers,
                average=self.audience.average[stale],
                rate=self.world.rate[stale] if self.rules.true_rates else self.learning.rate[stale],
                size=self.learning.size[stale],
                unchanged_size=self.learning.unchanged_size(stale),
                wait=wait,
                contract=np.full(len(stale), self.rules.rule == "contract"),
            ),
            self.price.value,
            self.world.scale.stay,
        )

    def _refresh(self, wanted: Ints, minute: int) -> None:
        """Ask while requests and bytes last; an answer is settled before the next is asked for."""
        requests = 1 / self.world.per_request[wanted] if self.rules.batches else np.ones(len(wanted))
        size = self.learning.size[wanted]
        if self.rules.conditional:
            size = np.where(self.source.changes_at[wanted] <= minute, size, UNCHANGED_BYTES)
        fits = (np.cumsum(requests) <= self.world.scale.requests + 1e-9) & (np.cumsum(size) - size < self.balance)
        rows = wanted[fits]
        changed, received = self.source.ask(rows, minute)
        self.learning.learn(rows, minute - self.fetched[rows], changed, received)
        self.fetched[rows] = minute
        self.balance -= received.sum()
        self.used += received.sum()
        self.meter.spent(
            minute, requests=requests[fits].sum(), rows=len(rows), unchanged=int((~changed).sum()), size=received.sum()
        )
