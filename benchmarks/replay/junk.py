"""Users who watch a thousand keys each that the provider does not have: what some of them do to all others.

They come as anybody does, by `subscribe`, at the beginning of what is measured, each at its own moment of the first
minutes, and stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from uuid import UUID, uuid5

import asyncpg

from benchmarks.replay.world import OFFERS
from livewell.kernel import Queries

SQL = Queries.parse((Path(__file__).parents[1] / "sql" / "replay.sql").read_text(encoding="utf-8"))
GONE_BYTES = 300
KEYS_EACH = 1000
COMING_MINUTES = 5
_ROOT = UUID(int=11)


@dataclass(kw_only=True)
class Junk:
    """So many users, each with a thousand keys of all types in turn, who come from a minute on."""

    users: int = 0
    begins: int = 0
    keys_each: int = KEYS_EACH
    _came: int = field(default=0, init=False)

    async def come(self, db: "asyncpg.Connection[asyncpg.Record]", minute: int, now: datetime) -> None:
        """Those whose minute it is watch all of theirs at once."""
        if minute < self.begins:
            return
        upto = self.users * min(minute - self.begins + 1, COMING_MINUTES) // COMING_MINUTES
        for number in range(self._came, upto):
            user, session = f"junk{number}", uuid5(_ROOT, str(number))
            await db.execute(SQL["open_session"], session, user, now)
            types, keys = self._items(number)
            await db.execute(SQL["subscribe"], [session] * len(keys), types, keys, now)
        self._came = max(self._came, upto)

    def _items(self, number: int) -> tuple[list[str], list[str]]:
        each = range(self.keys_each)
        return [OFFERS[at % len(OFFERS)].name for at in each], [f"JUNK{number}x{at}" for at in each]


def is_junk(job: asyncpg.Record, known: "dict[int, int]") -> bool:
    return job["item"] not in known


def junk_items(jobs: Sequence[asyncpg.Record]) -> tuple[list[int], list[str]]:
    """The items of fetches of what is not there, and how each ends."""
    return [job["item"] for job in jobs], ["gone"] * len(jobs)
