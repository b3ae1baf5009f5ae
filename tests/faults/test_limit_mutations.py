"""The guards of the limiter, each in a script of seconds that the oracle judges: it passes with the guard only.

Where a minute must pass, it passes at once, for the limiter and for the oracle alike.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeAlias

import pytest

from livewell.testing import make_endpoint, until
from tests.faults.load import Run
from tests.faults.mutants import without
from tests.faults.oracle import Limit, Oracle, into_the_storm, most_at_once, start_oracle

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

NAME = "edge/calls"
ALLOWED = 40
LIMIT = Limit(name=NAME, allowed=ALLOWED, counts=lambda arrival: arrival.endpoint == NAME)
CAP = 2
LOCK = (
    "livewell_private.lock_budgets("
    "array(select distinct l.endpoint from unnest(p_lanes) as l where l.endpoint is not null))"
)
# Nearly what passes between two bursts; the rest passes by itself.
LEAP = 57
WITHIN = timedelta(seconds=20)

Mutation: TypeAlias = Callable[[Run], Awaitable[None]]


async def _whole(_run: Run) -> None:
    """Nothing is taken out."""


async def _without_send_within(run: Run) -> None:
    await without(run, "seconds_counted", ("61 + ceil(extract(epoch from p_send_within))::integer", "60"))


async def _counting_while_locking(run: Run) -> None:
    await without(
        run,
        "lock_affordable_jobs",
        (f"v_names := {LOCK};\n", ""),
        ("        v_names, v_providers,", f"        {LOCK}, v_providers,"),
    )


async def _without_locks(run: Run) -> None:
    await without(
        run, "lock_budgets", ('order by u.name collate "C"\n        for no key update', 'order by u.name collate "C"')
    )


async def _without_counting_leases(run: Run) -> None:
    await without(run, "limits_now", ("c.concurrent - c.in_flight,", "c.concurrent,"))


async def _deaf_to_429(run: Run) -> None:
    await without(run, "learn_limits", ("if v_status = 429 or", "if v_status = 0 or"))


async def _prepared(run: Run, mutation: Mutation, workers: int = 1, *, heedless: bool = False, **fields: Any) -> Oracle:
    oracle = await start_oracle(run)
    await make_endpoint(run.owner, NAME, **{"requests_per_minute": ALLOWED, "backpressure_share": 1000, **fields})
    await mutation(run)
    plan = {"oracle": oracle.url, "heedless": heedless, "slots": 2 * ALLOWED, "poll_interval": timedelta(seconds=0.2)}
    await run.start_workers(workers, program="caller", **plan)
    return oracle


async def _call(run: Run, number: int, *, wait: float = 0.0, seconds: float = 0.0) -> None:
    await run.enqueue("call", *[{"wait": wait, "seconds": seconds}] * number, endpoint=NAME)


async def _arrived(oracle: Oracle, number: int) -> None:
    """So many calls have come, and nothing is under way any more."""

    async def all_came() -> bool:
        running = await oracle.run.owner.fetchval(
            "select count(*) from livewell_private.job_live where state = 'processing'"
        )
        return not running and len(oracle.arrivals()) >= number

    await until(all_came, f"{number} calls have come", within=WITHIN)


async def _two_bursts(run: Run, mutation: Mutation, *, wait: float, heedless: bool = False) -> float:
    """All that a minute allows, sent late; then as much again as soon as it is permitted, sent at once."""
    oracle = await _prepared(run, mutation, heedless=heedless)
    await _call(run, ALLOWED, wait=wait)
    await _arrived(oracle, ALLOWED)
    await oracle.leap(LEAP)
    await _call(run, ALLOWED)
    await _arrived(oracle, 2 * ALLOWED)
    return LIMIT.share(oracle.arrivals())


async def _at_one_door(run: Run, mutation: Mutation) -> float:
    """Four workers ask at the same moment for all that a minute allows."""
    oracle = await _prepared(run, mutation, workers=4)

    async def all_wait() -> bool:
        waiting = await run.owner.fetchval(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
            " and application_name like 'caller-%'"
        )
        return bool(waiting >= 4)

    async with run.owner.transaction() as door:
        await door.execute("select from livewell_private.limit_use where name = $1 for update", NAME)
        await _call(run, 8 * ALLOWED)
        await until(all_wait, "all workers wait at the door", within=WITHIN)
    await _arrived(oracle, ALLOWED)
    return LIMIT.share(oracle.arrivals())


@pytest.mark.parametrize(
    ("mutation", "holds"),
    [pytest.param(_whole, True, id="whole"), pytest.param(_without_send_within, False, id="60 slots")],
)
async def test_what_may_still_be_sent_is_counted(run: Run, mutation: Mutation, *, holds: bool) -> None:
    """Calls sent late and calls sent at once fit one window only because the limiter counts send_within to it."""
    run.figures["worst window"] = share = await _two_bursts(run, mutation, wait=1.2)
    assert share == 1 if holds else share > 1


async def test_who_does_not_ask_its_permit_is_found_out(run: Run) -> None:
    """Calls sent without asking whether their permit is still good exceed the limit, and the oracle sees it."""
    run.figures["worst window"] = share = await _two_bursts(run, _whole, wait=6, heedless=True)
    assert share > 1


@pytest.mark.parametrize(
    ("mutation", "holds"),
    [
        pytest.param(_whole, True, id="whole"),
        pytest.param(_counting_while_locking, False, id="lock and count in one statement"),
        pytest.param(_without_locks, False, id="no lock"),
    ],
)
async def test_rivals_at_one_door(run: Run, mutation: Mutation, *, holds: bool) -> None:
    """Workers that ask at the same moment share one limit only because it is locked first and counted afterwards."""
    run.figures["worst window"] = share = await _at_one_door(run, mutation)
    assert share == 1 if holds else share > 1


@pytest.mark.parametrize(
    ("mutation", "holds"),
    [pytest.param(_whole, True, id="whole"), pytest.param(_without_counting_leases, False, id="leases not counted")],
)
async def test_leases_are_counted_as_calls(run: Run, mutation: Mutation, *, holds: bool) -> None:
    """No more calls are open at the provider than its endpoint allows, because live leases are counted."""
    oracle = await _prepared(run, mutation, workers=2, concurrent=CAP, requests_per_minute=None)
    for _ in range(4):
        await _call(run, 2, seconds=0.5)
        await asyncio.sleep(0.1)
    await _arrived(oracle, 8)
    run.figures["most at once"] = most = most_at_once(oracle.arrivals())
    assert (most <= CAP) == holds


@pytest.mark.parametrize(
    ("mutation", "holds"), [pytest.param(_whole, True, id="whole"), pytest.param(_deaf_to_429, False, id="deaf")]
)
async def test_an_honest_429_is_obeyed(run: Run, mutation: Mutation, *, holds: bool) -> None:
    """After a 429 was taken in, nobody asks for a call that comes before the time stated."""
    oracle = await _prepared(run, mutation, workers=2, requests_per_minute=600, limiter="smooth", concurrent=CAP)
    await _call(run, 100)
    await run.seen("arrived", 5)
    await oracle.storm(NAME, {"Retry-After": "{seconds}"}, 3)
    await run.seen("arrived", len(oracle.arrivals()) + 1)
    await asyncio.sleep(3)
    await oracle.calm(NAME)
    await run.seen("arrived", len(oracle.arrivals()) + 5)
    told, wrong = into_the_storm(run.reader, oracle.arrivals(), NAME)
    run.figures["asked for in the storm"] = len(wrong)
    assert told == 1
    assert (not wrong) == holds
