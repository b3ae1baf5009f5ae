"""The demonstration's account: what became of every job that was acknowledged, and whether a promise was broken."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from livewell.cli.demo_app import KINDS

if TYPE_CHECKING:
    from livewell.jobs import JobStore

_PAGE = 5_000
_LIVE = frozenset({"pending", "deferred", "retrying", "processing"})


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What became of the jobs; `lost` and `accepted_twice` must be empty."""

    enqueued: int
    completed: int
    retried: int
    rescued: int
    dead_letters: int
    live: int
    lost: tuple[int, ...]
    accepted_twice: tuple[int, ...]

    @property
    def broken(self) -> bool:
        return bool(self.lost or self.accepted_twice)


async def take_tally(store: "JobStore", acknowledged: set[int]) -> Tally:
    """Look every acknowledged job up; nothing may be moving any more."""
    jobs = await _jobs(store, acknowledged)
    again = [rows[0]["id"] for rows in jobs.values() if rows[0]["attempt"] > 1]
    attempts = await asyncio.gather(*(store.list_attempts(job_id) for job_id in again))
    outcomes = [Counter(attempt["outcome"] for attempt in tried) for tried in attempts]
    states = Counter(row["shown_state"] for rows in jobs.values() for row in rows)
    twice = {job_id for job_id, rows in jobs.items() if len(rows) > 1}
    twice |= {job_id for job_id, counts in zip(again, outcomes, strict=True) if counts["completed"] > 1}
    return Tally(
        enqueued=len(acknowledged),
        completed=states["completed"],
        retried=sum(1 for counts in outcomes if counts["failed"] > 0),
        rescued=sum(counts["rescued"] for counts in outcomes),
        dead_letters=states["failed"],
        live=sum(states[state] for state in _LIVE),
        lost=tuple(sorted(acknowledged - jobs.keys())),
        accepted_twice=tuple(sorted(twice)),
    )


async def _jobs(store: "JobStore", acknowledged: set[int]) -> dict[int, list[dict[str, Any]]]:
    """Every row of every acknowledged job; more than one row of a job would be one too many."""
    found: dict[int, list[dict[str, Any]]] = {}
    first = min(acknowledged, default=0)
    before: int | None = None
    while rows := await store.list_jobs(kinds=KINDS, before=before, limit=_PAGE):
        page: dict[int, list[dict[str, Any]]] = {}
        for row in rows:
            if row["id"] in acknowledged:
                page.setdefault(row["id"], []).append(row)
        # Pages overlap by one id, so that the rows of one job are seen together at least once.
        found.update({job_id: rows for job_id, rows in page.items() if len(rows) > len(found.get(job_id, ()))})
        last = rows[-1]["id"]
        if len(rows) < _PAGE or last < first:
            break
        before = last + 1
    return found
