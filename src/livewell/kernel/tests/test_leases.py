"""The keeper of leases, with the time in our hands: renewals that are late, lost, refused and never answered."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

import hypothesis.strategies as st
import pytest
from hypothesis import given

from livewell.kernel import LeaseKeeper, NotRenewed, Renewal, trusted_seconds
from livewell.testing import effort

A_WHILE = 0.25
LONG = 12.0

Fate = Literal["answered", "fails", "silent", "busy", "stolen"]


class QuickLoop(asyncio.SelectorEventLoop):
    """A loop whose clock jumps to the next timer when there is nothing else to do, and moves on in any case."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        self.now += 1e-9
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self.now = max(self.now, self._scheduled[0].when())  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


@dataclass(eq=False)
class Leased:
    """A lease as its holder sees it, and when it ends in the database."""

    lease_seconds: float
    trusted_until: float
    ends_at: float
    stolen: bool = False
    lost_at: float | None = None

    @property
    def is_in_use(self) -> bool:
        return self.lost_at is None


@dataclass(frozen=True)
class Call:
    """What becomes of a renewal: how long it takes there and back, and what happens to it."""

    there: float = 0.0
    back: float = 0.0
    fate: Fate = "answered"


@dataclass
class Holder:
    """Holds leases, plays the database that gave them, and checks what the keeper does with them."""

    calls: list[Call] = field(default_factory=list)
    later_calls: Call = field(default_factory=Call)
    held: list[Leased] = field(default_factory=list)
    asked_at: list[float] = field(default_factory=list)
    failures: int = 0

    def add(self, seconds: float, asked_ago: float = 0.0) -> Leased:
        now = asyncio.get_running_loop().time()
        asked_at = now - asked_ago
        leased = Leased(seconds, asked_at + trusted_seconds(seconds), asked_at + seconds)
        self.held.append(leased)
        return leased

    def leases(self) -> list[Leased]:
        return [leased for leased in self.held if leased.lost_at is None]

    async def renew(self, leases: Sequence[Leased]) -> list[Renewal]:
        loop = asyncio.get_running_loop()
        self.asked_at.append(loop.time())
        assert all(leased.lost_at is None for leased in leases), "a lease that was given up is renewed"
        call = self.calls.pop(0) if self.calls else self.later_calls
        await asyncio.sleep(call.there)
        if call.fate == "fails":
            raise ConnectionError("gone")
        if call.fate == "silent":
            await asyncio.Event().wait()
        answers = [self._answer(leased, call.fate, loop.time()) for leased in leases]
        await asyncio.sleep(call.back)
        return answers

    def _answer(self, leased: Leased, fate: Fate, now: float) -> Renewal:
        if fate == "stolen":
            leased.ends_at, leased.stolen = now, True
        if leased.stolen or leased.ends_at <= now:
            return NotRenewed.LOST
        if fate == "busy":
            return NotRenewed.BUSY
        leased.ends_at = now + leased.lease_seconds
        return leased.lease_seconds

    def lose(self, lease: Leased, why: str) -> None:
        now = asyncio.get_running_loop().time()
        assert lease in self.leases(), "a lease is lost that was done with, or lost before"
        assert lease.stolen or now < lease.ends_at, f"trusted beyond its end: {why}"
        lease.lost_at = now

    def not_renewed(self, error: Exception) -> None:
        assert isinstance(error, ConnectionError | TimeoutError)
        self.failures += 1

    def check(self) -> None:
        now = asyncio.get_running_loop().time()
        for leased in self.leases():
            assert leased.stolen or now < leased.ends_at, "trusted beyond its end"


def play(scene: Callable[[], Awaitable[None]]) -> None:
    with asyncio.Runner(loop_factory=QuickLoop) as runner:
        runner.run(_played(scene))


async def _played(scene: Callable[[], Awaitable[None]]) -> None:
    await scene()


_DELAYS = st.sampled_from([0.0, 0.01, 0.3, 1.0, 2.5, 14.0])
_CALLS = st.builds(Call, _DELAYS, _DELAYS, st.sampled_from(["answered", "answered", "fails", "silent", "busy"]))
_STOLEN = st.builds(Call, _DELAYS, _DELAYS, st.sampled_from(["answered", "fails", "silent", "busy", "stolen"]))
_LEASES = st.tuples(st.sampled_from([1.0, 2.0, 6.0, LONG]), st.sampled_from([0.0, 0.1, 0.9]))
_EVERY = st.sampled_from([None, timedelta(seconds=2)])
_COMING = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 1.0, 9.0]), _LEASES), min_size=1, max_size=5)


