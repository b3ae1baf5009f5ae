"""The quota: a rolling window of bytes that is never passed, paced so that no day goes dark."""

import random
from datetime import timedelta

import pytest

from livewell.budgets import UnknownProvider
from livewell.budgets.tests.surface import DAY, HOUR, MINUTE, NOW, Budgets, worst

MB = 1_000_000


async def test_reserved_until_settled(budgets: Budgets) -> None:
    """What is claimed counts at its estimate, what is finished at what it was; a failed call costs its bytes too."""
    await budgets.endpoint("p/a", quota_bytes=100 * MB)
    await budgets.enqueue("p/a", 3, estimated_bytes=10_000)
    first, second, third = await budgets.claim()
    assert (await budgets.quota("p"))["in_flight_bytes"] == 30_000
    await budgets.finish([first], actual_bytes=4_000)
    await budgets.finish([second], "failed", actual_bytes=7_000, error={})
    quota = await budgets.quota("p")
    assert (quota["used_bytes"], quota["in_flight_bytes"]) == (11_000, 10_000)
    await budgets.rescue(now=NOW + HOUR)
    quota = await budgets.quota("p", now=NOW + HOUR)
    assert (quota["used_bytes"], quota["in_flight_bytes"]) == (21_000, 0), "nobody knows: it stays as it was reserved"
    assert await budgets.finish([third], actual_bytes=1, now=NOW + HOUR) == ["lost"]
    assert (await budgets.quota("p", now=NOW + HOUR))["used_bytes"] == 21_000


async def test_what_was_never_sent_costs_no_bytes(budgets: Budgets) -> None:
    """A job given back before it called gives its bytes back, and keeps what it took of the rate."""
    await budgets.endpoint("p/a", quota_bytes=100 * MB, requests_per_minute=5)
    await budgets.enqueue("p/a", 1, estimated_bytes=10_000)
    await budgets.finish(await budgets.claim(), "reset", sent=False)
    quota = await budgets.quota("p")
    assert (quota["used_bytes"], quota["in_flight_bytes"]) == (0, 0)
    assert (await budgets.state("p/a"))["requests_last_minute"] == 1


async def test_a_quota_that_allows_nothing_is_used_up(budgets: Budgets) -> None:
    """A quota so small that its buffer takes all of it is told as used up, and stops nobody from reading the others."""
    await budgets.endpoint("p/a", quota_bytes=1)
    quota = await budgets.quota("p")
    assert (quota["allowed_bytes"], quota["share"], quota["open"]) == (0, 1, False)


async def test_permits_count_too(budgets: Budgets) -> None:
    """Bytes of permits are reserved, settled, and booked as reserved when their holder falls silent."""
    await budgets.endpoint("p/a", quota_bytes=100 * MB)
    block = await budgets.acquire("p/a", 3, bytes_each=1000)
    await budgets.settle(block["block_id"], [1], bytes_each=10)
    await budgets.settle(block["block_id"], [2], outcome="unsent")
    quota = await budgets.quota("p")
    assert (quota["used_bytes"], quota["in_flight_bytes"]) == (10, 1000)
    later = NOW + HOUR
    assert (await budgets.quota("p", now=later))["in_flight_bytes"] == 1000
    assert (await budgets.care(now=later))["permits_expired"] == 1
    quota = await budgets.quota("p", now=later)
    assert (quota["used_bytes"], quota["in_flight_bytes"]) == (1010, 0)


async def test_the_even_allowance(budgets: Budgets) -> None:
    """With even pacing no more starts than the bucket holds, and it fills at the quota's even rate."""
    await budgets.endpoint("p/a", quota_bytes=720 * MB)
    await budgets.provider("p", quota_use=1.0)
    assert (await budgets.acquire("p/a", 1000, bytes_each=100_000))["permits"] == 10
    refused = await budgets.acquire("p/a", bytes_each=100_000)
    assert (refused["permits"], refused["reason"]) == (0, "bytes")
    assert (await budgets.acquire("p/a", 1000, bytes_each=100_000, now=NOW + 13 * MINUTE))["permits"] == 2
    assert (await budgets.quota("p"))["exhausted_at"] is None


