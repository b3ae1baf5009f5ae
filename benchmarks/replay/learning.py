"""What fetches teach: how often a row changes, and how many bytes it has. A row nobody fetched is like its type."""

import numpy as np

from benchmarks.replay import policy
from benchmarks.replay.world import OFFERS, Bools, Floats, Ints, World


class Learning:
    """Rates of rows and of their types by one-bit observations; sizes by moving averages."""

    def __init__(self, world: World) -> None:
        self._offer = world.offer
        self._type_rate: Floats = np.array([1 / offer.ttl for offer in OFFERS])
        self._type_weight: Floats = np.full(len(OFFERS), policy.TYPE_WEIGHT)
        self._type_unchanged: Floats = np.full(len(OFFERS), np.nan)
        self._own_rate: Floats = np.full(world.rows, np.nan)
        self._weight: Floats = np.full(world.rows, policy.ITEM_WEIGHT)
        self.size: Floats = world.estimate.copy()

    def rate(self, rows: Ints) -> Floats:
        own = self._own_rate[rows]
        rates: Floats = np.where(np.isnan(own), self._type_rate[self._offer[rows]], own)
        return rates

    def unchanged_size(self, rows: Ints) -> Floats:
        """What an answer without news costs: known by type; before the first one, as much as one with news."""
        known = self._type_unchanged[self._offer[rows]]
        sizes: Floats = np.where(np.isnan(known), self.size[rows], known)
        return sizes

    def learn(self, rows: Ints, minutes: Floats, changed: Bools, received: Floats) -> None:
        rate = self.rate(rows)
        slope, weight = policy.taught(rate, minutes, changed)
        self._weight[rows] = np.minimum(self._weight[rows] + weight, policy.ITEM_WEIGHT_MOST)
        self._own_rate[rows] = policy.moved(rate, slope, self._weight[rows], policy.ITEM_STEP)
        self._learn_types(self._offer[rows], minutes, changed, received)
        new = rows[changed]
        self.size[new] += policy.SIZE_STEP * (received[changed] - self.size[new])

    def _learn_types(self, offers: Ints, minutes: Floats, changed: Bools, received: Floats) -> None:
        slope, weight = policy.taught(self._type_rate[offers], minutes, changed)
        slopes: Floats = np.bincount(offers, slope, len(OFFERS)).astype(np.float64)
        weights: Floats = np.bincount(offers, weight, len(OFFERS)).astype(np.float64)
        self._type_weight = np.minimum(self._type_weight + weights, policy.TYPE_WEIGHT_MOST)
        self._type_rate = policy.moved(self._type_rate, slopes, self._type_weight, policy.TYPE_STEP)
        same = ~changed
        counts = np.bincount(offers[same], minlength=len(OFFERS))
        means = np.bincount(offers[same], received[same], len(OFFERS)) / np.maximum(1, counts)
        known = np.where(np.isnan(self._type_unchanged), means, self._type_unchanged)
        kept = (1 - policy.UNCHANGED_STEP) ** counts
        self._type_unchanged = np.where(counts > 0, known * kept + means * (1 - kept), self._type_unchanged)
