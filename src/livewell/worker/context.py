"""What a handler is given beside its payload."""

import asyncio
from functools import cached_property
from typing import Any

import structlog

from livewell.budgets import PermitExpired
from livewell.jobs import ClaimedJob, JsonObject, Spent
from livewell.worker.hold import HeldJob


class JobContext:
    """One attempt of one job: who it is, how long it has, and a logger that carries its id.

    The lease is renewed for the handler, and the handler is stopped (by cancellation) when the job is cancelled, its
    time limit is reached, or its lease may be lost.
    """

    def __init__(self, held: HeldJob, *, worker: str) -> None:
        self.job: ClaimedJob = held.job
        self.worker = worker
        self._held = held
        self._deadline = held.must_end_by

    @property
    def job_id(self) -> int:
        return self.job.job_id

    @property
    def attempt(self) -> int:
        return self.job.attempt

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt of this job: send it with what must not happen twice."""
        return f"livewell-job-{self.job.job_id}"

    @property
    def seconds_left(self) -> float | None:
        """Until the time limit of the kind; None where it has none."""
        if self._deadline is None:
            return None
        return max(0.0, self._deadline - asyncio.get_running_loop().time())

    def sending(self) -> None:
        """Call it right before the request of a job with an endpoint goes out.

        The provider counts a call when it arrives: one that would arrive later than its permit allows must not be sent.
        """
        send_by = self._held.send_by
        if send_by is not None and asyncio.get_running_loop().time() > send_by:
            self._held.spent = Spent(sent=False)
            raise PermitExpired(f"job {self.job.job_id} did not send its request in time", fix="it is queued again")

    def spent(self, *, bytes: int | None = None, tokens: int | None = None, rate: JsonObject | None = None) -> None:  # noqa: A002 - the word for it
        """Say what the attempt used of its endpoint's budget; it is settled with the job, however that ends.

        `bytes` and `tokens` add up over several calls; `rate` is what the last answer said of limits
        (`livewell.budgets.read_rate_facts`).
        """
        use = self._held.spent = self._held.spent or Spent()
        if bytes is not None:
            use.bytes = (use.bytes or 0) + bytes
        if tokens is not None:
            use.tokens = (use.tokens or 0) + tokens
        if rate is not None:
            use.rate = rate

    @cached_property
    def log(self) -> Any:
        return structlog.get_logger("livewell.job").bind(kind=self.job.kind, attempt=self.job.attempt)
