"""Jobs that share a request: a bundle costs one, its jobs are priced by their bytes, and every limit holds."""

import random
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from livewell.budgets.tests.surface import HOUR, MINUTE, NOW, SECOND, Budgets, Row, worst


async def _shared(budgets: Budgets, kind: str = "shared", *, jobs_per_request: int = 20) -> None:
    await budgets.declare(kind)
    await budgets.owner.execute(
        "update livewell_private.job_kind set jobs_per_request = $2 where kind = $1", kind, jobs_per_request
    )


def _sizes(jobs: Sequence[Row]) -> list[int]:
    return sorted(Counter(job["bundle"] for job in jobs).values(), reverse=True)


async def _debited(budgets: Budgets, endpoint: str = "p/a") -> int:
    return int((await budgets.state(endpoint))["requests_last_minute"])


async def test_a_bundle_costs_one_request(budgets: Budgets) -> None:
    """Ten requests a minute with twenty keys each are two hundred jobs, and not one more."""
    await budgets.endpoint("p/a", requests_per_minute=10)
    await _shared(budgets)
    await budgets.enqueue("p/a", 250, kind="shared")
    claimed = await budgets.claim(500)
    assert _sizes(claimed) == [20] * 10
    assert await _debited(budgets) == 10
    assert await budgets.claim(500, now=NOW + SECOND) == []
    assert len(await budgets.claim(500, now=NOW + 2 * MINUTE)) == 50


async def test_a_request_is_filled_beyond_the_number_asked_for(budgets: Budgets) -> None:
    """Who asks for one job of many is given passengers with it, up to what its kind allows.

    Those of one serial key do not go out together, even if none of them was parked behind the other.
    """
    await budgets.endpoint("p/a", requests_per_minute=2)
    await _shared(budgets)
    best = await budgets.enqueue("p/a", 3, kind="shared", priority=9)
    await budgets.enqueue("p/a", 2, kind="shared", serial_key="p/same")
    await budgets.enqueue("p/a", 60, kind="shared")
    await budgets.owner.execute("update livewell_private.job_live set waiting_for = null where serial_key is not null")
    claimed = await budgets.claim(1)
    assert _sizes(claimed) == [19]
    assert {job["job_id"] for job in claimed} > set(best)
    assert sum(job["serial_key"] is not None for job in claimed) == 1
    assert _sizes(await budgets.claim(1, now=NOW + SECOND)) == [20]
    assert await budgets.claim(1, now=NOW + 2 * SECOND) == []


async def test_nobody_is_a_passenger_of_its_own_serial_key(budgets: Budgets) -> None:
    """Of two ready jobs of one serial key the second is no passenger of the first, though neither runs yet."""
    await budgets.endpoint("p/a")
    await _shared(budgets)
    first = await budgets.enqueue("p/a", kind="shared", serial_key="p/same", priority=9)
    await budgets.enqueue("p/a", kind="shared", serial_key="p/same")
    other = await budgets.enqueue("p/a", kind="shared")
    await budgets.owner.execute("update livewell_private.job_live set waiting_for = null where serial_key is not null")
    assert [job["job_id"] for job in await budgets.claim(1)] == first + other


async def test_a_full_request_takes_no_more(budgets: Budgets) -> None:
    """What a later round of the same claim finds goes out in a request of its own when the one before is full."""
    await budgets.endpoint("p/a", tokens_per_minute=1000)
    await _shared(budgets, jobs_per_request=2)
    for priority, tokens in ((9, 400), (8, 400), (7, 900), (6, 100), (5, 100)):
        await budgets.enqueue("p/a", kind="shared", priority=priority, estimated_tokens=tokens)
    claimed = await budgets.claim()
    assert _sizes(claimed) == [2, 2]
    assert [job["priority"] for job in claimed] == [9, 8, 6, 5]
    assert await _debited(budgets) == 2


async def test_the_order_stays(budgets: Budgets) -> None:
    """A bundle has the place of its best job: what is better is taken first, what is worse is a passenger or waits."""
    await budgets.endpoint("p/a", requests_per_minute=2)
    await _shared(budgets)
    (better,) = await budgets.enqueue("p/a", priority=9)
    (first,) = await budgets.enqueue("p/a", kind="shared", priority=8)
    await budgets.enqueue("p/a", 5, priority=7)
    passengers = await budgets.enqueue("p/a", 5, kind="shared", priority=-1)
    claimed = await budgets.claim()
    assert [job["job_id"] for job in claimed] == [better, first, *passengers]
    assert [job["bundle"] is None for job in claimed] == [True] + [False] * 6


