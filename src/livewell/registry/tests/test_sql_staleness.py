"""Staleness: too old from the end of its TTL on, and never by a TTL that nobody said."""

from datetime import timedelta

import pytest

from livewell.kernel import Database
from livewell.registry import InvalidTtl
from livewell.registry.tests.surface import MINUTE, NOON

IS_STALE = "select livewell.is_stale($1, $2, $3)"


async def test_data_is_stale_from_the_end_of_its_ttl(database: Database) -> None:
    """One moment before its TTL is over data is fresh, at its end it is stale."""
    moment = timedelta(microseconds=1)
    assert await database.fetchval(IS_STALE, NOON, MINUTE, NOON) is False
    assert await database.fetchval(IS_STALE, NOON, MINUTE, NOON + MINUTE - moment) is False
    assert await database.fetchval(IS_STALE, NOON, MINUTE, NOON + MINUTE) is True


async def test_what_was_never_fetched_is_stale(database: Database) -> None:
    """No time of a fetch is an age without end."""
    assert await database.fetchval(IS_STALE, None, timedelta(days=3650), NOON) is True


async def test_a_ttl_is_said_and_positive(database: Database) -> None:
    """A TTL that is missing, zero or negative is an error, also of what was never fetched."""
    for ttl in (None, timedelta(0), -MINUTE):
        for fetched_at in (None, NOON):
            with pytest.raises(InvalidTtl):
                await database.fetchval(IS_STALE, fetched_at, ttl, NOON)
