"""Ends put off because somebody holds what they write: they are kept, sent again apart, and given up at last."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import uuid4

import pytest

from livewell import Livewell
from livewell.jobs import ClaimedJob, JobId
from livewell.kernel import Backoff, Database
from livewell.simulator import Simulator, SimulatorOptions
from livewell.testing import idle_in_transaction, until
from livewell.worker.finisher import MOST_TRIES, EndedAttempt, Finisher
from livewell.worker.leased_jobs import LeasedJob
from livewell.worker.tests.market import market
from livewell.worker.tests.running import outcomes, running

SOON = timedelta(seconds=10)
AT_ONCE = Backoff(first=timedelta(), longest=timedelta())


class Busy:
    """Where some jobs are busy for a number of times; notes what came together."""

    def __init__(self, **times: int) -> None:
        self.times = times
        self.batches: list[list[str]] = []

    async def finish(self, batch: Sequence[EndedAttempt[str]]) -> dict[JobId, str]:
        self.batches.append([name for _, name in batch])
        states: dict[JobId, str] = {}
        for leased, name in batch:
            if self.times.get(name, 0) > 0:
                self.times[name] -= 1
                states[leased.job.job_id] = "busy"
        return states

    def instead(self, outcome: str, why: str) -> str | None:
        del outcome, why
        return None

    def weight(self, outcome: str) -> int:
        del outcome
        return 0


def _leased(number: int) -> LeasedJob:
    job = ClaimedJob(JobId(number), "refresh.quote", "{}", 1, 0, uuid4(), 60.0, 0, None, None, None)
    return LeasedJob(job=job, trusted_until=0.0)


@asynccontextmanager
async def _sending(finisher: Finisher[str]) -> AsyncIterator[None]:
    stop = asyncio.Event()
    task = asyncio.create_task(finisher.run(stop))
    yield
    stop.set()
    finisher.rouse()
    await task


async def test_what_is_busy_is_sent_again_apart() -> None:
    """It stays in hand, so that its lease is renewed, and goes again in a batch without those that are not held up."""
    ends, forgotten = Busy(b=2), list[LeasedJob]()
    finisher = Finisher(ends, forgotten.append)
    jobs = [_leased(number) for number in range(3)]
    for job, name in zip(jobs, "abc", strict=True):
        finisher.add(job, name)

    async def all_told() -> bool:
        return not finisher.unsent()

    async with _sending(finisher):
        await until(lambda: _came(ends, 1), "the batch was sent", within=SOON)
        await finisher.finished.wait()
        assert finisher.unsent() == {jobs[1]}
        assert forgotten == [jobs[0], jobs[2]]
        finisher.add(_leased(9), "d")
        await until(all_told, "what was busy is told too", within=SOON)
    assert ["b"] in ends.batches
    assert sorted(ends.batches) == [["a", "b", "c"], ["b"], ["b"], ["d"]]
    assert jobs[1] in forgotten


async def test_what_stays_busy_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a number of tries it is handed on; nothing is held for ever."""
    monkeypatch.setattr("livewell.worker.finisher._NOT_TOLD", AT_ONCE)
    ends, given_up = Busy(a=1000), list[str]()
    finisher = Finisher(ends, lambda _: None, lambda _, name: given_up.append(name))
    finisher.add(_leased(1), "a")

    async def is_over() -> bool:
        return bool(given_up)

    async with _sending(finisher):
        await until(is_over, "it was given up", within=SOON)
    assert (given_up, len(ends.batches)) == (["a"], MOST_TRIES)


async def test_a_drain_waits_for_nobody() -> None:
    """When the worker stops, what is busy is tried once more at once, and then handed on."""
    ends, given_up = Busy(a=1000), list[str]()
    finisher = Finisher(ends, lambda _: None, lambda _, name: given_up.append(name))
    finisher.add(_leased(1), "a")
    async with _sending(finisher):
        await until(lambda: _came(ends, 1), "it was sent", within=SOON)
    assert given_up == ["a"]
    assert not finisher.unsent()


async def _came(ends: Busy, batches: int) -> bool:
    return len(ends.batches) >= batches


async def test_a_refresh_that_is_given_up_is_paid_and_queued_again(
    database_url: str, owner: Database, owner_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was fetched for a held item is not stored, but what it spent is booked, and its job says why it waits."""
    monkeypatch.setattr("livewell.worker.finisher._NOT_TOLD", AT_ONCE)
    async with (
        Simulator(SimulatorOptions(symbols=5)) as simulator,
        market(Livewell(database_url), owner, simulator) as there,
    ):
        await there.declare()
        held, other = simulator.world.symbols[:2]
        await there.look_at([held, other])
        hold = f"update livewell_private.item set viewers = viewers where key = '{held}'"
        async with idle_in_transaction(owner_url, hold), running(there.app):
            assert await there.outcome(other) == "fetched"
            job = (await there.job(held))["id"]

            async def is_put_off() -> bool:
                return await outcomes(there.app, job) == ["rescheduled"]

            await until(is_put_off, "the refresh of the held key was given up", within=SOON)
        assert await there.value(held) is None
        requests = await owner.fetchval("select sum(requests)::int from livewell_private.quota_hour")
        assert requests == len(simulator.calls)
        reason = await owner.fetchval("select reason from livewell_private.job_attempt where job_id = $1", job)
        assert "open transaction" in reason
