"""Every item says why: what its last fetch came to, what holds the next back, and how long it waits after failures."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.freshness import ExplainedItem, FreshnessStore
from livewell.freshness.tests.surface import DAY, MINUTE, NOON, SECOND, Freshness
from livewell.kernel import Database
from livewell.testing import effort, make_key, make_type

HOUR = timedelta(hours=1)


async def _explained(owner: Database, now: datetime = NOON, key: str = "A") -> ExplainedItem:
    (item,) = await FreshnessStore(owner).explain_item("note", key, now=now)
    return item


async def _learn(owner: Database, item: int, outcome: str, reason: str | None, now: datetime = NOON) -> None:
    await owner.execute(
        "select livewell_private.learn_items(array[$1::bigint], array[$2], '{NULL}', '{NULL}', $4, array[$3])",
        item,
        outcome,
        reason,
        now,
    )


async def _claim(owner: Database, now: datetime) -> tuple[list[int], list[Any]]:
    rows = await owner.fetch("select * from livewell.claim_jobs('w', '{refresh}', 1000, p_now => $1)", now)
    return [row["job_id"] for row in rows], [row["lease_token"] for row in rows]


async def _finish(
    owner: Database, claimed: "tuple[Sequence[int], Sequence[Any]]", outcome: str, detail: str, now: datetime
) -> None:
    ids, tokens = claimed
    await owner.execute(
        "select livewell.finish_jobs($1, $2, $3, jsonb_agg($4::text::jsonb), $5) from generate_series(1, $6)",
        ids,
        tokens,
        [outcome] * len(ids),
        detail,
        now,
        len(ids),
    )


async def _bury(owner: Database, now: datetime, message: str = "HTTP 500") -> None:
    """Let every refresh that is ready fail for good."""
    await owner.execute("update livewell_private.job_live set retries = 0")
    await _finish(owner, await _claim(owner, now), "failed", f'{{"error": {{"message": "{message}"}}}}', now)


async def test_a_failure_leaves_its_reason_until_a_success(owner: Database, freshness: Freshness) -> None:
    """What was refused, failed or is gone says why; what was good says nothing."""
    await make_type(owner, "note")
    [item] = await freshness.watch("note", ["A"])
    for outcome, reason in (("failed", "HTTP 500"), ("refused", "price: too large"), ("gone", "HTTP 404")):
        await _learn(owner, item, outcome, reason)
        seen = await _explained(owner)
        assert (seen.last_outcome, seen.last_reason, seen.last_outcome_at) == (outcome, reason, NOON)
    await _learn(owner, item, "fetched", None)
    assert (await _explained(owner)).last_reason is None


async def test_a_reason_is_one_short_line(owner: Database, freshness: Freshness) -> None:
    """Whatever was said, by whomever: no line break, no control character, an end."""
    await make_type(owner, "note")
    [item] = await freshness.watch("note", ["A"])
    await _learn(owner, item, "failed", f"first\r\n\tsecond\x1b[31m\u202e\u2028{'x' * 9000}")
    reason = (await _explained(owner)).last_reason
    assert reason is not None
    assert reason.startswith("first second [31m x")
    assert (reason.isprintable(), len(reason)) == (True, 300)


async def test_a_type_says_what_is_wrong_with_it(owner: Database, freshness: Freshness) -> None:
    """What is watched at this moment has the reason of the last fetch that was not good, and none when all are."""
    await make_type(owner, "note")
    [a, b] = await freshness.watch("note", ["A", "B"])
    await _learn(owner, a, "failed", "HTTP 500")
    await _learn(owner, b, "refused", "empty", NOON + SECOND)
    (seen,) = await FreshnessStore(owner).freshness_now(now=NOON + MINUTE)
    assert (seen.failed, seen.refused, seen.reason) == (1, 1, "empty")
    await _learn(owner, a, "fetched", None)
    await _learn(owner, b, "unchanged", None)
    (seen,) = await FreshnessStore(owner).freshness_now(now=NOON + MINUTE)
    assert (seen.failed, seen.refused, seen.reason) == (0, 0, None)


async def test_an_attempt_that_is_tried_again_says_why_and_when(owner: Database, freshness: Freshness) -> None:
    """A refresh that failed before it fetched anything is no secret of its job: reason, job and the next try."""
    await make_type(owner, "note")
    await freshness.watch("note", ["A"])
    await freshness.tick()
    held = await _claim(owner, NOON)
    await _finish(
        owner, held, "failed", '{"error": {"message": "no key at env:X"}, "delay_seconds": 30}', NOON + SECOND
    )
    seen = await _explained(owner, NOON + 2 * SECOND)
    assert (seen.last_outcome, seen.last_reason) == ("failed", "no key at env:X")
    assert (seen.job_id, seen.job_state, seen.job_attempt) == (held[0][0], "retrying", 1)
    assert (seen.last_outcome_at, seen.job_due_at) == (NOON + SECOND, NOON + 31 * SECOND)
    [item] = await freshness.items("note", ["A"])
    await _learn(owner, item, "refused", "empty", NOON + MINUTE)
    assert (await _explained(owner, NOON + MINUTE)).last_reason == "empty"


HOLDS = {
    "update livewell_private.provider set state = 'disabled' where name = 'sim'": "provider sim is disabled",
    "update livewell_private.endpoint set state = 'maintenance' where name = 'sim/note'": "endpoint sim/note is in maintenance",
    "select livewell.pause_endpoint('sim/note', $1, 'audit')": "sim/note takes no calls: audit",
    "update livewell_private.limit_use set breaker = 'open', breaker_until = $1 where name = 'sim/note'": "too many have fail",
    "update livewell_private.api_key set enabled = false": "provider sim has no API key that is enabled",
    "update livewell_private.limit_use set closed_until = $1, closed_reason = '429' where name like 'sim@%'": "no API key of",
    "update livewell_private.provider set quota_bytes = 100 where name = 'sim'": "the quota of sim is used up",
    "update livewell_private.limit_use set next_allowed_at = $1 where name = 'sim/note'": (
        "the limits of sim/note have nothing left"
    ),
    "select livewell.pause_kind('refresh.note', $1, 'broken')": "jobs of refresh.note are paused: broken",
    "select livewell.set_setting('maintenance.enabled', 'true')": "maintenance: workers claim nothing",
    "delete from livewell_private.worker": "no worker runs refreshes of note",
}


@pytest.mark.parametrize("statement", HOLDS)
async def test_what_holds_a_refresh_back_is_named(owner: Database, freshness: Freshness, statement: str) -> None:
    """State, pause, breaker, keys, quota, limits, kind, maintenance or no worker: each is said, and until when."""
    await make_type(owner, "note", endpoint="sim/note")
    await make_key(owner, "sim", "main")
    await owner.execute("select livewell.register_worker('w', '{refresh}', '{refresh.note}', 1)")
    await freshness.watch("note", ["A"])
    now: datetime = await owner.fetchval("select clock_timestamp()")
    assert (await _explained(owner, now)).held_by is None
    until = now + HOUR
    await (owner.execute(statement, until) if "$1" in statement else owner.execute(statement))
    if "quota" in statement:
        await owner.execute(
            "insert into livewell_private.quota_hour (provider, hour, bytes)"
            " values ('sim', date_trunc('hour', $1::timestamptz), 99)",
            now,
        )
    seen = await _explained(owner, now)
    assert HOLDS[statement] in (seen.held_by or "")
    if "$1" in statement:
        assert seen.held_until == until


async def test_a_refresh_that_failed_for_good_asks_for_nobody(owner: Database, freshness: Freshness) -> None:
    """It ends acknowledged, its item says why, and one warning per type counts however many there are."""
    await make_type(owner, "note")
    await make_type(owner, "quote")
    keys = [f"K{n}" for n in range(40)]
    await freshness.watch("note", keys)
    await freshness.watch("quote", ["A", "B", "C"])
    await freshness.tick()
    await _bury(owner, NOON)
    dead = await owner.fetch(
        "select acknowledged_by, acknowledged_at = finished_at as at_once from livewell_private.job_failed"
    )
    assert {tuple(row.values()) for row in dead} == {("livewell", True)}
    assert len(dead) == 43
    warned = await owner.fetch(
        "select * from livewell.warnings where code = 'freshness.refresh_failed' order by subject"
    )
    assert [(row["subject"], row["warnings"]) for row in warned] == [("note", 40), ("quote", 3)]
    assert warned[0]["message"].endswith(": HTTP 500")
    seen = await _explained(owner, NOON + SECOND, "K7")
    assert (seen.last_outcome, seen.last_reason, seen.failed_refreshes) == ("failed", "HTTP 500", 1)


async def test_a_worker_that_died_counts_like_any_failure(owner: Database, freshness: Freshness) -> None:
    """A refresh whose last lease ran out is told to its item, acknowledged and counted as well."""
    await make_type(owner, "note")
    await freshness.watch("note", ["A"])
    await freshness.tick()
    await owner.execute("update livewell_private.job_live set retries = 0")
    await _claim(owner, NOON)
    await owner.execute("select livewell.rescue_jobs(10, $1)", NOON + HOUR)
    assert await owner.fetchval("select acknowledged_by from livewell_private.job_failed") == "livewell"
    seen = await _explained(owner, NOON + HOUR)
    assert (seen.last_reason, seen.failed_refreshes) == ("worker w went silent", 1)


STRANGERS = [
    ("report", '{"type": "note", "key": "A", "item": 1}'),
    ("refresh.note", '{"type": "note", "key": "A", "item": "none"}'),
    ("refresh.note", '{"type": "note", "key": "B", "item": 1}'),
    ("refresh.note", '{"type": "quote", "key": "A", "item": 1}'),
    ("refresh.note", '{"n": 1}'),
]


async def test_a_dead_letter_that_is_no_items_refresh_is_a_persons(owner: Database, freshness: Freshness) -> None:
    """Only what its item says and tries again needs nobody; what dies beside it is a person's, whatever its name."""
    await make_type(owner, "note")
    await make_type(owner, "quote")
    await owner.execute("insert into livewell_private.job_kind (kind, queue_group) values ('report', 'refresh')")
    assert await freshness.watch("note", ["A"]) == [1]
    await freshness.tick()
    jobs = ", ".join(f'{{"kind": "{kind}", "payload": {payload}}}' for kind, payload in STRANGERS)
    await owner.execute("select livewell.enqueue_jobs($1::text::jsonb, 'keep', $2)", f"[{jobs}]", NOON)
    await _bury(owner, NOON)
    dead = await owner.fetch(
        "select payload ->> 'cause' as cause, acknowledged_by from livewell_private.job_failed order by id"
    )
    assert [tuple(row) for row in dead] == [("missing", "livewell"), *[(None, None)] * len(STRANGERS)]
    assert (await freshness.item(1))["failed_refreshes"] == 1
    counted = "select warnings from livewell.warnings where code = 'freshness.refresh_failed'"
    assert await owner.fetchval(counted) == 1


