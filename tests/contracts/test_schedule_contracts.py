"""Contract 3 for tasks: one run at a time, ended by its holder alone; each guard shown to be needed."""

import pytest

from livewell.kernel import Database, LivewellError
from livewell.schedule.tests.sql_surface import MINUTE, NOON, SECOND, Schedule, only
from tests.contracts.guards import session, take_away


async def _one_at_a_time(url: str, schedule: Schedule) -> None:
    """While one node has a task in an open transaction, and while it holds its lease, nobody else gets it."""
    await schedule.put("t", every="1 minute", lease="30 seconds")
    async with session(url) as one, session(url) as two:
        async with one.transaction():
            taken = await Schedule(one).take("t", NOON, "n1")
            assert taken["reason"] is None
            assert (await Schedule(two).take("t", NOON, "n2"))["reason"] == "locked"
        assert (await Schedule(two).take("t", NOON + 29 * SECOND, "n2"))["reason"] == "locked"
        assert await Schedule(one).finish("t", taken["token"], NOON + 29 * SECOND) == "succeeded"
        assert (await Schedule(two).take("t", NOON + 30 * SECOND, "n2"))["reason"] == "not_due"


async def _late_holder_is_refused(url: str, schedule: Schedule) -> None:
    """Who lost its lease neither renews nor ends the run of its successor."""
    await schedule.put("t", every="1 minute", lease="30 seconds")
    async with session(url) as one, session(url) as two:
        late = await Schedule(one).take("t", NOON, "n1")
        taken = await Schedule(two).take("t", NOON + MINUTE, "n2")
        until = (await schedule.row("t"))["lease_until"]
        assert await Schedule(one).renew("t", late["token"], NOON + 2 * MINUTE) == "lost"
        assert (await schedule.row("t"))["lease_until"] == until
        assert await Schedule(one).finish("t", late["token"], NOON + MINUTE) == "lost"
        assert await Schedule(two).finish("t", taken["token"], NOON + MINUTE) == "succeeded"


async def _held_back(url: str, schedule: Schedule) -> None:
    """What is disabled or in maintenance is not taken."""
    await schedule.put("t", every="1 minute", enabled=False)
    async with session(url) as one:
        assert (await Schedule(one).take("t", NOON))["reason"] == "disabled"
        await schedule.change("t", enabled=True)
        await one.execute("select livewell.set_setting('maintenance.enabled', 'true')")
        assert (await Schedule(one).take("t", NOON))["reason"] == "maintenance"


@pytest.fixture
def schedule(owner: Database) -> Schedule:
    return Schedule(owner)


async def test_contract_3_a_task_runs_once_at_a_time(owner: Database, owner_url: str, schedule: Schedule) -> None:
    """Contract 3: periodic work never runs twice at once, and only its holder ends it."""
    for proof in (_one_at_a_time, _late_holder_is_refused, _held_back):
        await only(owner)
        await proof(owner_url, schedule)


@pytest.mark.parametrize(
    ("function", "guard", "instead", "proof"),
    [
        ("take_tasks", "for update skip locked", "for update", _one_at_a_time),
        ("take_tasks", "and (t.lease_token is null or t.lease_until <= p_now)", "", _one_at_a_time),
        ("take_tasks", "t.enabled and t.due_at <= p_now", "t.enabled", _one_at_a_time),
        ("take_tasks", "t.enabled and t.due_at <= p_now", "t.due_at <= p_now", _held_back),
        ("take_tasks", "and not v_maintenance", "", _held_back),
        ("finish_task", "and t.lease_token = p_token", "", _late_holder_is_refused),
        ("renew_tasks", "and t.lease_token = h.token", "", _late_holder_is_refused),
    ],
)
async def test_contract_3_needs_each_guard(
    owner: Database, owner_url: str, schedule: Schedule, function: str, guard: str, instead: str, proof: object
) -> None:
    """Without the guard the contract is broken, and its test says so."""
    await only(owner)
    await take_away(owner, function, guard, instead)
    with pytest.raises((AssertionError, LivewellError)):
        await proof(owner_url, schedule)  # type: ignore[operator]
