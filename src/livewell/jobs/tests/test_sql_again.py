"""Attempts that are followed by others: failed, rescheduled, reset, and where that ends."""

import json
from datetime import timedelta

import pytest

from livewell.jobs.tests.sql_surface import MINUTE, NOW, SECOND, Row, Surface, job, jobs

ERROR = {"type": "ValueError", "message": "bad apple"}


async def _delays(queue: Surface, leased: list[Row], outcome: str, **detail: float) -> list[timedelta]:
    """End all the same way; how long after now each is due again."""
    ends = [(row["job_id"], row["lease_token"], outcome, detail) for row in leased]
    assert {state for _, state in await queue.finish_all(ends)} == {"pending"}
    return [(await queue.show(row["job_id"]))["due_at"] - NOW for row in leased]


async def _failed_before(queue: Surface, failures: int, count: int = 40) -> list[Row]:
    """Jobs held in the attempt after so many failures."""
    await queue.enqueue(*jobs(count, "steep"))
    now = NOW - 1000 * MINUTE
    for _ in range(failures):
        for row in await queue.claim(kinds=["steep"], max_jobs=count, now=now):
            await queue.finish(row, "failed", delay_seconds=1, now=now)
        now += 2 * SECOND
    leased = await queue.claim(kinds=["steep"], max_jobs=count, now=now)
    assert {row["failures"] for row in leased} == {failures}
    return leased


async def test_a_failed_job_comes_back_later(queue: Surface) -> None:
    """A failure gives the job back, out of the ready order until its time, with one failure more and its history."""
    await queue.enqueue(job())
    leased = await queue.claim_one()
    end = NOW + SECOND
    assert await queue.finish(leased, "failed", error=ERROR, reason="upstream", now=end) == "pending"
    shown = await queue.show(leased["job_id"])
    assert (shown["shown_state"], shown["waiting_for"], shown["failures"], shown["attempt"]) == (
        "retrying",
        "due",
        1,
        1,
    )
    assert (shown["worker"], shown["lease_until"], shown["started_at"]) == (None, None, None)
    (attempt,) = await queue.attempts(leased["job_id"])
    assert (attempt["outcome"], attempt["worker"], attempt["reason"]) == ("failed", "w1", "upstream")
    assert (attempt["started_at"], attempt["ended_at"], json.loads(attempt["error"])) == (NOW, end, ERROR)
    assert await queue.claim(now=shown["due_at"] - SECOND / 1000) == []
    again = await queue.claim_one(now=shown["due_at"])
    assert (again["attempt"], again["failures"]) == (2, 1)


@pytest.mark.parametrize(("failures", "full"), [(0, 10), (1, 20), (3, 80), (6, 300)])
async def test_backoff_doubles_with_each_failure_up_to_its_bound(queue: Surface, failures: int, full: int) -> None:
    """The n-th failure waits between half and all of first · 2ⁿ, at most the kind's bound, each job by its own dice."""
    await queue.declare("steep", retries=100, backoff_first="10 seconds", backoff_max="300 seconds")
    delays = await _delays(queue, await _failed_before(queue, failures), "failed")
    assert min(delays) >= full * SECOND / 2
    assert max(delays) <= full * SECOND
    assert max(delays) - min(delays) > full * SECOND / 10
    assert len(set(delays)) > 30


async def test_a_failure_may_name_its_own_delay(queue: Surface) -> None:
    """A delay given with the failure stands instead of the backoff."""
    await queue.enqueue(*jobs(3))
    assert await _delays(queue, await queue.claim(), "failed", delay_seconds=7.5) == [7.5 * SECOND] * 3


async def test_retries_used_up_make_a_dead_letter(queue: Surface) -> None:
    """A job with n retries is tried n + 1 times; the last failure leaves it failed, with reason, error and history."""
    job_id = await queue.enqueue_one(retries=2)
    states = []
    for attempt in range(1, 4):
        leased = await queue.claim_one(now=NOW + attempt * MINUTE)
        answer = await queue.finish(
            leased, "failed", error={**ERROR, "attempt": attempt}, delay_seconds=1, now=NOW + attempt * MINUTE
        )
        states.append(answer)
    assert states == ["pending", "pending", "failed"]
    shown = await queue.show(job_id)
    assert (shown["state"], shown["attempt"], shown["failures"], shown["reason"]) == ("failed", 3, 3, "bad apple")
    assert json.loads(shown["error"]) == {**ERROR, "attempt": 3}
    assert await queue.outcomes(job_id) == [(1, "failed"), (2, "failed"), (3, "failed")]


