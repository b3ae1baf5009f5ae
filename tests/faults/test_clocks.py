"""F12: workers whose clocks are wrong."""

import asyncio

import pytest

from tests.faults.load import Run
from tests.faults.plan import POLL
from tests.faults.rescues import rescued_in_time, spread
from tests.faults.size import Size
from tests.faults.skew import skewed

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

SLACK = 1.0


async def test_f12_wrong_clocks_change_nothing(run: Run, size: Size) -> None:
    """F12: with clocks five minutes fast or slow no living job is taken, dead ones are rescued, delays are as asked."""
    await run.start_workers(1)
    for skew in ("+5m", "-5m"):
        await run.start_workers(max(1, size.workers // 2), environment=skewed(skew))
    await run.start_producer(mix={"quick": 3, "slow": 3, "long": 0.5, "flaky": 2, "serial": 2, "ordering": 1})
    for _ in size.lasting():
        await asyncio.sleep(run.chance.uniform(2, 4))
        await run.kill(await run.someone_busy())
        await run.start_worker(environment=skewed(run.chance.choice(["+5m", "-5m"])))
        await run.at_work(run.living())
    await run.passes()
    await rescued_in_time(run)
    waits = _delays(run)
    run.figures["a delay of 1 s lasted"] = spread(waits)
    assert min(waits) > 0.99
    assert max(waits) < 1 + POLL.total_seconds() + 3 * SLACK


def _delays(run: Run) -> list[float]:
    """From the moment a handler ordered a job for a second later to its first start."""
    ordered = {event["job"]: event["asked_at"] for event in run.events("ordered")}
    started: dict[int, float] = {}
    for event in run.events("started"):
        started.setdefault(event["job"], event.at)
    return [started[job] - at for job, at in ordered.items()]