async def test_bytes_are_those_of_each_job(budgets: Budgets) -> None:
    """What shares a request still reserves its own bytes: nobody is a passenger beyond the quota."""
    await budgets.endpoint("p/a", quota_bytes=1_000_000)
    await budgets.provider("p", pace="none", quota_use=0.1)
    await _shared(budgets)
    await budgets.enqueue("p/a", 20, kind="shared", estimated_bytes=30_000)
    claimed = await budgets.claim(1)
    assert len(claimed) == 1
    assert len(await budgets.claim(now=NOW + SECOND)) == 2
    assert (await budgets.quota("p", now=NOW + SECOND))["in_flight_bytes"] == 90_000
    assert await budgets.claim(now=NOW + 10 * SECOND) == []


async def test_a_bundle_is_one_call_at_once(budgets: Budgets) -> None:
    """Concurrency counts requests: a bundle holds one place until the last of its jobs has ended."""
    await budgets.endpoint("p/a", concurrent=2)
    await _shared(budgets, jobs_per_request=10)
    await budgets.enqueue("p/a", 50, kind="shared")
    claimed = await budgets.claim()
    assert _sizes(claimed) == [10, 10]
    assert (await budgets.state("p/a"))["in_flight"] == 2
    one = [job for job in claimed if job["bundle"] == claimed[0]["bundle"]]
    await budgets.finish(one[:9], now=NOW + SECOND)
    assert await budgets.claim(now=NOW + SECOND) == []
    await budgets.finish(one[9:], now=NOW + 2 * SECOND)
    assert _sizes(await budgets.claim(now=NOW + 2 * SECOND)) == [10]


async def _requests_booked(budgets: Budgets) -> int:
    return int(await budgets.owner.fetchval("select coalesce(sum(requests), 0) from livewell_private.quota_hour") or 0)


async def test_a_bundle_that_ends_apart_is_counted_once(budgets: Budgets) -> None:
    """However the jobs of a bundle end, and whenever: its one request is booked once, and tells the breaker once."""
    await budgets.endpoint("p/a", breaker_failures=3, breaker_window=10 * MINUTE)
    await _shared(budgets, jobs_per_request=10)
    await budgets.enqueue("p/a", 10, kind="shared")
    claimed = await budgets.claim()
    await budgets.finish(claimed[:3], now=NOW + SECOND)
    await budgets.finish(claimed[3:6], "failed", error={"message": "cut"}, now=NOW + SECOND)
    assert await budgets.rescue(now=NOW + HOUR) == 4
    assert await _requests_booked(budgets) == 1
    assert (await budgets.state("p/a", now=NOW + HOUR))["breaker"] == "closed"
    left = await budgets.owner.fetch(
        "select bundle, is_passenger from livewell_private.job_live where state = 'pending'"
    )
    assert {(row["bundle"], row["is_passenger"]) for row in left} == {(None, None)}


async def test_a_bundle_that_was_not_sent_books_nothing(budgets: Budgets) -> None:
    """What never went out costs no request in the ledger, and no bytes."""
    await budgets.endpoint("p/a")
    await _shared(budgets, jobs_per_request=10)
    await budgets.enqueue("p/a", 10, kind="shared")
    await budgets.finish(await budgets.claim(), "reset", sent=False)
    assert await _requests_booked(budgets) == 0


async def test_a_bundle_uses_one_key(budgets: Budgets) -> None:
    """Jobs of one request go out with one key, and each key's limit is debited by the requests that use it."""
    await budgets.endpoint("p/a")
    await budgets.key("p", "one", scope="s1", requests_per_minute=2)
    await budgets.key("p", "two", scope="s2", requests_per_minute=1)
    await _shared(budgets, jobs_per_request=10)
    await budgets.enqueue("p/a", 50, kind="shared")
    claimed = await budgets.claim(24)
    bundles = {(job["bundle"], job["api_key"]) for job in claimed}
    assert (len(claimed), len(bundles)) == (30, 3)
    assert Counter(key for _, key in bundles) == {"one": 2, "two": 1}
    granted = {
        row["name"]: row["granted"] for row in await budgets.owner.fetch("select * from livewell_private.api_key")
    }
    assert granted == {"one": 2, "two": 1}
    assert await budgets.claim(now=NOW + SECOND) == []


async def test_the_cap_of_a_kind_counts_jobs(budgets: Budgets) -> None:
    """Passengers stay below the concurrency of its kind."""
    await budgets.endpoint("p/a")
    await budgets.declare("shared", concurrency=7)
    await _shared(budgets)
    await budgets.enqueue("p/a", 30, kind="shared")
    assert len(await budgets.claim(5)) == 7
    assert await budgets.claim(5) == []


