"""Storing while a stranger is idle in a transaction: what is held is set aside alone, and stored later."""

from uuid import uuid4

import pytest

from livewell.fetching.tests.storing_surface import (
    MINUTE,
    NOON,
    Storing,
    failed,
    fetched,
    make_quotes,
    throttled,
    unchanged,
)
from livewell.kernel import Database
from livewell.testing import idle_in_transaction, make_type

HELD_ITEM = "update livewell_private.item set viewers = viewers where key = 'B'"
KEYS = ["A", "B", "C"]


def _states(answer: dict[str, tuple[str, str, str | None]]) -> dict[str, str]:
    return {key: state for key, (state, _, _) in answer.items()}


async def test_one_held_item_is_set_aside_alone(owner: Database, owner_url: str, storing: Storing) -> None:
    """The others of the batch are stored; the held one is busy, keeps its lease, and is stored when it is free."""
    await make_type(owner, "quote")
    batch = [fetched(job, {"price": 1}) for job in await storing.hold("quote", *KEYS)]
    async with idle_in_transaction(owner_url, HELD_ITEM) as stranger:
        pid = await stranger.fetchval("select pg_backend_pid()")
        answer = await storing.end(*batch)
        assert _states(answer) == {"A": "completed", "B": "busy", "C": "completed"}
        assert (answer["B"][2] or "").startswith(f"item_held: pid {pid}, login ")
    assert await storing.table("livewell_private.record", "key", "1") == [("A",), ("C",)]
    assert await storing.end(batch[1], now=NOON + MINUTE) == {"B": ("completed", "fetched", None)}
    assert await storing.table("livewell_private.record", "key", "1") == [("A",), ("B",), ("C",)]


async def test_the_holder_is_named_once_a_minute(owner: Database, owner_url: str, storing: Storing) -> None:
    """A warning says which key is held, and by whom: process, login, application; not at each try again."""
    await make_type(owner, "quote")
    batch = [fetched(job, {"price": 1}) for job in await storing.hold("quote", *KEYS)]
    said = "select warnings, message from livewell.warnings where code = 'freshness.item_held' and subject = 'quote'"
    async with idle_in_transaction(owner_url, HELD_ITEM) as stranger:
        for _ in range(3):
            await storing.end(*batch)
        ((times, message),) = await owner.fetch(said)
        who = await stranger.fetchrow("select pg_backend_pid() as pid, session_user as login")
    assert who is not None
    assert times == 1
    named = f"pid {who['pid']}, login {who['login']}, application stranger"
    assert message == f"B set aside, held by {named}, seen since 2026-11-16 12:00:00Z"


@pytest.mark.parametrize("make", [lambda job: fetched(job, {"price": 2}), unchanged], ids=["fetched", "unchanged"])
async def test_one_held_row_is_set_aside_alone(owner: Database, owner_url: str, storing: Storing, make: object) -> None:
    """A row of the user's own table that the application has in its hands keeps only its own key from being stored."""
    assert callable(make)
    await make_quotes(owner)
    await storing.fetch("quote", {key: {"price": 1} for key in KEYS})
    batch = [make(job) for job in await storing.hold("quote", *KEYS, now=NOON + MINUTE)]
    async with idle_in_transaction(owner_url, "update public.quotes set price = 9 where symbol = 'B'") as stranger:
        answer = await storing.end(*batch, now=NOON + MINUTE)
        assert _states(answer) == {"A": "completed", "B": "busy", "C": "completed"}
        assert f"pid {await stranger.fetchval('select pg_backend_pid()')}, " in (answer["B"][2] or "")
    assert (await storing.end(batch[1], now=NOON + MINUTE))["B"][0] == "completed"
    assert {row[0] for row in await storing.table("public.quotes", "fetched_at", "1")} == {NOON + MINUTE}


async def test_rows_that_somebody_is_adding(owner: Database, owner_url: str, storing: Storing) -> None:
    """A row that is not there yet, but in somebody's transaction, is found by halving; all others are stored."""
    await make_quotes(owner)
    keys = [f"K{number:02}" for number in range(40)]
    batch = [fetched(job, {"price": 1}) for job in await storing.hold("quote", *keys)]
    adding = "insert into public.quotes (symbol, price) values ('K07', 1), ('K23', 1)"
    async with idle_in_transaction(owner_url, adding):
        answer = await storing.end(*batch)
    assert {key for key, (state, _, _) in answer.items() if state == "busy"} == {"K07", "K23"}
    assert await owner.fetchval("select count(*) from public.quotes") == 38


async def test_a_table_that_somebody_has_locked(owner: Database, owner_url: str, storing: Storing) -> None:
    """A table that is locked as a whole sets its own type aside; the others are stored in the same call."""
    await make_quotes(owner)
    await make_type(owner, "note")
    batch = [fetched(job, {"price": 1}) for name in ("quote", "note") for job in await storing.hold(name, "A", "B")]
    async with idle_in_transaction(owner_url, "lock table public.quotes in exclusive mode"):
        rows = await storing.answers(*batch)
    states = {row["job_id"]: row["state"] for row in rows}
    assert [states[job["job"]] for job in batch] == ["busy", "busy", "completed", "completed"]


async def test_a_job_that_somebody_has(owner: Database, owner_url: str, storing: Storing) -> None:
    """A job whose row is in somebody's hands is busy; a lease that was lost is lost, whoever holds what."""
    await make_type(owner, "quote")
    batch = [fetched(job, {"price": 1}) for job in await storing.hold("quote", *KEYS)]
    batch[2] = {**batch[2], "token": uuid4()}
    async with idle_in_transaction(
        owner_url, f"select from livewell_private.job_live where id = {batch[1]['job']} for update"
    ):
        answer = await storing.end(*batch)
    assert _states(answer) == {"A": "completed", "B": "busy", "C": "lost"}


async def test_what_is_learned_of_limits_does_not_wait(owner: Database, owner_url: str, storing: Storing) -> None:
    """A refusal for too many requests is told at once, whoever holds its item; a failure waits for it."""
    await make_type(owner, "quote")
    batch = await storing.hold("quote", "A", "B")
    async with idle_in_transaction(owner_url, "update livewell_private.item set viewers = viewers"):
        answer = await storing.end(throttled(batch[0]), failed(batch[1]))
    assert _states(answer) == {"A": "pending", "B": "busy"}
