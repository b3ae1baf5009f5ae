"""What is told to the database at once."""

import asyncio
from collections.abc import Sequence
from uuid import uuid4

from hypothesis import given, settings
from hypothesis import strategies as st

from livewell.jobs import ClaimedJob, JobId
from livewell.worker.finisher import BATCH, BATCH_BYTES, EndedAttempt, Finisher
from livewell.worker.leased_jobs import LeasedJob


class Told:
    """Where jobs of a number of bytes end; notes what came together."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    async def finish(self, batch: Sequence[EndedAttempt[int]]) -> dict[JobId, str]:
        self.batches.append([size for _, size in batch])
        return {}

    def instead(self, outcome: int, why: str) -> int | None:
        del outcome, why
        return None

    def weight(self, outcome: int) -> int:
        return outcome


def _leased(number: int) -> LeasedJob:
    job = ClaimedJob(JobId(number), "refresh.quote", "{}", 1, 0, uuid4(), 60.0, 0, None, None, None)
    return LeasedJob(job=job, trusted_until=0.0)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([0, 1_000, BATCH_BYTES // 3, BATCH_BYTES // 2, BATCH_BYTES, 3 * BATCH_BYTES])))
async def test_what_goes_together_is_bounded_by_its_bytes(sizes: list[int]) -> None:
    """Outcomes go in order, none is left out, and no more together than may be sent at once, unless it is one alone."""
    told, stop = Told(), asyncio.Event()
    finisher = Finisher(told, lambda _: None)
    for number, size in enumerate(sizes):
        finisher.add(_leased(number), size)
    stop.set()
    await finisher.run(stop)
    assert [size for batch in told.batches for size in batch] == sizes
    assert all(len(batch) == 1 or (sum(batch) <= BATCH_BYTES and len(batch) <= BATCH) for batch in told.batches)
