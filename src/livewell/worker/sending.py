"""Permission to send, asked for before every request of a fetch.

The first request was paid for when the jobs were claimed, once for all that share it, and must go out in time. Each
further one, a page or a redirect, pays for itself before it goes: the provider counts it like any other. It waits for
its turn no longer than `patience`, and not at all when the worker is in a `hurry` because it is to stop; new jobs of
the endpoint are not claimed meanwhile, so that what has begun can end.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from livewell.budgets import BudgetStore, NotGranted, PermitNotGranted
from livewell.kernel import LivewellError, wait_for_any
from livewell.worker.leased_jobs import LeasedJob

# A little longer than a minute with its `send_within`: a limit a minute opens again within it.
PATIENCE = 75.0
_ASK_AGAIN = 1.0


class Permission:
    """Permission for the requests of one fetch, one at a time."""

    def __init__(
        self,
        jobs: Sequence[LeasedJob],
        budgets: BudgetStore,
        *,
        hurry: asyncio.Event,
        patience: float = PATIENCE,
    ) -> None:
        self._jobs = jobs
        self._budgets = budgets
        self._hurry = hurry
        self._patience = patience
        self._has_begun = False

    async def __call__(self) -> None:
        """Wait until one request may be sent; raises `PermitExpired` or `PermitNotGranted` when none may."""
        if self._has_begun:
            await self._pay_for_another()
            return
        self._has_begun = True
        for job in self._jobs:
            job.send()

    async def _pay_for_another(self) -> None:
        job, now = self._jobs[0].job, asyncio.get_running_loop().time
        if job.endpoint is None:
            return
        give_up_at = now() + self._patience
        while True:
            asked_at = now()
            granted = await self._ask(job.endpoint, job.api_key, give_up_at - asked_at)
            if not isinstance(granted, NotGranted):
                if now() <= asked_at + granted.total_seconds():
                    return
                continue
            wait = _ASK_AGAIN if granted.retry_after is None else granted.retry_after.total_seconds()
            if asked_at + wait > give_up_at or self._hurry.is_set():
                raise PermitNotGranted(
                    f"no further request to {job.endpoint} now: {granted.reason}",
                    fix="it is fetched again when the budget allows",
                    retry_after=granted.retry_after,
                )
            await wait_for_any(self._hurry, timeout=wait)

    async def _ask(self, endpoint: str, key: str | None, patience: float) -> timedelta | NotGranted:
        try:
            return await self._budgets.further_request(endpoint, key, patience=patience)
        except LivewellError as error:
            raise PermitNotGranted(
                f"no further request to {endpoint} now: {error.message}",
                fix="it is fetched again",
                retry_after=timedelta(seconds=_ASK_AGAIN),
            ) from error
