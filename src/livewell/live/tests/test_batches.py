"""Many small wishes, few calls: each gets its answer, or the fact that refuses it alone."""

import asyncio
from collections.abc import Sequence

import pytest

from livewell.freshness import InvalidKey
from livewell.kernel import DatabaseUnavailable
from livewell.live.batches import Batcher


async def test_one_bad_wish_refuses_itself_only() -> None:
    """A batch that is refused for one wish is halved until that one is alone; the answers stay by position."""

    async def double(wishes: Sequence[int]) -> Sequence[int]:
        if 3 in wishes:
            raise InvalidKey("three is none")
        return [2 * wish for wish in wishes]

    answers = await Batcher(double).ask([1, 2, 3, 4, 5])
    assert [answer for answer in answers if not isinstance(answer, InvalidKey)] == [2, 4, 8, 10]
    assert isinstance(answers[2], InvalidKey)


async def test_what_comes_meanwhile_goes_together() -> None:
    """While a call is under way others wait, and go in one call then; never more at once than allowed."""
    calls: list[list[int]] = []
    free = asyncio.Event()

    async def note(wishes: Sequence[int]) -> Sequence[int]:
        calls.append(list(wishes))
        await free.wait()
        return wishes

    batcher = Batcher(note, largest=3, at_once=1)
    asked = [asyncio.ensure_future(batcher.ask([wish])) for wish in range(5)]
    while not calls:
        await asyncio.sleep(0)
    free.set()
    assert [await each for each in asked] == [[wish] for wish in range(5)]
    assert calls == [[0], [1, 2, 3], [4]]


@pytest.mark.parametrize("fault", [DatabaseUnavailable("away"), ValueError("odd")])
async def test_what_is_nobodys_fault_is_everybodys(fault: Exception) -> None:
    """A database that is away refuses all of them, each with that fact; a fault of the program is raised to them."""

    async def fail(_: Sequence[int]) -> Sequence[int]:
        raise fault

    if isinstance(fault, DatabaseUnavailable):
        assert await Batcher(fail).ask([1, 2]) == [fault, fault]
    else:
        with pytest.raises(ValueError, match="odd"):
            await Batcher(fail).ask([1])
