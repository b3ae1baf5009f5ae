"""What the demonstration runs beside refreshes: three kinds of a group of their own, whose leases are short."""

import asyncio
import random
from datetime import timedelta

from pydantic import BaseModel

from livewell.app import Livewell

GROUP = "demo"
REPORT, FLAKY, ACCOUNT = "demo.report", "demo.flaky", "demo.account_update"
KINDS = (REPORT, FLAKY, ACCOUNT)
LEASE = timedelta(seconds=3)
TROUBLE = 0.3
BEFORE_A_REPORT_ENDS = timedelta(seconds=0.5)

app = Livewell()


class Report(BaseModel):
    month: str


class Call(BaseModel):
    number: int


class Transfer(BaseModel):
    account: int
    amount: int


class ProviderAway(Exception):
    """What a provider in trouble looks like."""


@app.job(REPORT, group=GROUP, lease=LEASE, time_limit=timedelta(seconds=20))
async def make_report(job: Report) -> dict[str, object]:
    """A long job: a worker that is killed holds some of these."""
    await asyncio.sleep(BEFORE_A_REPORT_ENDS.total_seconds() + random.uniform(0.1, 1))
    return {"month": job.month, "pages": random.randint(1, 40)}


@app.job(
    FLAKY,
    group=GROUP,
    lease=LEASE,
    retries=2,
    backoff_first=timedelta(milliseconds=200),
    backoff_max=timedelta(seconds=1),
)
async def call_provider(job: Call) -> None:
    """A job that fails three times in ten; what fails three times in a row is a dead letter."""
    await asyncio.sleep(random.uniform(0.01, 0.05))
    if random.random() < TROUBLE:
        raise ProviderAway(f"no answer to call {job.number}")


@app.job(ACCOUNT, group=GROUP, lease=LEASE)
async def update_account(job: Transfer) -> dict[str, int]:
    """Jobs of one account run one after the other, whichever worker has them."""
    await asyncio.sleep(random.uniform(0.01, 0.05))
    return {"account": job.account, "amount": job.amount}
