"""The account of a demonstration: what viewers had, what became of every job, and whether promises were kept."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from livewell.demo.errors import DemoBroken
from livewell.demo.jobs import KINDS
from livewell.kernel import shown_share

if TYPE_CHECKING:
    from livewell.jobs import JobStore

_PAGE = 5_000
_LIVE = frozenset({"pending", "deferred", "retrying", "processing"})
_REPORT_IT = "this is a bug: please report it, with the folder of the demonstration"


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


@dataclass(frozen=True, kw_only=True)
class MarketTally:
    """What viewers had, and what the provider saw."""

    within_ttl: float | None
    refreshed: int
    refused: int
    calls: int
    unchanged: int
    sent_bytes: int
    over_limit: int


@dataclass(frozen=True, kw_only=True)
class Account:
    """The whole run."""

    market: MarketTally
    jobs: Tally
    duplicates: int

    def lines(self) -> Iterator[str]:
        """What there is to say of it."""
        market, jobs = self.market, self.jobs
        within = "–" if market.within_ttl is None else shown_share(market.within_ttl)
        yield ""
        yield f"within TTL      {within}  (of what people looked at, sampled all along)"
        yield f"refreshed       {market.refreshed:,}  ({market.refused:,} answers refused)"
        yield f"calls           {market.calls:,}  (as the provider counted; {market.unchanged:,} of them unchanged)"
        yield f"bytes           {market.sent_bytes:,}  (sent by the provider)"
        yield f"over limit      {market.over_limit:,}"
        yield ""
        yield (
            f"enqueued        {jobs.enqueued:,}"
            f"  (acknowledged to the producer; {self.duplicates:,} more were duplicates)"
        )
        yield f"completed       {jobs.completed:,}"
        yield f"retried         {jobs.retried:,}"
        yield f"rescued         {jobs.rescued:,}"
        yield f"dead letters    {jobs.dead_letters:,}"
        yield f"still live      {jobs.live:,}"
        yield f"lost            {len(jobs.lost):,}"
        yield f"accepted twice  {len(jobs.accepted_twice):,}"

    def require_kept(self) -> None:
        """Raise when a promise was broken."""
        if self.market.over_limit:
            raise DemoBroken(f"the provider's limit was passed {self.market.over_limit} times", fix=_REPORT_IT)
        if self.jobs.lost or self.jobs.accepted_twice:
            lost, twice = list(self.jobs.lost[:5]), list(self.jobs.accepted_twice[:5])
            raise DemoBroken(f"lost: {lost}, accepted twice: {twice}", fix=_REPORT_IT)


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
