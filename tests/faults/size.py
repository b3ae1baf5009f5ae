"""How long a fault run lasts."""

import time
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Size:
    """Short runs show that a fault is survived; full ones that it is survived again and again."""

    name: str
    load_seconds: float
    workers: int
    longest_outage: float

    @classmethod
    def of(cls, name: str) -> "Size":
        return {size.name: size for size in (SHORT, FULL)}[name]

    def lasting(self) -> Iterator[float]:
        """Go round for as long as the load lasts; the seconds since it began."""
        began = time.monotonic()
        while (passed := time.monotonic() - began) < self.load_seconds:
            yield passed


SHORT = Size(name="short", load_seconds=5, workers=3, longest_outage=2)
FULL = Size(name="full", load_seconds=60, workers=4, longest_outage=12)
