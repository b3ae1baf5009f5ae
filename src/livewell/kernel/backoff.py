"""How long to wait before something is tried again: longer each time, up to a limit, and by chance a little different.

Without chance, processes that failed at the same moment would all come back at the same moment.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

# However long the database was away, what asks for work or brings outcomes tries it again within this time.
LONGEST_PAUSE = timedelta(seconds=4)
_MOST_DOUBLINGS = 60


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """Pauses that double from `first` to `longest`; chance makes each one `least` to `most` times as long."""

    first: timedelta
    longest: timedelta
    least: float = 0.5
    most: float = 1.0
    chance: Callable[[float, float], float] = random.uniform

    def seconds(self, in_a_row: int) -> float:
        """The pause after so many failures in a row, the one just now included."""
        doubled = self.first.total_seconds() * 2.0 ** min(in_a_row - 1, _MOST_DOUBLINGS)
        return min(doubled, self.longest.total_seconds()) * self.chance(self.least, self.most)


def a_little_later(
    seconds: float, *, share: float = 0.1, at_most: float, chance: Callable[[], float] = random.random
) -> float:
    """A pause made longer by up to a share of itself, so that not all who wait for a moment come at once."""
    return seconds + chance() * min(share * seconds, at_most)
