"""The breaker: a state, not an exception; it sees retries as they happen, and recovers by itself."""

from datetime import timedelta

from livewell.budgets.tests.surface import HOUR, MINUTE, NOW, SECOND, Budgets


async def _fail(budgets: Budgets, count: int, *, outcome: str = "failed", now: object = NOW) -> None:
    block = await budgets.acquire("p/a", count, now=now)  # type: ignore[arg-type]
    assert block["permits"] == count
    await budgets.settle(block["block_id"], range(1, count + 1), outcome=outcome, now=now)  # type: ignore[arg-type]


async def test_ten_failures_in_ten_minutes_open_it(budgets: Budgets) -> None:
    """The seeded rule: the tenth failure within ten minutes closes the door, older ones no longer count."""
    await budgets.endpoint("p/a", breaker_failures=10)
    await _fail(budgets, 5)
    await _fail(budgets, 4, now=NOW + 9 * MINUTE)
    assert (await budgets.state("p/a"))["breaker"] == "closed"
    await _fail(budgets, 5, now=NOW + 12 * MINUTE)
    assert (await budgets.state("p/a"))["breaker"] == "closed"
    await _fail(budgets, 1, now=NOW + 12 * MINUTE)
    assert (await budgets.state("p/a"))["breaker"] == "open"
    assert (await budgets.acquire("p/a", now=NOW + 12 * MINUTE))["reason"] == "breaker"
    assert len(await budgets.audited("breaker_opened")) == 1


async def test_retries_and_silent_workers_count_and_successes_do_not(budgets: Budgets) -> None:
    """Each failed attempt counts as it happens, each rescue too; a job that succeeds in the end adds nothing."""
    await budgets.endpoint("p/a", breaker_failures=3)
    await budgets.declare("quick", backoff_first="1 second", backoff_max="1 second")
    await budgets.enqueue("p/a", kind="quick")
    await budgets.finish(await budgets.claim(), "failed", error={})
    await budgets.finish(await budgets.claim(now=NOW + 2 * SECOND), "completed", now=NOW + 2 * SECOND)
    await budgets.enqueue("p/a", 2, kind="quick")
    await budgets.claim(now=NOW + 3 * SECOND)
    assert (await budgets.state("p/a"))["breaker"] == "closed"
    assert await budgets.rescue(now=NOW + 6 * MINUTE) == 2
    assert (await budgets.state("p/a"))["breaker"] == "open"


async def test_throttled_and_given_back_do_not_count(budgets: Budgets) -> None:
    """What the provider refused for its rate, and what never ran, is no failure of it."""
    await budgets.endpoint("p/a", breaker_failures=1)
    await budgets.enqueue("p/a", 2)
    leased = await budgets.claim()
    await budgets.finish(leased[:1], "reset", sent=False)
    await budgets.finish(leased[1:], "throttled")
    assert (await budgets.state("p/a"))["breaker"] == "closed"


async def test_trials_close_it_again(budgets: Budgets) -> None:
    """After its pause a few calls are let through; when they pass it closes, and everything flows."""
    await budgets.endpoint("p/a", breaker_failures=2, breaker_trials=3)
    await _fail(budgets, 2)
    later = NOW + 2 * MINUTE
    await budgets.enqueue("p/a", 10, now=later)
    trials = await budgets.claim(now=later)
    assert len(trials) == 3
    assert (await budgets.state("p/a", now=later))["breaker"] == "half_open"
    assert await budgets.claim(now=later) == []
    await budgets.finish(trials, now=later)
    assert (await budgets.state("p/a", now=later))["breaker"] == "closed"
    assert len(await budgets.claim(now=later)) == 7
    changes = [await budgets.audited(f"breaker_{what}") for what in ("opened", "half_opened", "closed")]
    assert [len(entries) for entries in changes] == [1, 1, 1]


async def test_a_failed_trial_opens_it_for_longer(budgets: Budgets) -> None:
    """Each opening in a row lasts about twice as long, up to its longest."""
    await budgets.endpoint("p/a", breaker_failures=1, breaker_cooldown=MINUTE, breaker_cooldown_max=5 * MINUTE)
    now, pauses = NOW, []
    for _ in range(4):
        await _fail(budgets, 1, now=now)
        until = (await budgets.state("p/a", now=now))["breaker_until"]
        pauses.append(round((until - now) / MINUTE))
        now = until
    assert pauses[0] == 1
    assert pauses[1] == 2
    assert 3 <= pauses[2] <= 5
    assert 4 <= pauses[3] <= 6


async def test_what_was_sent_before_it_opened_says_nothing(budgets: Budgets) -> None:
    """Late answers to calls from before neither close an open breaker nor keep it open longer."""
    await budgets.endpoint("p/a", breaker_failures=1)
    block = await budgets.acquire("p/a", 9)
    await budgets.settle(block["block_id"], [1], outcome="failed")
    until = (await budgets.state("p/a"))["breaker_until"]
    await budgets.settle(block["block_id"], [2, 3, 4], outcome="completed", now=NOW + SECOND)
    await budgets.settle(block["block_id"], [5, 6, 7], outcome="failed", now=NOW + SECOND)
    state = await budgets.state("p/a")
    assert (state["breaker"], state["breaker_until"]) == ("open", until)


async def test_rescue_is_never_held_back(budgets: Budgets) -> None:
    """With the breaker open, jobs of silent workers are taken back as ever."""
    await budgets.endpoint("p/a", breaker_failures=1)
    await budgets.enqueue("p/a", 3)
    leased = await budgets.claim()
    await budgets.finish(leased[:1], "failed", error={})
    assert (await budgets.state("p/a"))["breaker"] == "open"
    assert await budgets.rescue(now=NOW + HOUR) == 2


async def test_an_endpoint_can_do_without(budgets: Budgets) -> None:
    """Without a number of failures there is no breaker."""
    await budgets.endpoint("p/a", breaker_failures=None, breaker_window=timedelta(minutes=1))
    await _fail(budgets, 50)
    assert (await budgets.state("p/a"))["breaker"] == "closed"
