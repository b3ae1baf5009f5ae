"""The policies alone in the world: minute by minute, with nothing between a decision and its answer."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchmarks.replay import policy
from benchmarks.replay.audience import Audience
from benchmarks.replay.learning import Learning
from benchmarks.replay.meter import WARM_UP, Figures, Meter
from benchmarks.replay.source import UNCHANGED_BYTES, Source
from benchmarks.replay.world import WINDOW, Bools, Floats, Ints, Scale, World, make_world

Rule = Literal["viewers", "contract", "observed"]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What is replayed. `viewers` is the seeds' order: most viewers first, of those the one stale for longest.

    When bytes run out, `passes_over` goes on to smaller ones, as our claim does; else the next in order is awaited.
    """

    rule: Rule
    conditional: bool = False
    batches: bool = False
    paced: bool = True
    passes_over: bool = True
    true_rates: bool = False

    def conditional_rows(self, world: World) -> Bools:
        """Which rows are asked for on a condition: those that have a request of their own."""
        alone = world.per_request == 1 if self.batches else np.ones(world.rows, dtype=bool)
        return alone & self.conditional


def replay(world: World, rules: Rules, *, warm_up: int = WARM_UP, ticks: int = 1) -> Figures:
    """Decide so many times a minute; requests and bytes come in as evenly."""
    run = _Run(world, rules, warm_up, ticks)
    for minute in range(world.minutes):
        run.minute(minute)
    return run.meter.figures()


def replay_seed(seed: int, days: float, rules: Rules, scale: Scale | None = None) -> Figures:
    """For a process of its own: makes the world and replays it."""
    return replay(make_world(seed, days, scale), rules)


class _Run:
    def __init__(self, world: World, rules: Rules, warm_up: int, ticks: int) -> None:
        self.world, self.rules, self.ticks = world, rules, ticks
        self.audience = Audience(world)
        self.conditional = rules.conditional_rows(world)
        self.source = Source(world, conditional=self.conditional)
        self.learning = Learning(world)
        self.meter = Meter(world, warm_up)
        self.price = policy.Price()
        self.fetched: Floats = world.fetched.copy()
        self.balance = world.scale.bucket
        self.used = 0.0
        self.requests = 0.0

    def minute(self, minute: int) -> None:
        self.audience.move(minute)
        if not self.rules.paced and minute >= WINDOW:
            self.used -= self.meter.bytes[minute - WINDOW]
        for tick in range(self.ticks):
            if tick == (self.ticks + 1) // 2:
                self.meter.look(minute, self.audience, self.fetched, self.source)
            self._tick(minute + tick / self.ticks)
        if self.ticks == 1:
            self.meter.look(minute, self.audience, self.fetched, self.source)

    def _tick(self, now: float) -> None:
        self._allow()
        watched = self.audience.watched()
        stale = watched[now - self.fetched[watched] >= self.world.ttl[watched] - 1e-9]
        if len(stale) and self.balance > 0:
            self._refresh(self._wanted(stale, now), now)

    def _allow(self) -> None:
        scale = self.world.scale
        each = scale.requests / self.ticks
        self.requests = each if self.ticks == 1 else min(self.requests + each, each + 1)
        if self.rules.paced:
            self.balance = min(scale.bucket, self.balance + scale.rate / self.ticks)
            self.price.step(self.balance / scale.bucket, 1 / self.ticks)
        else:
            self.balance = scale.quota * scale.buffer - self.used

    def _wanted(self, stale: Ints, now: float) -> Ints:
        """What is worth a refresh, best first."""
        order = self._worth(stale, now)
        if self.rules.rule != "viewers":
            stale, order = stale[order > 0], order[order > 0]
        if self.rules.batches:
            order = order * self.world.per_request[stale]
        return stale[np.argsort(-order, kind="stable")]

    def _worth(self, stale: Ints, now: float) -> Floats:
        ttl, viewers = self.world.ttl[stale], self.audience.viewers[stale]
        wait = now - np.maximum(self.fetched[stale] + ttl, self.audience.since[stale])
        if self.rules.rule == "viewers":
            by_viewers: Floats = viewers * 1e6 + np.minimum(wait, 9e5)
            return by_viewers
        return policy.score_items(
            policy.Stale(
                age=now - self.fetched[stale],
                ttl=ttl,
                viewers=viewers,
                average=self.audience.average[stale],
                rate=self.world.rate[stale] if self.rules.true_rates else self.learning.rate(stale),
                size=self.learning.size[stale],
                unchanged_size=self.learning.unchanged_size(stale),
                wait=wait,
                contract=np.full(len(stale), self.rules.rule == "contract"),
            ),
            self.price.value,
            self.world.scale.stay,
        )

    def _fitting(self, requests: Floats, size: Floats) -> Bools:
        fits = (np.cumsum(requests) <= self.requests + 1e-9) & (np.cumsum(size) - size < self.balance)
        if not self.rules.passes_over or size[np.cumsum(requests) <= self.requests + 1e-9].sum() <= self.balance:
            return fits
        asked, left = self.requests + 1e-9, self.balance
        for at, (request, each) in enumerate(zip(requests.tolist(), size.tolist(), strict=True)):
            fits[at] = request <= asked and each <= left
            if fits[at]:
                asked, left = asked - request, left - each
        return fits

    def _refresh(self, wanted: Ints, now: float) -> None:
        """Ask while requests and bytes last; an answer is settled before the next is asked for."""
        requests = 1 / self.world.per_request[wanted] if self.rules.batches else np.ones(len(wanted))
        is_news = (self.source.changes_at[wanted] <= now) | ~self.conditional[wanted]
        size = np.where(is_news, self.learning.size[wanted], UNCHANGED_BYTES)
        fits = self._fitting(requests, size)
        rows = wanted[fits]
        changed, received = self.source.ask(rows, now)
        self.learning.learn(rows, now - self.fetched[rows], changed, received)
        self.fetched[rows] = now
        self.balance -= received.sum()
        self.used += received.sum()
        self.requests -= requests[fits].sum()
        self.meter.spent(
            int(now),
            requests=requests[fits].sum(),
            rows=len(rows),
            unchanged=int((~changed).sum()),
            size=received.sum(),
        )
