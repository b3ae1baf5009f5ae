"""Warnings: each is one insert, a task rolls them up by hour, and who reads sees all of them, counted once."""

from datetime import UTC, datetime, timedelta

import pytest

from livewell.kernel import Connection, Database, LivewellError, SurvivedWarning, list_warnings
from tests.contracts.guards import session, take_away

NOON = datetime(2026, 11, 17, 12, tzinfo=UTC)
_WARN = "select livewell_private.warn($1, $2, $3, $4, $5)"
_ROLL_UP = "select livewell_private.task_warnings($1) ->> $2"


async def _warn(
    caller: "Database | Connection", at: timedelta, *, subject: str = "quote", message: str = "odd", times: int = 1
) -> None:
    await caller.fetchval(_WARN, "freshness.check_failed", subject, message, NOON + at, times)


async def _roll_up(owner: Database, now: datetime = NOON) -> int:
    return int(await owner.fetchval(_ROLL_UP, now, "rolled_up"))


async def _listed(owner: Database) -> list[SurvivedWarning]:
    return await list_warnings(owner, since=NOON - timedelta(days=100))


async def test_the_rolled_up_and_the_fresh_are_counted_together(owner: Database, database: Database) -> None:
    """One row by hour, code and subject: the first time, the last, what was said last, and how often in all."""
    await _warn(owner, timedelta(minutes=2), message="second", times=3)
    await _warn(owner, timedelta(minutes=1), message="first")
    assert await _roll_up(owner) == 2
    await _warn(owner, timedelta(minutes=3), message="third", times=2)
    await _warn(owner, timedelta(minutes=61), message="later")
    expected = [
        (NOON + timedelta(hours=1), 1, "later", timedelta(minutes=61), timedelta(minutes=61)),
        (NOON, 6, "third", timedelta(minutes=1), timedelta(minutes=3)),
    ]
    for _ in range(2):
        found = await _listed(database)
        assert [(o.hour, o.warnings, o.message, o.first_at - NOON, o.last_at - NOON) for o in found] == expected
        await _roll_up(owner)
    assert await owner.fetchval("select count(*) from livewell_private.fresh_warning") == 0


async def test_what_comes_late_does_not_speak_last(owner: Database) -> None:
    """A warning whose transaction ended late is counted, and the message of a later one stays."""
    await _warn(owner, timedelta(minutes=5), message="later")
    await _roll_up(owner)
    await _warn(owner, timedelta(minutes=1), message="earlier")
    for _ in range(2):
        (found,) = await _listed(owner)
        assert (found.warnings, found.message, found.first_at) == (2, "later", NOON + timedelta(minutes=1))
        await _roll_up(owner)


async def _nobody_waits_to_warn(owner: Database, url: str) -> None:
    await _warn(owner, timedelta())
    async with session(url) as one, session(url) as two, one.transaction():
        await _warn(one, timedelta())
        await _warn(two, timedelta())
        assert int(await two.fetchval(_ROLL_UP, NOON, "rolled_up")) == 2
        await _warn(two, timedelta())
    (found,) = await _listed(owner)
    assert found.warnings == 4


async def test_nobody_waits_for_another_to_warn_of_the_same(owner: Database, owner_url: str) -> None:
    """A transaction that has warned and stays open holds up neither others that warn of the same, nor the roll-up."""
    await _nobody_waits_to_warn(owner, owner_url)


async def test_warnings_wait_for_each_other_once_they_share_a_row(owner: Database, owner_url: str) -> None:
    """Counted in place, as the unique key of an hour would have it, the second one waits for the first."""
    await owner.execute("create unique index on livewell_private.fresh_warning (code, subject)")
    await take_away(
        owner, "warn", "p_now);", "p_now) on conflict (code, subject) do update set warnings = excluded.warnings;"
    )
    with pytest.raises(LivewellError):
        await _nobody_waits_to_warn(owner, owner_url)


async def test_a_flood_is_rolled_up_in_bounded_rounds(owner: Database) -> None:
    """Of many it takes some at a time, and asks to be run again at once until none is left."""
    await owner.execute(
        "select livewell_private.warn('fetching.refused', 'quote', 'no ' || n, $1) from generate_series(1, 12000) as n",
        NOON,
    )
    rounds = [dict(zip(("rolled_up", "again_in"), row, strict=True)) for row in [await _round(owner) for _ in range(3)]]
    assert rounds == [
        {"rolled_up": 10000, "again_in": "0 seconds"},
        {"rolled_up": 2000, "again_in": None},
        {"rolled_up": 0, "again_in": None},
    ]
    assert [warning.warnings for warning in await _listed(owner)] == [12000]
    assert await owner.fetchval("select count(*) from livewell_private.warning") == 1


async def _round(owner: Database) -> tuple[int, str | None]:
    row = await owner.fetchrow(
        "select (t ->> 'rolled_up')::int, t ->> 'again_in' from livewell_private.task_warnings($1) t", NOON
    )
    assert row is not None
    return row[0], row[1]


async def test_old_warnings_go(owner: Database) -> None:
    """Past `warnings.retention` they are dropped; what is younger stays."""
    for days in (40, 20):
        await _warn(owner, -timedelta(days=days), subject=f"{days} days old")
    await _roll_up(owner)
    assert [warning.subject for warning in await _listed(owner)] == ["20 days old"]


async def test_reading_a_day_does_not_read_the_years_before(owner: Database) -> None:
    """Warnings are found by their hours, however many are kept."""
    await owner.execute(
        "insert into livewell_private.warning"
        " select $1::timestamptz - n * interval '1 hour', 'fetching.refused', 's' || m, 1, '', $1, $1"
        " from generate_series(1, 2000) as n, generate_series(1, 10) as m",
        NOON,
    )
    await owner.execute("analyze livewell_private.warning")
    plan = await owner.fetch(
        "explain select * from livewell.warnings where hour >= $1::timestamptz - interval '1 day'", NOON
    )
    assert any("warning_pkey" in row[0] for row in plan), plan
