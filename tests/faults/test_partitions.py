"""F9: workers cut off from their database one way, the other or both, for longer than a lease, against caps and limits.

Each worker has a way to the database of its own. Who is cut off holds calls that are open at the provider; the
partition lasts until its leases are over and somebody else calls in its place.
"""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import cycle, islice
from typing import Any

import pytest

from livewell.testing import TcpProxy, Way, make_endpoint, until
from tests.faults.load import Member, Run
from tests.faults.mutants import without
from tests.faults.oracle import Arrival, Limit, Oracle, most_at_once, start_oracle
from tests.faults.plan import CAP, LEASE
from tests.faults.returns import all_answered
from tests.faults.size import Size

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

WAYS = ((Way.TO_SERVER,), (Way.TO_CLIENT,), (Way.TO_SERVER, Way.TO_CLIENT))
# Calls and jobs for three of four workers, so that the least busy has room for what the others lose.
WORKERS, SLOTS, CALLS = 4, 3, 6
OUTLASTING = 30.0
CAPPED, LIMITED = "capped/calls", "limited/calls"
ALLOWED = 40
LIMIT = Limit(name=LIMITED, allowed=ALLOWED, counts=lambda arrival: arrival.endpoint == LIMITED)
# Nearly what passes between two bursts; the rest passes by itself.
LEAP = 57
WITHIN = timedelta(seconds=60)


@dataclass(kw_only=True)
class Scene:
    """Workers, each with a way of its own to the database, and the provider they call."""

    run: Run
    oracle: Oracle
    stack: AsyncExitStack
    ways: dict[str, TcpProxy]

    async def join(self, number: int = 1, **plan: Any) -> list[Member]:
        """Start workers and wait until they work."""
        joined = []
        for _ in range(number):
            proxy = await self.stack.enter_async_context(TcpProxy.before(self.run.url))
            told = {"program": "mixed", "oracle": self.oracle.url, "url": proxy.through(self.run.url), **plan}
            joined.append(await self.run.start_worker(**told))
            self.ways[joined[-1].name] = proxy
        await self.run.at_work(joined)
        return joined

    async def busiest(self) -> list[Member]:
        """All workers but the one that has most room, as soon as each of them is busy."""
        chosen: list[Member] = []

        async def enough() -> bool:
            held = self._held()
            busy = sorted(
                (worker for worker in self.run.living() if held[worker.name]), key=lambda worker: -held[worker.name]
            )
            chosen[:] = busy[: len(WAYS)]
            return len(chosen) == len(WAYS)

        await until(enough, "enough workers are busy", within=WITHIN)
        return chosen

    async def replaced(self, victims: list[Member]) -> None:
        """Wait until the leases of the cut off are over, and others call in their place."""
        names, since = {victim.name for victim in victims}, self.run.events("cut_off")[-1].at
        patterns = [f"%-{victim.process.pid}-%" for victim in victims]

        async def over() -> bool:
            leased = await self.run.owner.fetchval(
                "select count(*) from livewell_private.job_live where state = 'processing' and worker like any ($1)",
                patterns,
            )
            claimed_by = {(event["job"], event["attempt"]): event.by for event in self.run.events("claimed")}
            return not leased and any(
                call.at > since and claimed_by[call.job, call.attempt] not in names for call in self.calls()
            )

        await until(over, "others call in place of the cut off", within=WITHIN)

    def calls(self) -> list[Arrival]:
        """The calls at the endpoint with a cap."""
        return [arrival for arrival in self.oracle.arrivals() if arrival.endpoint == CAPPED]

    def _held(self) -> Counter[str]:
        """How many jobs each worker is in the middle of."""
        ended = {(event.by, event["job"], event["attempt"]) for event in self.run.events("ended", "raised", "stopped")}
        return Counter(
            event.by for event in self.run.events("started") if (event.by, event["job"], event["attempt"]) not in ended
        )


@asynccontextmanager
async def _scene(run: Run) -> AsyncIterator[Scene]:
    run.terms = replace(run.terms, cut_off_may_lose=True)
    await make_endpoint(run.owner, CAPPED, concurrent=CALLS, backpressure_share=1000)
    await make_endpoint(run.owner, LIMITED, requests_per_minute=ALLOWED, backpressure_share=1000)
    async with AsyncExitStack() as stack:
        yield Scene(run=run, oracle=await start_oracle(run), stack=stack, ways={})


async def _supply(run: Run) -> None:
    """Calls and jobs that outlast a partition."""
    await run.enqueue("call", *[{"seconds": OUTLASTING}] * CALLS, endpoint=CAPPED, priority=9)
    await run.enqueue("capped", *[{"seconds": OUTLASTING}] * CAP, priority=5)
    await run.enqueue("serial", {"seconds": OUTLASTING}, serial_key="one", priority=5)


async def _cut_off(scene: Scene, turn: int) -> None:
    """Cut the busiest workers off, each another way, until others have replaced them.

    Meanwhile there are as many quick calls as a minute allows: who does not hear of its claims is permitted some.
    """
    victims = await scene.busiest()
    scene.run.book.note("cut_off", workers=[victim.name for victim in victims])
    for victim, ways in zip(victims, islice(cycle(WAYS), turn, None), strict=False):
        scene.ways[victim.name].black_hole(*ways)
    quick = [{"wait": scene.run.chance.uniform(0, 0.2)} for _ in range(ALLOWED)]
    await scene.run.enqueue("call", *quick, endpoint=LIMITED, priority=9)
    await scene.replaced(victims)


