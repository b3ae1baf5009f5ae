"""Several keys: each with its scope and limits, one per job, the least used first, a throttled one left alone."""

from collections import Counter

import pytest

from livewell.budgets import InvalidPermit
from livewell.budgets.tests.surface import MINUTE, NOW, SECOND, Budgets


async def test_keys_add_up_and_each_keeps_its_limit(budgets: Budgets) -> None:
    """Two accounts allow twice as much; no key is used beyond its own limit; each job has one."""
    await budgets.endpoint("p/a")
    await budgets.key("p", "one", requests_per_minute=3)
    await budgets.key("p", "two", requests_per_minute=4)
    await budgets.enqueue("p/a", 20)
    claimed = await budgets.claim()
    assert Counter(job["api_key"] for job in claimed) == {"one": 3, "two": 4}
    assert {job["key_source"] for job in claimed} == {"env:ONE", "env:TWO"}
    assert await budgets.claim(now=NOW + SECOND) == []
    assert len(await budgets.claim(now=NOW + 2 * MINUTE)) == 7


async def test_keys_of_one_scope_share_its_limit(budgets: Budgets) -> None:
    """Two keys of one account have what one has; work is spread over them."""
    await budgets.endpoint("p/a")
    await budgets.key("p", "one", scope="account", requests_per_minute=4)
    await budgets.key("p", "two", scope="account", requests_per_minute=4)
    granted = [(await budgets.acquire("p/a"))["api_key"] for _ in range(5)]
    assert Counter(granted) == {"one": 2, "two": 2, None: 1}


async def test_a_throttled_key_is_left_alone(budgets: Budgets) -> None:
    """429 on one key moves the work to the others, until the stated time; the endpoint stays open."""
    await budgets.endpoint("p/a")
    await budgets.key("p", "one")
    await budgets.key("p", "two")
    await budgets.enqueue("p/a", 4)
    leased = await budgets.claim(2)
    assert {job["api_key"] for job in leased} == {"one", "two"}
    first = [job for job in leased if job["api_key"] == "one"]
    await budgets.finish(first, "throttled", rate={"retry_after_seconds": 30})
    assert {job["api_key"] for job in await budgets.claim()} == {"two"}
    await budgets.enqueue("p/a", 6, now=NOW + MINUTE)
    assert {job["api_key"] for job in await budgets.claim(now=NOW + MINUTE)} == {"one", "two"}


async def test_when_all_keys_are_spent_the_endpoint_waits(budgets: Budgets) -> None:
    """With no key left nothing is claimed, and the worker is told when one opens."""
    await budgets.endpoint("p/a")
    await budgets.key("p", "one", requests_per_minute=1)
    await budgets.enqueue("p/a", 3)
    assert len(await budgets.claim()) == 1
    assert await budgets.claim(now=NOW + SECOND) == []
    opens = (await budgets.state("p/a", now=NOW + SECOND))["opens_at"]
    assert NOW + MINUTE < opens < NOW + 65 * SECOND
    assert len(await budgets.claim(now=opens)) == 1


async def test_one_job_keeps_to_its_key(budgets: Budgets) -> None:
    """Who names a key gets permits of that key alone, within its limits; a key nobody declared is refused."""
    await budgets.endpoint("p/a")
    await budgets.key("p", "one", requests_per_minute=2)
    await budgets.key("p", "two")
    granted = await budgets.acquire("p/a", 5, key="one")
    assert (granted["api_key"], granted["permits"], granted["key_source"]) == ("one", 2, "env:ONE")
    refused = await budgets.acquire("p/a", key="one")
    assert (refused["permits"], refused["reason"]) == (0, "key")
    assert refused["retry_seconds"] > 1
    assert (await budgets.acquire("p/a"))["api_key"] == "two"
    with pytest.raises(InvalidPermit, match="p has no key three"):
        await budgets.acquire("p/a", key="three")


async def test_concurrency_of_a_key(budgets: Budgets) -> None:
    """A key's concurrency is what its jobs and permits hold."""
    await budgets.endpoint("p/a")
    await budgets.key("p", "one", concurrent=2)
    await budgets.enqueue("p/a", 5)
    leased = await budgets.claim()
    assert len(leased) == 2
    assert (await budgets.acquire("p/a"))["reason"] == "key"
    await budgets.finish(leased[:1])
    assert (await budgets.acquire("p/a", 9))["permits"] == 1


@pytest.mark.parametrize("source", ["sk-secret", "http://x", "env:", "env:A B", ""])
async def test_only_a_place_is_stored(budgets: Budgets, source: str) -> None:
    """The database takes where a key is found, not a key."""
    await budgets.endpoint("p/a")
    with pytest.raises(Exception, match="api_key_is_found_somewhere_safe"):
        await budgets.key("p", "one", source=source)
