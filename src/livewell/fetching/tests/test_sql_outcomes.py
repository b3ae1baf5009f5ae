"""The last few outcomes of an item: what stays on record of a refresh when its job is dropped."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.fetching.tests.storing_surface import (
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    Storing,
    Told,
    failed,
    fetched,
    gone,
    refused,
    throttled,
    unchanged,
)
from livewell.freshness import FreshnessStore, RefreshOutcome
from livewell.jobs import JobStore, UnknownJob
from livewell.kernel import Database
from livewell.testing import effort, make_type

DAY = timedelta(days=1)
KEPT = 5
STORED = {"fetched", "unchanged", "refused", "failed", "gone", "throttled"}
# Each example begins later than any other ended: limits and quotas look back.
_EXAMPLES = count()
ENDS = sorted({*STORED, "dead", "cancelled", "silent"})
_NOTE = """
select livewell_private.note_outcomes(array(
    select row (e.job_id, e.item_id, e.outcome, null, null, null, 'host-12345-abcdef',
        $4)::livewell_private.ended_refresh
    from unnest($1::bigint[], $2::bigint[], $3::text[]) as e (item_id, job_id, outcome)
), $4::timestamptz)
"""


async def _recent(owner: Database, key: str, now: datetime = NOON) -> tuple[RefreshOutcome, ...]:
    (item,) = await FreshnessStore(owner).explain_item("quote", key, now=now)
    return item.recent


def _ended(held: Told, end: str, number: int) -> Told:
    if end == "fetched":
        return fetched(held, {"price": number + 1})
    makers: dict[str, Callable[[Told], Told]] = {
        "unchanged": unchanged,
        "refused": refused,
        "gone": gone,
        "throttled": throttled,
    }
    return makers.get(end, failed)(held)


async def _came_to(storing: Storing, key: str, end: str, number: int, now: datetime) -> RefreshOutcome | None:
    """One refresh that ends so; what is to be on record of it."""
    owner = storing.caller
    told = await storing.hold_one("quote", key, now)
    later = now + SECOND
    outcome, started, worker = end, now, "w"
    if end in {"dead", "silent"}:
        await owner.fetch("update livewell_private.job_live set retries = 0")
    if end == "silent":
        later, outcome = now + HOUR, "failed"
        await owner.fetch("select * from livewell.rescue_jobs(100, $1)", later)
    elif end == "cancelled":
        await owner.fetch("select * from livewell.cancel_jobs(array[$1::bigint], 'no', 'me', $2)", told["job"], later)
        await storing.end(failed(told), now=later)
    else:
        state, outcome, _ = (await storing.end(_ended(told, end, number), now=later))[key]
        # What was refused once too often has failed for good, as its item says; the reason is that of the refusal.
        outcome = "failed" if state == "failed" else outcome
    if end == "throttled":
        return None
    return RefreshOutcome(
        job_id=told["job"], worker=worker, started_at=started, finished_at=later, outcome=outcome, reason=None
    )


def _but_reasons(outcomes: "tuple[RefreshOutcome, ...] | list[RefreshOutcome]") -> list[tuple[Any, ...]]:
    return [
        (outcome.job_id, outcome.worker, outcome.started_at, outcome.finished_at, outcome.outcome)
        for outcome in outcomes
    ]


@effort(100)
@given(ends=st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from(ENDS)), min_size=1, max_size=14))
async def test_the_last_outcomes_are_kept_in_order(
    owner: Database, storing: Storing, ends: list[tuple[str, str]]
) -> None:
    """Whatever refreshes come to, each is noted once with job, worker and times; the last five stay, newest first.

    One that was throttled has come to nothing yet: the same job is tried again.
    """
    await owner.execute(
        "truncate livewell_private.job, livewell_private.item, livewell_private.data_type restart identity cascade"
    )
    await make_type(owner, "quote")
    await owner.fetch("select livewell_private.make_items('{quote,quote}', '{A,B}', $1)", NOON)
    await owner.execute("update livewell_private.item set viewers = 1")
    noted: dict[str, list[RefreshOutcome]] = {"A": [], "B": []}
    await owner.execute("update livewell_private.endpoint set breaker_failures = null")
    now = NOON + next(_EXAMPLES) * 30 * DAY
    for number, (key, end) in enumerate(ends):
        now += 2 * HOUR
        if (outcome := await _came_to(storing, key, end, number, now)) is not None:
            noted[key].insert(0, outcome)
    for key, outcomes in noted.items():
        found = await _recent(owner, key, now)
        assert _but_reasons(found) == _but_reasons(outcomes[:KEPT])
        assert all(outcome.reason is not None for outcome in found if outcome.outcome in {"failed", "refused", "gone"})


async def test_a_refresh_cancelled_while_it_waited_is_noted(owner: Database, storing: Storing) -> None:
    """It had no worker and never started; who looks at the item is told who cancelled it, and why."""
    await make_type(owner, "quote")
    told = await storing.hold_one("quote")
    await storing.end(throttled(told))
    await owner.execute("update livewell_private.item set viewers = 1")
    await owner.fetch("select * from livewell.cancel_jobs(array[$1::bigint], 'too dear', 'me', $2)", told["job"], NOON)
    assert await _recent(owner, "AAPL") == (
        RefreshOutcome(
            job_id=told["job"],
            worker=None,
            started_at=None,
            finished_at=NOON,
            outcome="cancelled",
            reason="too dear",
        ),
    )


async def test_two_refreshes_of_an_item_in_one_batch_are_both_noted(owner: Database, storing: Storing) -> None:
    """Somebody may queue a refresh by hand while another runs: both have their outcome."""
    await make_type(owner, "quote")
    item = (await storing.hold_one("quote"))["item"]
    for jobs in ([1, 2], [3, 4]):
        await owner.execute(_NOTE, [item, item], jobs, ["fetched", "failed"], NOON)
    assert [outcome.job_id for outcome in await _recent(owner, "AAPL")] == [4, 3, 2, 1]


async def test_a_reason_is_one_short_line(owner: Database, storing: Storing) -> None:
    """Whatever a provider said, the record of it stays small."""
    await make_type(owner, "quote")
    told = await storing.hold_one("quote")
    await storing.end({**failed(told), "message": f"first\n\tsecond {'x' * 9000}"})
    (one,) = await _recent(owner, "AAPL")
    assert one.reason is not None
    assert (one.reason.startswith("first second x"), len(one.reason)) == (True, 120)


async def test_outcomes_are_told_when_the_jobs_are_gone(owner: Database, storing: Storing) -> None:
    """An hour later the completed refresh is dropped; its item still says who fetched it and when, and `jobs show`
    which retention it is past.
    """
    await owner.fetch("select livewell.make_job_partitions(0, $1)", NOON)
    await make_type(owner, "quote")
    told = await storing.hold_one("quote")
    await storing.end(fetched(told, {"price": 1}), now=NOON + SECOND)
    jobs = JobStore(owner)
    assert (await jobs.show_job(told["job"]))["state"] == "completed"
    dropped = await owner.fetchval("select livewell.task_brief_retention($1)->>'dropped'", NOON + timedelta(minutes=90))
    assert dropped == '["job_brief_202611161200"]'
    with pytest.raises(UnknownJob) as told_so:
        await jobs.show_job(told["job"])
    assert "completed refreshes are kept for 1 h (jobs.retention.refreshes)" in str(told_so.value.fix)
    (one,) = await _recent(owner, "AAPL", NOON + 2 * HOUR)
    assert _but_reasons((one,)) == [(told["job"], "w", NOON, NOON + SECOND, "fetched")]


async def test_completed_refreshes_are_counted_without_their_jobs(owner: Database, storing: Storing) -> None:
    """The figures count what was completed in the ledger of the type, folded or not: no job need be there."""
    await make_type(owner, "quote")
    counts = FreshnessStore(owner).refresh_counts
    assert await counts() == {"quote": 0}
    ends = (("A", fetched), ("A", unchanged), ("A", gone), ("C", gone), ("D", failed), ("E", throttled))
    for number, (key, end) in enumerate(ends):
        now = NOON + number * MINUTE
        told = await storing.hold_one("quote", key, now)
        await storing.end(fetched(told, {"price": 1}) if end is fetched else end(told), now=now)
    assert await owner.fetchval("select count(*) from livewell.jobs where state = 'completed'") == 4
    await owner.execute("truncate livewell_private.job")
    assert await counts() == {"quote": 4}
    await owner.execute("select livewell_private.fold_learning()")
    assert await counts() == {"quote": 4}


async def test_the_record_of_an_item_is_written_in_place(owner: Database, storing: Storing) -> None:
    """However often an item is refreshed, its record takes its few pages again, and its index does not grow.

    Vacuumed after each refresh, because the server cleans up by itself only what no other database looks back on.
    """
    await make_type(owner, "quote")
    told = await storing.hold("quote", *(f"K{number:02}" for number in range(20)))
    items = [job["item"] for job in told]
    for number in range(100):
        await owner.execute(_NOTE, items, [number] * len(items), ["fetched"] * len(items), NOON + number * SECOND)
        await owner.execute("vacuum livewell_private.item_outcomes")
    assert await owner.fetchval("select pg_relation_size('livewell_private.item_outcomes')") <= 8 * 8192
    assert await owner.fetchval("select pg_relation_size('livewell_private.item_outcomes_pkey')") == 2 * 8192