async def test_a_job_without_retries_fails_at_once(queue: Surface) -> None:
    """Zero retries mean one attempt."""
    await queue.enqueue(job(retries=0))
    assert await queue.finish(await queue.claim_one(), "failed") == "failed"


@pytest.mark.parametrize(("delay", "jitter"), [(10, 5), (60, 30), (600, 30)])
async def test_rescheduled_jobs_are_spread_but_never_early(queue: Surface, delay: int, jitter: int) -> None:
    """A rescheduled job is due after its delay plus a jitter of its own: at most half of it, at most thirty seconds."""
    await queue.enqueue(*jobs(60))
    delays = await _delays(queue, await queue.claim(max_jobs=60), "rescheduled", delay_seconds=delay)
    assert min(delays) >= delay * SECOND
    assert max(delays) <= (delay + jitter) * SECOND
    assert max(delays) - min(delays) > jitter * SECOND / 4
    assert len(set(delays)) > 50


async def test_a_reschedule_without_a_delay_waits_as_the_setting_says(queue: Surface) -> None:
    """For want of capacity a job need not know how long: it is `queue.backpressure_delay`, with the same jitter."""
    await queue.enqueue(*jobs(40))
    (shipped,) = await _delays(queue, [await queue.claim_one()], "rescheduled")
    assert 30 * SECOND <= shipped <= 45 * SECOND
    await queue.set("queue.backpressure_delay", "10 minutes")
    delays = await _delays(queue, await queue.claim(max_jobs=39), "rescheduled")
    assert min(delays) >= 600 * SECOND
    assert max(delays) <= 630 * SECOND
    assert len(set(delays)) > 30


async def test_rescheduling_costs_no_retry(queue: Surface) -> None:
    """However often a job is put off, its failures stay, and its attempts are counted."""
    job_id = await queue.enqueue_one(retries=1)
    now = NOW
    for _ in range(5):
        assert await queue.finish(await queue.claim_one(now=now), "rescheduled", delay_seconds=1, now=now) == "pending"
        now += MINUTE
    shown = await queue.show(job_id)
    assert (shown["failures"], shown["attempt"]) == (0, 5)
    assert await queue.outcomes(job_id) == [(n, "rescheduled") for n in range(1, 6)]


async def test_a_reset_is_ready_at_once_and_no_failure(queue: Surface) -> None:
    """What was not the job's fault is tried again immediately; failures and error stay as they were."""
    job_id = await queue.enqueue_one(retries=0)
    for attempt in range(1, 4):
        leased = await queue.claim_one()
        assert leased["attempt"] == attempt
        assert await queue.finish(leased, "reset", reason="deadlock") == "pending"
    shown = await queue.show(job_id)
    assert (shown["failures"], shown["due_at"], shown["waiting_for"]) == (0, NOW, None)
    assert await queue.outcomes(job_id) == [(1, "reset"), (2, "reset"), (3, "reset")]


@pytest.mark.parametrize("outcome", ["failed", "rescheduled", "reset"])
async def test_a_job_told_to_stop_is_not_tried_again(queue: Surface, outcome: str) -> None:
    """What a cancelled job would have tried again ends as cancelled, by the reason of who cancelled it."""
    await queue.enqueue(job(), job())
    told, other = await queue.claim()
    await queue.cancel(told["job_id"], reason="wrong customer")
    ends = [(row["job_id"], row["lease_token"], outcome, {"delay_seconds": 1}) for row in (told, other)]
    assert [state for _, state in await queue.finish_all(ends)] == ["cancelled", "pending"]
    shown = await queue.show(told["job_id"])
    assert (shown["state"], shown["reason"], shown["cancel_reason"]) == ("cancelled", *["wrong customer"] * 2)
    assert await queue.outcomes(told["job_id"]) == [(1, "cancelled")]


async def test_a_job_told_to_stop_may_still_complete(queue: Surface) -> None:
    """What got done before it could stop is completed, and shows that it was to be cancelled."""
    await queue.enqueue(job())
    leased = await queue.claim_one()
    await queue.cancel(leased["job_id"], reason="too late")
    assert await queue.finish(leased, result={"n": 1}) == "completed"
    shown = await queue.show(leased["job_id"])
    assert (shown["state"], shown["cancel_reason"]) == ("completed", "too late")