LONGEST = 20 * MINUTE
GONE_LONGEST = 30 * HOUR


@effort(150)
@given(
    ends=st.lists(
        st.sampled_from(["failed", "failed", "failed", "fetched", "cancelled", "gone"]), min_size=1, max_size=12
    ),
    ttl=st.sampled_from([SECOND, MINUTE, DAY]),
)
async def test_failures_in_a_row_wait_longer_each_time(
    owner: Database, freshness: Freshness, ends: list[str], ttl: timedelta
) -> None:
    """The wait after a failure, or after the provider does not have it, doubles up to the bound of each; a success
    begins anew, a cancellation changes nothing.
    """
    await owner.execute(
        "truncate livewell_private.job, livewell_private.item, livewell_private.data_type restart identity cascade"
    )
    await owner.execute("select livewell.set_setting('freshness.failed_again_max', '20 minutes')")
    await owner.execute("select livewell.set_setting('freshness.gone_again_max', '30 hours')")
    await make_type(owner, "note", ttl=ttl)
    [item] = await freshness.watch("note", ["A"])
    first = max(10 * SECOND, min(ttl, 5 * MINUTE))
    now, in_a_row = NOON, 0
    for end in ends:
        now += DAY
        await owner.execute("update livewell_private.item set due_at = $1", now)
        await freshness.tick(now)
        claimed = await _claim(owner, now)
        assert len(claimed[0]) == 1
        if end == "failed":
            in_a_row += 1
            await owner.execute("update livewell_private.job_live set retries = 0")
        elif end != "cancelled":
            in_a_row = in_a_row + 1 if end == "gone" else 0
            await _learn(owner, item, end, None, now)
        await _finish(owner, claimed, {"fetched": "completed", "gone": "completed"}.get(end, end), "{}", now)
        seen = await freshness.item(item)
        assert (seen["failed_refreshes"], seen["last_outcome"]) == (in_a_row, end)
        if end == "failed":
            assert seen["due_at"] - now == min(first * 2 ** (in_a_row - 1), LONGEST)
        elif end == "gone":
            assert seen["due_at"] - now == min(max(ttl, HOUR) * 2 ** (in_a_row - 1), GONE_LONGEST)
        elif end == "cancelled":
            assert seen["due_at"] - now == first