@pytest.mark.hypothesis
@effort(400)
@given(_COMING, st.lists(st.one_of(_CALLS, _STOLEN), max_size=12), _CALLS, _EVERY)
def test_no_lease_is_trusted_beyond_its_end(
    coming: list[tuple[float, tuple[float, float]]], calls: list[Call], later_calls: Call, every: timedelta | None
) -> None:
    """Whatever becomes of renewals, what runs under a lease stops before the database gives it to another.

    What was given up is not renewed, nor lost a second time, and the keeper goes on with what comes later.
    """

    async def scene() -> None:
        holder = Holder(list(calls), later_calls)
        keeper = LeaseKeeper(holder, every=(lambda: every) if every else None)
        async with keeper.at_work():
            for pause, (seconds, age) in coming:
                await _sleep_and_check(holder, pause)
                holder.add(seconds, age * trusted_seconds(seconds))
                keeper.begin()
            await _sleep_and_check(holder, 2 * LONG)
            last = holder.add(LONG)
            keeper.begin()
            holder.calls, holder.later_calls = [], Call()
            await _sleep_and_check(holder, 2 * LONG)
            assert last.is_in_use

    play(scene)


async def _sleep_and_check(holder: Holder, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while loop.time() < until:
        holder.check()
        await asyncio.sleep(min(A_WHILE, until - loop.time()))


@pytest.mark.hypothesis
@effort(200)
@given(st.lists(st.sampled_from([1.0, 3.0, LONG]), min_size=1, max_size=4), _EVERY)
def test_leases_are_renewed_in_time_for_two_more_tries(lengths: list[float], every: timedelta | None) -> None:
    """One call renews all, as often as the shortest needs; with `every`, at least so often."""

    async def scene() -> None:
        holder = Holder()
        keeper = LeaseKeeper(holder, every=(lambda: every) if every else None)
        async with keeper.at_work():
            for seconds in lengths:
                holder.add(seconds)
            keeper.begin()
            await asyncio.sleep(2 * LONG)
        pause = min(min(lengths) / 3, every.total_seconds() if every else LONG)
        apart = [after - before for before, after in zip([0.0, *holder.asked_at], holder.asked_at, strict=False)]
        assert min(apart) >= pause - 1e-6
        assert max(apart) <= pause + A_WHILE
        assert holder.failures == 0
        assert all(leased.is_in_use for leased in holder.held)

    play(scene)


def test_a_renewal_that_failed_is_tried_again_sooner() -> None:
    """After a failure, a tenth of the lease later; a silent one is given up after a third of it, and tried at once."""

    async def scene() -> None:
        holder = Holder([Call(fate="fails"), Call(fate="busy"), Call(fate="silent"), Call()])
        keeper = LeaseKeeper(holder)
        async with keeper.at_work():
            holder.add(LONG)
            keeper.begin()
            await asyncio.sleep(2 * LONG)
        assert holder.asked_at[:5] == pytest.approx([4, 5.2, 6.4, 10.4, 14.4])
        assert holder.failures == 2
        assert holder.held[0].is_in_use

    play(scene)


def test_what_is_done_with_during_a_renewal_is_not_lost() -> None:
    """The database does not know it any more, because it has ended there too."""

    async def scene() -> None:
        holder = Holder([Call(there=1.0)])
        keeper = LeaseKeeper(holder)
        async with keeper.at_work():
            done, other = holder.add(LONG), holder.add(LONG)
            keeper.begin()
            await asyncio.sleep(LONG / 3 + 0.5)
            done.ends_at = asyncio.get_running_loop().time()
            holder.held.remove(done)
            await asyncio.sleep(1)
        assert (len(holder.asked_at), done.lost_at, other.lost_at) == (1, None, None)
        assert holder.failures == 0

    play(scene)


def test_while_nothing_is_held_nothing_is_asked() -> None:
    """Without leases there is no call, unless the holder says that it lives by them."""

    async def scene() -> None:
        idle, beating = Holder(), Holder()
        keepers = [LeaseKeeper(idle), LeaseKeeper(beating, every=lambda: timedelta(seconds=2))]
        async with keepers[0].at_work(), keepers[1].at_work():
            for keeper in keepers:
                keeper.begin()
            await asyncio.sleep(LONG)
        assert (idle.asked_at, len(beating.asked_at)) == ([], 5)

    play(scene)


def test_a_renewal_can_be_asked_for() -> None:
    """Whoever cannot wait until the next is due gets one at once."""

    async def scene() -> None:
        holder = Holder()
        keeper = LeaseKeeper(holder)
        async with keeper.at_work():
            holder.add(LONG)
            keeper.begin()
            await asyncio.sleep(1)
            keeper.renew_now()
            await asyncio.sleep(1)
        assert holder.asked_at == pytest.approx([1.0])

    play(scene)


def test_a_keeper_that_is_told_to_stop_lets_a_renewal_end() -> None:
    """A drained worker breaks off no call: what it holds is kept until then."""

    async def scene() -> None:
        holder, stop = Holder([Call(there=3.0)]), asyncio.Event()
        leased = holder.add(6.0)
        running = asyncio.create_task(LeaseKeeper(holder).run(stop))
        await asyncio.sleep(3)
        stop.set()
        await running
        assert (len(holder.asked_at), holder.failures, leased.lost_at) == (1, 1, None)

    play(scene)
