"""F1 at every step of a refresh: a worker that is killed there, and what became of what it fetched."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from livewell.kernel import Connection
from livewell.simulator import FaultKind
from livewell.testing import until
from tests.contracts.guards import take_away
from tests.faults.load import Member, Run
from tests.faults.refresh_stage import EXPECTED_BYTES, KEYS, TYPES, Stage, staged
from tests.faults.refreshes import PROFILE, QUOTE
from tests.faults.steps import GO_ON, SEEN_BY_DATABASE, SEEN_BY_PROVIDER, STORED_BY_THE_DEAD, Step

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

# One table of the user's for all steps; a type without one, which asks key by key, where runs are full. Conditions are
# read only for what is asked key by key.
CASES = [
    *(pytest.param(step, QUOTE, id=f"{step}-table") for step in Step if step is not Step.CONDITIONS_READ),
    pytest.param(Step.CONDITIONS_READ, PROFILE, id=f"{Step.CONDITIONS_READ}-record"),
    *(
        pytest.param(step, PROFILE, id=f"{step}-record", marks=pytest.mark.full)
        for step in Step
        if step not in {Step.GATHERED, Step.CONDITIONS_READ}
    ),
]

# Asked by who holds what the store learns from: one that waits for something else has not written its rows yet.
_STORING = (
    "select pid from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'"
    " and query like '%store_fetches%' and pg_backend_pid() = any (pg_blocking_pids(pid))"
)


@pytest.mark.parametrize(("step", "data_type"), CASES)
async def test_a_worker_killed_in_a_refresh_leaves_one_effect(run: Run, step: Step, data_type: str) -> None:
    """Killed at any step, a refresh is stored, learned, told and finished once, and what it may have sent is paid."""
    await _leaves_one_effect(run, step, data_type)


@pytest.mark.parametrize(
    ("function", "guard", "instead", "step"),
    [
        pytest.param("rescue_jobs", "if v_spent is not null then", "if false then", Step.SENT, id="unpaid"),
        pytest.param("lock_fetches", " for update", "", Step.INSIDE, id="unlocked"),
        pytest.param(
            "end_refreshes",
            "perform livewell_private.tell_items(v_told.ids, v_told.versions);",
            "",
            Step.COMMITTED,
            id="untold",
        ),
    ],
)
@pytest.mark.full
async def test_without_its_guard_a_killed_refresh_shows(
    run: Run, function: str, guard: str, instead: str, step: Step
) -> None:
    """Without the guard that keeps it, something is unpaid, untold or done twice."""
    await take_away(run.owner, function, guard, instead)
    with pytest.raises(AssertionError) as found:
        await _leaves_one_effect(run, step, QUOTE)
    assert "in vain" not in str(found.value), "it was only slow"


async def _leaves_one_effect(run: Run, step: Step, data_type: str) -> None:
    async with staged(run) as stage:
        (mortal,) = await run.start_workers(1, program="refresher", dies_at=step, dies_of=data_type)
        await stage.all_fetched()
        async with _killed_at(step, stage, mortal, data_type):
            await stage.time_passes()
        await run.start_workers(1, program="refresher")
        await stage.all_fetched(again=1)
        await run.passes()
        await _one_effect(stage)
        await _history_is_true(stage, step, data_type)
        await _all_is_paid(stage)
        await until(lambda: _has_no_session(stage, mortal), "the server has ended what the dead had asked for")
        assert not any((await stage.left_behind(mortal.name)).values()), await stage.left_behind(mortal.name)
        await stage.nothing_is_locked()


async def _has_no_session(stage: Stage, mortal: Member) -> bool:
    """A statement that was under way goes on without its client, and waits for locks like any other."""
    return not (await stage.left_behind(mortal.name))["sessions"]


async def _one_effect(stage: Stage) -> None:
    items = [(data_type, key) for data_type in TYPES for key in KEYS]
    assert await stage.stored() == stage.at_the_provider()
    assert await stage.learned() == {(1, 1, "fetched")}
    assert await stage.told() == dict.fromkeys(items, 2)


async def _history_is_true(stage: Stage, step: Step, data_type: str) -> None:
    """Each key has one job, which ended once; the attempt of the dead is on record, unless it was stored."""
    found = [tuple(attempts) for attempts in await stage.attempts(data_type)]
    once, again = ("completed",), ("rescued", "completed")
    assert len(found) == len(KEYS)
    assert set(found) <= {once, again}, found
    assert (once if step in STORED_BY_THE_DEAD else again) in found, found


async def _all_is_paid(stage: Stage) -> None:
    """Each request that was debited is in the ledger, once for all who share it; the provider saw no more."""
    await stage.simulator.settled()
    calls = stage.simulator.calls
    requests, size = await stage.booked()
    snapshot = await stage.run.snapshot()
    rescued = len(snapshot.rescues())
    assert requests == await stage.debited()
    assert len(calls) <= requests
    assert sum(call.bytes_out for call in calls) <= size
    assert size <= sum(call.bytes_out for call in calls) + rescued * EXPECTED_BYTES
    assert stage.simulator.over_limit == 0
    stage.run.figures |= {"calls": len(calls), "requests booked": requests, "bytes booked": size}


@asynccontextmanager
async def _killed_at(step: Step, stage: Stage, mortal: Member, data_type: str) -> AsyncIterator[None]:
    """Whatever is done inside leads the mortal to its step, where it dies."""
    if step in SEEN_BY_PROVIDER:
        fault = FaultKind.HANG if step is Step.SENT else FaultKind.HANG_IN_BODY
        stage.simulator.fault(fault, data_type, count=1)
    yield
    if step in SEEN_BY_PROVIDER:
        await until(lambda: _happened(stage), "the provider has the request and keeps the answer")
        await stage.run.kill(mortal)
    elif step in SEEN_BY_DATABASE:
        await _kill_inside(step, stage, mortal, data_type)
    await mortal.process.wait()
    await stage.run.seen("killed")


async def _happened(stage: Stage) -> bool:
    return any(stage.simulator.plan.happened(fault) for fault in stage.simulator.plan.faults)


async def _kill_inside(step: Step, stage: Stage, mortal: Member, data_type: str) -> None:
    """Its rows are written and not committed when it dies; its session is cut too, or ends the statement much later."""
    run = stage.run
    await run.seen("reached", by=mortal.name)
    # Nobody but the engine has the samples of items, so a store waits for them as long as it takes.
    items = "livewell_private.item as i where i.data_type = $1"
    draw = f"insert into livewell_private.sample (item_id, drawn_at) select i.id, now() from {items}"
    await run.owner.execute(draw, data_type)
    async with run.owner.transaction() as holder:
        await holder.execute(
            f"select from livewell_private.sample where item_id in (select i.id from {items}) for update", data_type
        )
        mortal.process.send_signal(GO_ON)
        await until(lambda: _stores(holder, mortal), "the store waits for the samples of its items")
        await run.kill(mortal)
        if step is Step.INSIDE_AND_CUT:
            await _cut(holder, mortal)
        else:
            await until(lambda: _leases_are_over(run), "the leases of the dead are over")
            await run.owner.execute("select livewell.rescue_jobs()")


async def _stores(holder: Connection, mortal: Member) -> bool:
    return bool(await holder.fetchval(f"select exists ({_STORING})", mortal.name))


async def _leases_are_over(run: Run) -> bool:
    held = "select exists (select from livewell_private.job_live where lease_until >= clock_timestamp())"
    return not await run.owner.fetchval(held)


async def _cut(holder: Connection, mortal: Member) -> None:
    """End the session that stores, and wait until it has ended."""
    assert await holder.fetchval(
        f"select bool_and(pg_terminate_backend(s.pid, 30000)) from ({_STORING}) as s", mortal.name
    )