async def test_a_late_settlement_gives_back_to_the_bucket(budgets: Budgets) -> None:
    """What was reserved beyond the actual size can be spent again; what was over it is owed."""
    await budgets.endpoint("p/a", quota_bytes=720 * MB)
    await budgets.provider("p", quota_use=1.0)
    block = await budgets.acquire("p/a", 10, bytes_each=100_000)
    await budgets.settle(block["block_id"], range(1, 6), bytes_each=0)
    assert (await budgets.quota("p"))["bucket_bytes"] == 500_000
    await budgets.settle(block["block_id"], range(6, 11), bytes_each=300_000)
    assert (await budgets.quota("p"))["bucket_bytes"] == -500_000


async def test_levels_are_facts(budgets: Budgets) -> None:
    """Passing 75 and 90 percent is recorded once each, and so is falling below."""
    await budgets.endpoint("p/a", quota_bytes=1000)
    await budgets.provider("p", pace="none", quota_use=1.0, quota_window=HOUR)
    for now, size in ((NOW, 740), (NOW, 20), (NOW, 20), (NOW, 130), (NOW + 2 * HOUR, 10)):
        block = await budgets.acquire("p/a", bytes_each=size, now=now)
        await budgets.settle(block["block_id"], [1], bytes_each=size, now=now)
    levels = [entry["new"] for entry in await budgets.audited("quota_level_changed")]
    assert [level.split('"level": ')[1].split(",")[0] for level in levels] == ["75", "90", "0"]


async def test_the_forecast(budgets: Budgets) -> None:
    """Without pacing the quota is used up when the last day's rate has filled it; a slow rate never does."""
    await budgets.endpoint("p/a", quota_bytes=100_000)
    await budgets.provider("p", pace="none", quota_use=1.0)
    hour = NOW.replace(minute=0)
    await budgets.owner.execute(
        "insert into livewell_private.quota_hour"
        " select 'p', $1::timestamptz - n * interval '1 hour', 1000 from generate_series(0, 23) as n",
        hour,
    )
    assert (await budgets.quota("p"))["exhausted_at"] == hour + 76 * HOUR
    await budgets.owner.execute("update livewell_private.quota_hour set bytes = 100")
    assert (await budgets.quota("p"))["exhausted_at"] is None


async def test_an_unknown_provider_is_a_fact(budgets: Budgets) -> None:
    """The quota question about a provider nobody declared is refused."""
    with pytest.raises(UnknownProvider):
        await budgets.is_open("nobody")


async def test_old_hours_are_dropped(budgets: Budgets) -> None:
    """The ledger is kept as long as the setting says, and never shorter than the window."""
    await budgets.endpoint("p/a", quota_bytes=1000)
    for days in (1, 700, 800):
        await budgets.owner.execute("insert into livewell_private.quota_hour values ('p', $1, 5)", NOW - days * DAY)
    assert (await budgets.care())["ledger_hours_dropped"] == 1


@pytest.mark.parametrize("pace", ["even", "none"])
async def test_no_window_of_sixty_days_is_over(budgets: Budgets, pace: str) -> None:
    """Sixty days at twice the demand the quota bears, estimates wrong by ten: no rolling window passes the quota.

    Within the buffer for what is in flight, as `apply` asks. With even pacing every day has bytes; without, the quota
    is gone before the month is, and days are dark.
    """
    quota = 72 * MB
    await budgets.endpoint("p/a", quota_bytes=quota, expected_bytes=20_000, max_bytes=200_000, concurrent=10)
    await budgets.provider("p", pace=pace)
    chance, used, now = random.Random(5), [], NOW
    while now < NOW + 60 * DAY:
        block = await budgets.acquire("p/a", 10, bytes_each=20_000, now=now)
        wanted = 1_200_000
        while block["permits"] and wanted > 0:
            for number in range(1, block["permits"] + 1):
                size = chance.choice([2_000, 20_000, 20_000, 200_000])
                used.append((now, size))
                wanted -= size
                await budgets.settle(block["block_id"], [number], bytes_each=size, now=now)
            block = await budgets.acquire("p/a", 10, bytes_each=20_000, now=now)
        if block["permits"]:
            await budgets.settle(block["block_id"], range(1, 11), outcome="unsent", now=now)
        now += timedelta(hours=6)
    assert worst(used, 30 * DAY) <= quota
    days = {(moment - NOW) // DAY for moment, _ in used}
    dark = sorted(set(range(60)) - days)
    if pace == "even":
        assert dark == []
    else:
        assert min(dark) <= 25
