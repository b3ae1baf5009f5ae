"""What a handler is given beside its payload."""

import asyncio
from functools import cached_property
from typing import Any

import structlog

from livewell.jobs import ClaimedJob


class JobContext:
    """One attempt of one job: who it is, how long it has, and a logger that carries its id.

    The lease is renewed for the handler, and the handler is stopped (by cancellation) when the job is cancelled, its
    time limit is reached, or its lease may be lost.
    """

    def __init__(self, job: ClaimedJob, *, worker: str, deadline: float | None) -> None:
        self.job = job
        self.worker = worker
        self._deadline = deadline

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

    @cached_property
    def log(self) -> Any:
        return structlog.get_logger("livewell.job").bind(kind=self.job.kind, attempt=self.job.attempt)
