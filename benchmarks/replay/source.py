"""The upstream as it is, which no policy sees: when each row changes next, and how many bytes an answer has."""

import numpy as np

from benchmarks.replay.world import Bools, Floats, Ints, World

UNCHANGED_BYTES = 300.0


class Source:
    """Rows change by Poisson. A row that was not changed keeps its next change, whoever asks. What is asked for on the
    condition that it has changed costs little where it has not.
    """

    def __init__(self, world: World, *, conditional: Bools) -> None:
        self._world = world
        self._conditional = conditional
        self._random = np.random.default_rng([world.seed, 3])
        self.changes_at: Floats = world.fetched + self._random.exponential(1, world.rows) / world.rate

    def ask(self, rows: Ints, minute: float) -> tuple[Bools, Floats]:
        """Whether each row has changed since it was last asked for, and the bytes of the answer."""
        changed = self.changes_at[rows] <= minute
        size = self._world.size[rows]
        new = rows[changed]
        self.changes_at[new] = minute + self._random.exponential(1, len(new)) / self._world.rate[new]
        return changed, np.where(changed | ~self._conditional[rows], size, UNCHANGED_BYTES)
