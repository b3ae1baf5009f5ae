"""The demonstration's account would find what must never happen."""

from dataclasses import replace

import pytest

from livewell.demo import KINDS, Account, DemoBroken, MarketTally, Tally
from livewell.demo.account import take_tally
from livewell.demo.jobs import FLAKY
from livewell.jobs import Completed, Finish, JobRequest, JobStore, KindDeclaration
from livewell.kernel import Database

QUIET = MarketTally(within_ttl=None, refreshed=0, refused=0, calls=0, unchanged=0, sent_bytes=0, over_limit=0)


@pytest.fixture
async def finished(database: Database) -> tuple[JobStore, list[int]]:
    """Three jobs of the demonstration, one of them completed."""
    store = JobStore(database)
    await store.declare_kinds([KindDeclaration(kind=kind, queue_group="demo") for kind in KINDS], actor="test")
    queued = await store.enqueue_jobs([JobRequest(kind=FLAKY, payload={"number": n}) for n in range(3)])
    (job,) = await store.claim_jobs("w", ["demo"], 1)
    await store.finish_jobs([Finish(job.job_id, job.lease_token, Completed())])
    return store, [answer.job_id for answer in queued]


def _account(jobs: Tally, market: MarketTally = QUIET) -> Account:
    return Account(jobs=jobs, market=market, duplicates=0)


async def test_every_acknowledged_job_is_accounted_for(finished: tuple[JobStore, list[int]]) -> None:
    """Live and finished jobs add up to what was acknowledged, and nothing is wrong."""
    store, ids = finished
    tally = await take_tally(store, set(ids))
    assert (tally.enqueued, tally.completed, tally.live) == (3, 1, 2)
    _account(tally).require_kept()
    assert "accepted twice  0" in _account(tally).lines()


async def test_a_lost_job_is_found(finished: tuple[JobStore, list[int]]) -> None:
    """A job that was acknowledged and is nowhere breaks the account."""
    store, ids = finished
    tally = await take_tally(store, {*ids, max(ids) + 1})
    assert tally.lost == (max(ids) + 1,)
    with pytest.raises(DemoBroken, match="lost"):
        _account(tally).require_kept()


async def test_a_job_accepted_twice_is_found(finished: tuple[JobStore, list[int]], owner: Database) -> None:
    """A second finished row of one job breaks the account."""
    store, ids = finished
    await owner.execute("insert into livewell_private.job select * from livewell_private.job_done")
    tally = await take_tally(store, set(ids))
    assert tally.accepted_twice == (min(ids),)
    with pytest.raises(DemoBroken, match="accepted twice"):
        _account(tally).require_kept()


async def test_a_limit_that_was_passed_is_found(finished: tuple[JobStore, list[int]]) -> None:
    """A call too many, as the provider counted, breaks the account."""
    store, ids = finished
    with pytest.raises(DemoBroken, match="passed 1 times"):
        _account(await take_tally(store, set(ids)), replace(QUIET, over_limit=1)).require_kept()