def _heal(scene: Scene) -> None:
    for proxy in scene.ways.values():
        proxy.heal()


async def test_f9_caps_and_limits_hold_in_partitions(run: Run, size: Size) -> None:
    """F9: who is cut off stops by its own clock before others take over: no cap, limit or serial key is exceeded."""
    async with _scene(run) as scene:
        workers = await scene.join(WORKERS, slots=SLOTS)
        turns = stopped = 0
        for _ in size.lasting():
            await _supply(run)
            await _cut_off(scene, turns)
            turns += 1
            stopped = len(run.events("stopped"))
            _heal(scene)
            await all_answered(run, within=WITHIN)
        assert run.living() == workers
        await run.drain("pending", "processing")
        await run.passes_but_for_the_living()
    calls = scene.calls()
    run.figures |= {
        "partitions": turns,
        "stopped by themselves": stopped,
        "late finishes refused": sum(event["state"] == "lost" for event in run.events("finish_answered")),
        "calls": len(calls),
        "most at once": most_at_once(calls),
        "worst window": LIMIT.share(scene.oracle.arrivals()),
    }
    assert stopped, "nobody had to stop"
    assert most_at_once(calls) <= CALLS
    assert LIMIT.share(scene.oracle.arrivals()) <= 1


async def test_f9_who_trusts_its_lease_for_ever_is_found_out(run: Run) -> None:
    """F9, judged: workers that do not stop by their own clock call while others do, and the provider sees too many."""
    async with _scene(run) as scene:
        await scene.join(WORKERS, slots=SLOTS, trusting=True)
        await _supply(run)
        await _cut_off(scene, 0)
        run.figures["most at once"] = most = most_at_once(scene.calls())
        assert most > CALLS


@pytest.mark.parametrize(
    ("trusting", "holds"), [pytest.param(False, True, id="whole"), pytest.param(True, False, id="permits kept")]
)
async def test_f9_a_permit_that_a_partition_held_up_is_given_up(run: Run, *, trusting: bool, holds: bool) -> None:
    """F9: calls whose permits reach their worker a partition later are not sent, and fit no window they are not in."""
    async with _scene(run) as scene:
        (late,) = await scene.join(slots=2 * ALLOWED, trusting=trusting, poll_interval=timedelta(seconds=0.2))
        await _permitted_unheard(run, scene.ways[late.name])
        await scene.oracle.leap(LEAP)
        await scene.join(slots=2 * ALLOWED, poll_interval=timedelta(seconds=0.2))
        await run.seen("arrived", ALLOWED, within=WITHIN)
        _heal(scene)
        await run.seen("claimed", ALLOWED, by=late.name, within=WITHIN)
        for _ in range(2):
            await all_answered(run, within=WITHIN)
        run.figures["worst window"] = share = LIMIT.share(scene.oracle.arrivals())
        assert share == 1 if holds else share > 1


async def _permitted_unheard(run: Run, proxy: TcpProxy) -> None:
    """All that a minute allows is permitted to a worker, which does not hear of it."""

    async def at_the_door() -> bool:
        return bool(
            await run.owner.fetchval(
                "select exists (select from pg_stat_activity where datname = current_database()"
                " and wait_event_type = 'Lock' and application_name like 'mixed-%')"
            )
        )

    async def permitted() -> bool:
        running = await run.owner.fetchval("select count(*) from livewell_private.job_live where state = 'processing'")
        return bool(running == ALLOWED)

    async with run.owner.transaction() as door:
        await door.execute("select from livewell_private.limit_use where name = $1 for update", LIMITED)
        await run.enqueue("call", *[{"wait": 0}] * (2 * ALLOWED), endpoint=LIMITED)
        await until(at_the_door, "the worker asks for calls")
        proxy.black_hole(Way.TO_CLIENT)
    await until(permitted, "its calls are permitted")


async def _without_token(run: Run) -> None:
    await without(run, "end_jobs", ("where j.id = i.id and j.lease_token = i.token", "where j.id = i.id"))


@pytest.mark.parametrize("guarded", [pytest.param(True, id="whole"), pytest.param(False, id="finish without token")])
async def test_f9_a_finish_that_a_partition_held_up_is_refused(run: Run, *, guarded: bool) -> None:
    """F9: a completion that reaches the database a partition later, when another has the job, is not accepted."""
    if not guarded:
        await _without_token(run)
    async with _scene(run) as scene:
        # It believes in its lease, so as to send at all what is late.
        (late,) = await scene.join(trusting=True)
        await run.enqueue("slow", {"seconds": 0.9 * LEASE.total_seconds()})
        await run.seen("started")
        scene.ways[late.name].black_hole(Way.TO_SERVER)
        await run.seen("finish_sent", by=late.name)
        (other,) = await scene.join()
        await run.seen("started", by=other.name, within=WITHIN)
        _heal(scene)
        await run.seen("finish_answered", by=late.name, within=WITHIN)
        found = {violation.invariant for violation in await run.settle()} - {"live"}
        assert ("I2" in found) != guarded, found
        assert guarded == (not found), found
