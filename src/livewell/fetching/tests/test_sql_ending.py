"""How a refresh begins and ends: at one place each, however it came and whatever became of it."""

from collections.abc import Awaitable, Callable

import pytest

from livewell.fetching.tests.storing_surface import (
    HOUR,
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
from livewell.kernel import Database
from livewell.testing import make_type
from tests.contracts.guards import take_away

Ending = Callable[[Database, Storing, Told], Awaitable[object]]
LATER = NOON + SECOND


async def _last_try(owner: Database, storing: Storing, held: Told) -> None:
    await owner.execute("update livewell_private.job_live set retries = 0")
    await storing.end(refused(held), now=LATER)


async def _rescued_too_often(owner: Database, _: Storing, held: Told) -> None:
    await owner.execute(
        "update livewell_private.job_live set retries = 0, lease_until = $2 where id = $1", held["job"], NOON - HOUR
    )
    await owner.execute("select livewell.rescue_jobs(10, $1)", LATER)


async def _cancelled(owner: Database, storing: Storing, held: Told) -> None:
    await storing.end(throttled(held), now=NOON)
    await owner.execute("select livewell.cancel_jobs(array[$1::bigint], 'by hand', 'tests', $2)", held["job"], LATER)


async def _cancelled_while_it_ran(owner: Database, storing: Storing, held: Told) -> None:
    await owner.execute("select livewell.cancel_jobs(array[$1::bigint], 'by hand', 'tests', $2)", held["job"], NOON)
    await storing.end(failed(held), now=LATER)


ENDINGS: dict[str, tuple[str, int, Ending]] = {
    "fetched": ("fetched", 0, lambda _, storing, held: storing.end(fetched(held, {"text": "a"}), now=LATER)),
    "unchanged": ("unchanged", 0, lambda _, storing, held: storing.end(unchanged(held), now=LATER)),
    "refused": ("refused", 0, lambda _, storing, held: storing.end(refused(held), now=LATER)),
    "failed": ("failed", 0, lambda _, storing, held: storing.end(failed(held), now=LATER)),
    "gone": ("gone", 1, lambda _, storing, held: storing.end(gone(held), now=LATER)),
    "failed for good": ("failed", 1, _last_try),
    "rescued too often": ("failed", 1, _rescued_too_often),
    "cancelled": ("cancelled", 0, _cancelled),
    "cancelled while it ran": ("cancelled", 0, _cancelled_while_it_ran),
}


async def _watched(owner: Database, storing: Storing) -> Told:
    await make_type(owner, "note")
    await owner.execute("insert into livewell_private.record (data_type, key, value) values ('note', 'A', '{}')")
    held = await storing.hold_one("note", "A")
    await owner.execute("update livewell_private.item set viewers = 1")
    return held


@pytest.mark.parametrize("ending", ENDINGS)
async def test_every_end_of_a_refresh_is_told_to_its_item_once(owner: Database, storing: Storing, ending: str) -> None:
    """Stored or not, by the worker, by rescue or by a person: the outcome, its time, one failure more if it is one."""
    held = await _watched(owner, storing)
    outcome, failures, end = ENDINGS[ending]
    await end(owner, storing, held)
    item = await storing.item(held["item"])
    assert (item["last_outcome"], item["last_outcome_at"], item["failed_refreshes"]) == (outcome, LATER, failures)


@pytest.mark.parametrize("ending", ENDINGS)
async def test_there_is_one_place_where_a_refresh_ends(owner: Database, storing: Storing, ending: str) -> None:
    """Without `end_refreshes` an item hears of no end at all: whatever is to happen at every end belongs there."""
    held = await _watched(owner, storing)
    await take_away(owner, "end_refreshes", "where e.outcome <> 'throttled'", "where false")
    await ENDINGS[ending][2](owner, storing, held)
    item = await storing.item(held["item"])
    assert (item["last_outcome"], item["last_outcome_at"]) == (None, None)


async def test_there_is_one_place_where_a_refresh_is_queued(owner: Database) -> None:
    """`queue_refreshes` alone asks the queue for refreshes; who wants one says so to it."""
    asking = await owner.fetch(
        "select proname from pg_proc where pronamespace = 'livewell'::regnamespace"
        r" and prosrc ~ 'livewell\.enqueue_jobs?\(' and proname !~ '^enqueue_'"
    )
    assert [row["proname"] for row in asking] == ["queue_refreshes"]
