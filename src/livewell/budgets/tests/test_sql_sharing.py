"""Jobs that share a request: a bundle costs one, its jobs are priced by their bytes, and every limit holds."""

from collections import Counter
from collections.abc import Sequence

from livewell.budgets.tests.surface import MINUTE, NOW, SECOND, Budgets, Row


async def _shared(budgets: Budgets, kind: str = "shared", *, jobs_per_request: int = 20) -> None:
    await budgets.declare(kind)
    await budgets.owner.execute(
        "update livewell.job_kind set jobs_per_request = $2 where kind = $1", kind, jobs_per_request
    )


def _sizes(jobs: Sequence[Row]) -> list[int]:
    return sorted(Counter(job["bundle"] for job in jobs).values(), reverse=True)


async def _debited(budgets: Budgets, endpoint: str = "p/a") -> int:
    return int((await budgets.state(endpoint))["requests_last_minute"])


async def test_a_bundle_costs_one_request(budgets: Budgets) -> None:
    """Ten requests a minute with twenty keys each are two hundred jobs, and not one more."""
    await budgets.endpoint("p/a", requests_per_minute=10)
    await _shared(budgets)
    await budgets.enqueue("p/a", 250, kind="shared")
    claimed = await budgets.claim(500)
    assert _sizes(claimed) == [20] * 10
    assert await _debited(budgets) == 10
    assert await budgets.claim(500, now=NOW + SECOND) == []
    assert len(await budgets.claim(500, now=NOW + 2 * MINUTE)) == 50
