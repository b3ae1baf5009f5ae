"""Storing as Python calls it."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from livewell.fetching.store import FetchStore
from livewell.fetching.tests.storing_surface import Storing, make_quotes
from livewell.fetching.types import (
    Condition,
    EndedFetch,
    Fetched,
    FetchFailed,
    FetchOutcome,
    FetchThrottled,
    Gone,
    Refused,
    Rehearsed,
    Stored,
    Unchanged,
)
from livewell.kernel import Database
from livewell.testing import grant_table, make_type


def ended(held: dict[str, Any], outcome: FetchOutcome, **spent: Any) -> EndedFetch:
    return EndedFetch(held["job"], held["token"], held["item"], held["type"], held["key"], outcome, **spent)


def brought(*rows: dict[str, Any], **fields: Any) -> Fetched:
    return Fetched(rows=rows, content_hash=str(rows).encode(), **fields)


async def test_every_outcome(owner: Database, database: Database, storing: Storing) -> None:
    """Each outcome is stored as what it is, in one call; what was said of it is answered per job."""
    await make_type(owner, "note")
    now = datetime.now(UTC)
    held = await storing.hold("note", *"ABCDEF", now=now)
    outcomes: list[FetchOutcome] = [
        brought({"a": 1}, source_time=now, etag='"1"'),
        Unchanged(why="not_modified"),
        Refused(reason="schema", message="field a is missing"),
        FetchThrottled(message="slow down"),
        FetchFailed(reason="status", message="HTTP 500", status=500),
        Gone(message="HTTP 404"),
    ]
    batch = [
        ended(leased, outcome, bytes=100, rate={"status": 200}) for leased, outcome in zip(held, outcomes, strict=True)
    ]
    stored = {stored_fetch.job_id: stored_fetch for stored_fetch in await FetchStore(database).store_fetches(batch)}
    assert [stored[leased["job"]][1:] for leased in held] == [
        ("completed", "fetched", None),
        ("pending", "refused", "nothing_stored"),
        ("pending", "refused", "schema"),
        ("pending", "throttled", None),
        ("pending", "failed", "status"),
        ("completed", "gone", None),
    ]
    assert await FetchStore(database).fetch_conditions([leased["item"] for leased in held]) == {
        held[0]["item"]: Condition(held[0]["item"], '"1"', None)
    }


async def test_a_rehearsal_leaves_nothing(owner: Database, database: Database) -> None:
    """Each refresh is answered as storing would, without a job or an item, and nothing of it stays."""
    await make_quotes(owner)
    outcomes: list[FetchOutcome] = [
        brought({"price": 1}),
        brought({"price": -1}),
        Unchanged(why="not_modified"),
        Refused(reason="schema", message="field a is missing"),
    ]
    batch = [EndedFetch(at, uuid4(), at, "quote", "ABCD"[at], outcome) for at, outcome in enumerate(outcomes)]
    first, second, *others = await FetchStore(database).rehearse_fetches(batch)
    assert first == Rehearsed("A", "fetched", None, None)
    assert second[:3] == ("B", "refused", "constraint")
    assert [other[:3] for other in others] == [("C", "refused", "nothing_stored"), ("D", "refused", "schema")]
    assert await owner.fetchval("select count(*) from public.quotes") == 0
    assert await FetchStore(database).rehearse_fetches([]) == []


async def test_values_of_python(owner: Database, database: Database, storing: Storing) -> None:
    """Dates, decimals, ids and what is no number arrive as the column takes them."""
    await owner.execute(
        "create table public.values"
        " (k text primary key, d numeric, at timestamptz, f float, u uuid, fetched_at timestamptz)"
    )
    await grant_table(owner, "public.values")
    await make_type(owner, "value", table_name="public.values", key_column="k", time_column="fetched_at")
    held = await storing.hold_one("value", now=datetime.now(UTC))
    row = {"d": Decimal("0.1"), "at": datetime(2026, 1, 1, tzinfo=UTC), "f": float("inf"), "u": uuid4()}
    [stored] = await FetchStore(database).store_fetches([ended(held, brought(row))])
    assert stored == Stored(held["job"], "completed", "fetched", None)
    assert await storing.table("public.values", "d, at, f, u") == [tuple(row.values())]


async def test_what_no_json_can_say(owner: Database, database: Database, storing: Storing) -> None:
    """Text that PostgreSQL cannot hold is an error about its value, so that a sender can halve; nothing is done."""
    await make_type(owner, "note")
    held = await storing.hold_one("note", now=datetime.now(UTC))
    with pytest.raises(asyncpg.DataError):
        await FetchStore(database).store_fetches([ended(held, brought({"a": "\0"}))])
    with pytest.raises(ValueError, match="surrogates"):
        await FetchStore(database).store_fetches([ended(held, brought({"a": "\ud800"}))])
    assert await owner.fetchval("select state from livewell_private.job_live") == "processing"