async def test_another_request_pays_for_itself(budgets: Budgets) -> None:
    """A page or a redirect is debited like any request; it is granted in no fuller window, and beside its own fetch."""
    await budgets.endpoint("p/a", requests_per_minute=3, concurrent=1)
    await budgets.enqueue("p/a", 5)
    assert len(await budgets.claim()) == 1
    assert [(await _further(budgets))["granted"] for _ in range(3)] == [True, True, False]
    assert await _debited(budgets) == 3
    assert await _requests_booked(budgets) == 2
    refused = await _further(budgets)
    assert (refused["reason"], 60 < refused["retry_seconds"] <= 63) == ("requests", True)


async def test_who_waits_for_another_request_goes_before_new_jobs(budgets: Budgets) -> None:
    """When the window opens, what is under way goes on first; claims come a moment later."""
    await budgets.endpoint("p/a", requests_per_minute=1)
    await budgets.enqueue("p/a", 5)
    assert len(await budgets.claim()) == 1
    wait = (await _further(budgets, patience=75))["retry_seconds"]
    opens = NOW + wait * SECOND
    assert await budgets.claim(now=opens) == []
    assert (await _further(budgets, patience=75, now=opens))["granted"]


@pytest.mark.parametrize("seed", range(12))
async def test_limits_hold_whatever_is_shared(budgets: Budgets, seed: int) -> None:
    """Kinds that share and kinds that do not, keys, caps and sizes, claims and ends in any order: no limit is passed.

    Every bundle is of one kind and key, no larger than its kind allows, and there are as many as were debited.
    """
    dice = random.Random(seed)
    limit, at_once = dice.randint(1, 8), dice.choice([None, 3])
    await budgets.endpoint("p/a", requests_per_minute=limit, concurrent=at_once, tokens_per_minute=200_000)
    if dice.random() < 0.5:
        for number in range(dice.randint(1, 3)):
            await budgets.key("p", f"k{number}", scope=f"s{number % 2}", requests_per_minute=dice.randint(1, 6))
    sizes = {"call": 1, "few": dice.randint(2, 4), "many": dice.randint(5, 30)}
    for kind in ("few", "many"):
        await _shared(budgets, kind, jobs_per_request=sizes[kind])
    sent: list[tuple[datetime, int]] = []
    leased: list[Row] = []
    now = NOW
    for _ in range(25):
        for kind in sizes:
            await budgets.enqueue("p/a", dice.randint(0, 12), kind=kind, priority=dice.randint(-1, 9), now=now)
        asked = dice.randint(1, 40)
        claimed = await budgets.claim(asked, now=now)
        requests = _requests_of(claimed, sizes)
        sent.append((now, requests))
        assert len(claimed) - asked < sum(size for size in sizes.values())
        leased += claimed
        assert at_once is None or len(_flights(leased)) <= at_once
        dice.shuffle(leased)
        number = dice.randint(0, len(leased))
        ended, leased = leased[:number], leased[number:]
        for outcome in ("completed", "failed"):
            some = [job for job in ended if (job["job_id"] % 5 == 0) == (outcome == "failed")]
            await budgets.finish(some, outcome, error={"message": "no"}, now=now)
        now += timedelta(seconds=dice.choice([0.5, 3, 11]))
    assert worst(sent, MINUTE) <= limit
    assert sum(requests for _, requests in sent) > 0
    hour = await budgets.state("p/a", now=now)
    assert hour["requests_last_hour"] == sum(requests for _, requests in sent)


def _flights(jobs: Sequence[Row]) -> set[int]:
    return {job["bundle"] or -job["job_id"] for job in jobs}


def _requests_of(jobs: Sequence[Row], sizes: dict[str, int]) -> int:
    for bundle in {job["bundle"] for job in jobs} - {None}:
        members = [job for job in jobs if job["bundle"] == bundle]
        assert len({(job["kind"], job["api_key"]) for job in members}) == 1
        assert len(members) <= sizes[members[0]["kind"]]
    assert all((job["bundle"] is None) == (sizes[job["kind"]] == 1) for job in jobs)
    return len(_flights(jobs))


async def _further(budgets: Budgets, *, patience: float = 0, now: datetime = NOW) -> Row:
    (row,) = await budgets.database.fetch("select * from livewell.further_request('p/a', null, $1, $2)", patience, now)
    return row
