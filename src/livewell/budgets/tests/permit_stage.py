"""An endpoint of a test's own, and what the database says was spent on it."""

from dataclasses import dataclass
from typing import Any

from livewell.kernel import Database
from livewell.testing import make_endpoint

ENDPOINT = "stage/call"

_SPENT = """
select
    (select coalesce(sum(cardinality(b.open)), 0) from livewell_private.permit_block as b)::int as open,
    (select count(*) from livewell_private.permit_block)::int as blocks,
    (select coalesce(sum(x), 0) from unnest(u.minute_requests) as x)::int as requests,
    (select coalesce(sum(x), 0) from unnest(u.minute_tokens) as x)::int as tokens,
    (select coalesce(sum(x), 0) from unnest(u.failures) as x)::int as failures,
    coalesce((select sum(h.requests) from livewell_private.quota_hour as h where h.provider = 'stage'), 0)::int as sent,
    coalesce((select sum(h.bytes) from livewell_private.quota_hour as h where h.provider = 'stage'), 0)::int as bytes,
    u.closed_until > now() as closed
from livewell_private.limit_use as u where u.name = 'stage/call'
"""


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What the database has of the endpoint: permits open, granted, calls sent and what they cost."""

    open: int
    blocks: int
    requests: int
    tokens: int
    failures: int
    sent: int
    bytes: int
    closed: bool


async def declare(owner: Database, **limits: Any) -> None:
    """The endpoint `stage/call`, with no limits but those given."""
    await make_endpoint(owner, ENDPOINT, **{"breaker_failures": 1000, "expected_bytes": 1000, **limits})


async def spent(owner: Database) -> Spent:
    row = await owner.fetchrow(_SPENT)
    assert row is not None
    return Spent(**row)


async def shorten_lease(owner: Database, lease: str) -> None:
    await owner.execute("select livewell.set_setting('budgets.permit_lease', $1, 'test', 'test')", lease)
