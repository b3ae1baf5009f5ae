"""The world behind the pretend provider: what each symbol's data are at a moment.

Everything is a pure function of the seed, the time and the symbol. Time falls into spells of a length of the symbol's
own; in the first half of each, at a moment drawn, its data change once. So two changes are at least half a spell apart,
which for the liveliest quote is more than the second its source time is told in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic_core import to_json

from livewell.simulator.clock import SimulatorClock
from livewell.simulator.documents import WRITERS
from livewell.simulator.symbols import symbol_names
from livewell.simulator.walk import draw

Row = dict[str, Any]

_SPREAD = 4.0
_REMEMBERED = 2048

RHYTHM: Mapping[str, timedelta] = {
    "quote": timedelta(seconds=20),
    "profile": timedelta(days=30),
    "financial-statements": timedelta(days=60),
    "ratios-ttm": timedelta(days=1),
    "earnings": timedelta(days=7),
    "dividend-history": timedelta(days=30),
}


class Version(NamedTuple):
    """Which state of a symbol's data it is, and since when, in seconds since 1970."""

    number: int
    since: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What an answer says about one symbol: its rows as text, without the brackets around them."""

    symbol: str
    version: Version
    text: bytes


class World:
    """Symbols that move."""

    def __init__(
        self,
        *,
        seed: int,
        clock: SimulatorClock,
        symbols: int | Sequence[str] = 500,
        rhythm: Mapping[str, timedelta] | None = None,
    ) -> None:
        self.seed = seed
        self._clock = clock
        self.symbols = tuple(symbol_names(symbols) if isinstance(symbols, int) else symbols)
        self._known = frozenset(self.symbols)
        self._spells = {name: length.total_seconds() for name, length in {**RHYTHM, **(rhythm or {})}.items()}
        self._spell = lru_cache(maxsize=None)(self._drawn_spell)
        self._part = lru_cache(maxsize=_REMEMBERED)(self._written)
        self._current: dict[tuple[str, str], tuple[float, float, Version]] = {}

    def knows(self, symbol: str) -> bool:
        return symbol in self._known

    def version(self, data_type: str, symbol: str, *, at: float | None = None) -> Version:
        """The state of a symbol's data now, or at another time."""
        moment = self._clock.world() if at is None else at
        begins, ends, known = self._current.get((data_type, symbol), (0.0, 0.0, Version(0, 0.0)))
        if begins <= moment < ends:
            return known
        found = self._found(data_type, symbol, moment)
        ends = self._change_in(data_type, symbol, found.number + 1)
        self._current[data_type, symbol] = (found.since, ends, found)
        return found

    def _found(self, data_type: str, symbol: str, moment: float) -> Version:
        length = self._spell(data_type, symbol)
        number = int(moment // length)
        since = self._change_in(data_type, symbol, number)
        if since > moment:
            number -= 1
            since = self._change_in(data_type, symbol, number)
        return Version(number, since)

    def next_change(self, data_type: str, symbol: str) -> float:
        """When the data will change next, in seconds since 1970."""
        return self._change_in(data_type, symbol, self.version(data_type, symbol).number + 1)

    def rows(self, data_type: str, symbol: str, *, back: int = 0) -> list[Row]:
        """The rows of one symbol, now or so many changes ago."""
        number = self.version(data_type, symbol).number - back
        return WRITERS[data_type](self.seed, symbol, number, self._change_in(data_type, symbol, number))

    def part(self, data_type: str, symbol: str) -> Part:
        return self._part(data_type, symbol, self.version(data_type, symbol))

    def _written(self, data_type: str, symbol: str, version: Version) -> Part:
        rows = WRITERS[data_type](self.seed, symbol, *version)
        return Part(symbol=symbol, version=version, text=b",".join(to_json(row) for row in rows))

    def _drawn_spell(self, data_type: str, symbol: str) -> float:
        return self._spells[data_type] * float(_SPREAD ** (2 * draw(self.seed, "spell", data_type, symbol) - 1))

    def _change_in(self, data_type: str, symbol: str, number: int) -> float:
        length = self._spell(data_type, symbol)
        return (number + draw(self.seed, "change", data_type, symbol, number) / 2) * length
