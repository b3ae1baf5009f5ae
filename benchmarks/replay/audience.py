"""Who looks at what, minute by minute."""

import numpy as np

from benchmarks.replay.world import DAY, Floats, Ints, World

SAMPLED_EVERY = 10


class Audience:
    """Viewers of each row now, since when there are any, and their slow average (half-life one day)."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.viewers: Floats = np.zeros(world.rows)
        self.since: Floats = np.zeros(world.rows)
        self.average: Floats = np.zeros(world.rows)

    def move(self, minute: int) -> tuple[Ints, Ints]:
        """Who leaves and who comes in this minute."""
        left, came = self._world.departures.at(minute), self._world.arrivals.at(minute)
        np.subtract.at(self.viewers, left, 1)
        self.since[came[self.viewers[came] <= 0]] = minute
        np.add.at(self.viewers, came, 1)
        if minute % SAMPLED_EVERY == 0:
            kept = 0.5 ** (SAMPLED_EVERY / DAY)
            self.average = self.average * kept + self.viewers * (1 - kept)
        return left, came

    def watched(self) -> Ints:
        return np.flatnonzero(self.viewers > 0)
