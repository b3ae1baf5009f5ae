"""Clocks: the database's, and one that stands still."""

from datetime import UTC, datetime, timedelta

from livewell.kernel import Clock, Database, DatabaseClock, FixedClock


async def test_the_time_is_the_servers(database: Database) -> None:
    """now() lies between two readings of the server's own clock."""
    clock: Clock = DatabaseClock(database)
    before = await database.fetchval("select clock_timestamp()")
    now = await clock.now()
    after = await database.fetchval("select clock_timestamp()")
    assert before < now < after


async def test_a_fixed_clock_moves_only_when_told() -> None:
    """Both of its readings move together, by exactly what it is told."""
    start = datetime(2026, 1, 2, tzinfo=UTC)
    clock = FixedClock(start)
    first = clock.monotonic()
    assert await clock.now() == start
    clock.advance(timedelta(minutes=5))
    assert await clock.now() == start + timedelta(minutes=5)
    assert clock.monotonic() - first == 300
