"""The value policy as pure arithmetic: what a refresh is worth, what it is expected to cost, and how both are learned.

These functions say what `score_items`, `end_refreshes` and the price of `refresh_policy` do in SQL;
a test holds both to the same answers. Minutes, bytes, viewer-minutes throughout.
"""

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.replay.world import Bools, Floats

AGING = 30.0
STAY = 12.0
AHEAD = 20.0
LEAST_CHANGES = 1e-3
STEEPEST = 50.0

ITEM_WEIGHT = 0.3
ITEM_WEIGHT_MOST = 50.0
TYPE_WEIGHT = 5.0
TYPE_WEIGHT_MOST = 1000.0
ITEM_STEP = 1.5
TYPE_STEP = 1.0
SIZE_STEP = 0.3
UNCHANGED_STEP = 0.05

PROPORTIONAL = 4.0
INTEGRAL_MINUTES = 360.0
LONGEST_STEP = 10.0
FULL = 0.98
PRICE_LEAST = 1e-6
PRICE_MOST = 1.0
PRICE_FIRST = 2e-4


@dataclass(frozen=True, kw_only=True)
class Stale:
    """Stale items somebody watches, column by column. `contract` items are worth their TTL, changed or not."""

    age: Floats
    ttl: Floats
    viewers: Floats
    average: Floats
    rate: Floats
    size: Floats
    unchanged_size: Floats
    wait: Floats
    contract: Bools


def score_items(stale: Stale, price: float, stay: float = STAY) -> Floats:
    """Viewer-minutes of harm avoided, less the price of the bytes expected; above zero it is worth a refresh."""
    rate = np.maximum(stale.rate, LEAST_CHANGES / stale.ttl)
    kept = np.exp(-np.minimum(rate * stale.age, STEEPEST))
    kept_ttl = np.exp(-np.minimum(rate * stale.ttl, STEEPEST))
    # A row never fetched has no age: nothing of it is kept, and inf · 0 is not a number.
    aged = np.where(np.isinf(stale.age), 0.0, stale.age)
    kept = np.where(np.isinf(stale.age), 0.0, kept)
    gain = np.where(stale.contract, stale.ttl, stale.ttl - aged * kept + (kept_ttl - kept) / rate)
    now = stale.viewers * np.minimum(gain, stay)
    later = stale.average * np.maximum(0.0, np.minimum(gain, AHEAD * stale.ttl) - stay)
    expected = (1 - kept) * stale.size + kept * stale.unchanged_size
    worth: Floats = (now + later) * (1 + stale.wait / AGING) - price * expected
    return worth


def taught(rate: Floats, minutes: Floats, changed: Bools) -> tuple[Floats, Floats]:
    """What looking again after so many minutes says of ln(rate): the slope of its likelihood, and how much it says."""
    expected = np.clip(rate * minutes, 1e-6, 30.0)
    odds = np.exp(-expected) / -np.expm1(-expected)
    return np.where(changed, expected * odds, -expected), expected * expected * odds


def moved(rate: Floats, slope: Floats, weight: Floats, step: float) -> Floats:
    """One Newton step of ln(rate), short where little is known and never wild."""
    rates: Floats = rate * np.exp(np.clip(slope / (weight + 0.3 * np.abs(slope)), -step, step))
    return rates


@dataclass(kw_only=True)
class Price:
    """What a byte must earn in viewer-minutes: held by a PI controller so that the bucket stays half full."""

    integral: float = math.log(PRICE_FIRST)
    value: float = 0.0

    def step(self, share: float, minutes: float = 1.0) -> float:
        error = 0.5 - share
        integral = self.integral + error * min(minutes, LONGEST_STEP) / INTEGRAL_MINUTES
        self.integral = min(max(integral, math.log(PRICE_LEAST)), math.log(PRICE_MOST))
        # A full bucket cannot save: what flows in is lost unless it is spent.
        self.value = 0.0 if share >= FULL else math.exp(self.integral + PROPORTIONAL * error)
        return self.value
