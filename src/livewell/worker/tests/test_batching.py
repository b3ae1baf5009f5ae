"""What is asked for at the same moment is asked together, and everybody has their own answer."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livewell.worker.batching import Batcher

LONG = 60.0


class Calls:
    """A call that doubles numbers, notes what came together, and waits when told to."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.begun = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def __call__(self, numbers: Sequence[int]) -> Sequence[int | BaseException]:
        self.batches.append(list(numbers))
        self.begun.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return [ValueError(str(number)) if number < 0 else 2 * number for number in numbers]


async def test_a_full_batch_goes_at_once() -> None:
    """As many as fit are asked together, without waiting for the moment to pass."""
    calls = Calls()
    batcher: Batcher[int, int] = Batcher(calls, most=3, moment=LONG)
    assert await asyncio.gather(*(batcher.ask(number) for number in range(6))) == [0, 2, 4, 6, 8, 10]
    assert calls.batches == [[0, 1, 2], [3, 4, 5]]


async def test_who_is_alone_waits_for_a_moment_only() -> None:
    """A batch that does not fill is asked when its moment is over."""
    calls = Calls()
    batcher: Batcher[int, int] = Batcher(calls, most=100)
    assert await asyncio.gather(*map(batcher.ask, (1, 2))) == [2, 4]
    assert calls.batches == [[1, 2]]


async def test_one_error_is_one_askers() -> None:
    """An answer that is an error is raised for who asked; the others have theirs."""
    batcher: Batcher[int, int] = Batcher(Calls(), most=3)
    answers = await asyncio.gather(*(batcher.ask(number) for number in (1, -2, 3)), return_exceptions=True)
    assert [answers[0], str(answers[1]), answers[2]] == [2, "-2", 6]


async def test_who_stops_waiting_takes_nothing_from_the_others() -> None:
    """A cancelled asker leaves the call to the others; when none is left, the call is cancelled."""
    calls = Calls()
    calls.open.clear()
    batcher: Batcher[int, int] = Batcher(calls, most=2)
    first, second = (asyncio.create_task(batcher.ask(number)) for number in (1, 2))
    await calls.begun.wait()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    assert not calls.cancelled.is_set()
    second.cancel()
    async with asyncio.timeout(10):
        await calls.cancelled.wait()


async def test_who_left_before_the_call_is_not_asked_for() -> None:
    """A question whose asker is gone is not asked."""
    calls = Calls()
    batcher: Batcher[int, int] = Batcher(calls, most=3, moment=LONG)
    gone = asyncio.create_task(batcher.ask(1))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    assert await asyncio.gather(*map(batcher.ask, (2, 3))) == [4, 6]
    assert calls.batches == [[2, 3]]


async def test_a_call_that_breaks_is_told_to_all() -> None:
    """When the call itself fails, everybody who asked is told, and the next may ask again."""

    async def breaks(numbers: Sequence[int]) -> Sequence[int | BaseException]:
        raise OSError(f"{len(numbers)} lost")

    batcher: Batcher[int, int] = Batcher(breaks, most=2)
    for _ in range(2):
        with pytest.raises(OSError, match="2 lost"):
            await asyncio.gather(batcher.ask(1), batcher.ask(2))


@settings(deadline=None, max_examples=50)
@given(numbers=st.lists(st.integers(0, 1000), max_size=60), most=st.integers(1, 20))
def test_everybody_has_their_own_answer(numbers: list[int], most: int) -> None:
    """Whatever is asked, in batches of whatever size: each asker gets their own answer, and no question goes twice."""

    async def ask_all() -> None:
        calls = Calls()
        batcher: Batcher[int, int] = Batcher(calls, most=most)
        assert await asyncio.gather(*(batcher.ask(number) for number in numbers)) == [2 * number for number in numbers]
        assert sorted(number for batch in calls.batches for number in batch) == sorted(numbers)
        assert all(len(batch) <= most for batch in calls.batches)

    asyncio.run(ask_all())
