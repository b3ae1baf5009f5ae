"""Estimates that correct themselves: the first sample whole, then a moving average and its spread."""

import random

from livewell.budgets.tests.surface import NOW, Budgets, Row


async def _estimate(budgets: Budgets) -> Row:
    (row,) = await budgets.database.fetch("select * from livewell.estimates where endpoint = 'p/a'")
    return row


async def _call(budgets: Budgets, size: int) -> int:
    """One job of an endpoint that turns out this large; answers what was reserved for it."""
    await budgets.enqueue("p/a")
    leased = await budgets.claim()
    reserved = await budgets.owner.fetchval(
        "select reserved_bytes from livewell_private.job_live where id = $1", leased[0]["job_id"]
    )
    await budgets.finish(leased, actual_bytes=size)
    return int(reserved)


async def test_the_first_sample_is_taken_whole(budgets: Budgets) -> None:
    """Before the first answer the endpoint's expectation is reserved, after it the size of that answer, with room."""
    await budgets.endpoint("p/a", expected_bytes=50_000)
    assert await _call(budgets, 2_000) == 50_000
    estimate = await _estimate(budgets)
    assert (estimate["samples"], estimate["bytes_mean"]) == (1, 2_000)
    assert await _call(budgets, 2_000) == 4_000


async def test_one_in_a_hundred_teaches(budgets: Budgets) -> None:
    """Few calls are sampled; each moves the mean by a tenth of its difference."""
    await budgets.endpoint("p/a")
    await _call(budgets, 1_000)
    for _ in range(30):
        await _call(budgets, 1_000)
    assert (await _estimate(budgets))["samples"] < 10
    await budgets.database.fetch("select livewell.set_setting('quota.sample_share', '1')")
    before = (await _estimate(budgets))["bytes_mean"]
    await _call(budgets, 2_000)
    assert abs((await _estimate(budgets))["bytes_mean"] - (0.9 * before + 200)) < 0.001


async def test_the_upper_estimate_covers_nearly_all(budgets: Budgets) -> None:
    """With the spread learned, few answers are larger than what was reserved for them."""
    chance = random.Random(3)
    await budgets.endpoint("p/a")
    await budgets.database.fetch("select livewell.set_setting('quota.sample_share', '1')")
    reserved = []
    for _ in range(150):
        size = int(chance.gauss(10_000, 2_000))
        reserved.append((await _call(budgets, size), size))
    late = reserved[50:]
    assert sum(actual > kept for kept, actual in late) <= 5
    assert max(kept for kept, _ in late) < 40_000


async def test_twice_the_estimate_is_noticed(budgets: Budgets) -> None:
    """An answer more than twice as large as expected is counted with its time, whether sampled or not."""
    await budgets.endpoint("p/a")
    await budgets.database.fetch("select livewell.set_setting('quota.sample_share', '0')")
    for size in (1_000, 1_900, 2_100, 9_000):
        await _call(budgets, size)
    estimate = await _estimate(budgets)
    assert (estimate["over_twice"], estimate["over_twice_at"]) == (2, NOW)


async def test_a_reservation_is_never_above_the_cap(budgets: Budgets) -> None:
    """The upper estimate ends at the endpoint's size cap."""
    await budgets.endpoint("p/a", expected_bytes=100, max_bytes=1_500)
    await _call(budgets, 1_400)
    assert await _call(budgets, 1_400) == 1_500
