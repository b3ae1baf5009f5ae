"""How long jobs of dead workers wait until somebody takes them back."""

from statistics import quantiles

from tests.faults.attempts import story_of
from tests.faults.load import Run
from tests.faults.plan import LEASE

# One tick of the task `rescue` with its spread, and what a busy machine of two cores may add.
TICK = 1.0 * 1.1
SLACK = 1.0


async def rescued_in_time(run: Run) -> None:
    """Every job that a killed worker held was taken back within lease and tick after the death."""
    story = story_of(run.events())
    rescues = [(rescue.at, story.process_of(rescue.worker)) for rescue in (await run.snapshot()).rescues()]
    waits = [at - story.died_at[process] for at, process in rescues if process in story.died_at]
    assert waits, "nobody who was killed held a job"
    run.figures["death to rescue, seconds"] = spread(waits)
    assert max(waits) < LEASE.total_seconds() + TICK + SLACK, sorted(waits)[-5:]


def spread(values: list[float]) -> str:
    """Least, median, 95th percentile, most."""
    cuts = quantiles(values, n=20, method="inclusive") if len(values) > 1 else values * 19
    return f"{min(values):.2f} / {cuts[9]:.2f} / {cuts[18]:.2f} / {max(values):.2f} ({len(values)})"
