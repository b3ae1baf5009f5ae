"""What a handler is given beside its payload."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TypeVar

from pydantic_core import from_json

from livewell.budgets import Headers, KeyRing, RateFacts, Secret, read_rate_headers
from livewell.jobs import ClaimedJob, JobId, Spent
from livewell.kernel import Logger
from livewell.worker.hold import HeldJob

T = TypeVar("T")


class JobContext:
    """One attempt of one job: who it is, how long it has, and a logger that carries its id.

    The lease is renewed for the handler, and the handler is stopped (by cancellation) when the job is cancelled, its
    time limit is reached, or its lease may be lost.
    """

    def __init__(self, held: HeldJob, *, worker: str, keys: KeyRing) -> None:
        self.job: ClaimedJob = held.job
        self.worker = worker
        self._held = held
        self._keys = keys
        self._deadline = held.must_end_by
        self._sent_at: float | None = None

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
    def api_key(self) -> Secret | None:
        """The key this attempt was granted a call with, read where it is kept; None where the provider has no keys."""
        source = self.job.key_source
        return None if source is None else self._keys.read(source)

    async def together(self, request: Callable[[Sequence[HeldJob]], Awaitable[Mapping[JobId, T]]]) -> T | None:
        """Answer this job by a request that is made once for all jobs that share it, by the first of them."""
        bundle = self._held.bundle
        if bundle is None:
            return (await request([self._held])).get(self.job.job_id)
        answer: T | None = await bundle.ask(self._held, request)
        return answer

    def sending(self) -> None:
        """Call it right before the request of a job with an endpoint goes out.

        The provider counts a call when it arrives: one that would arrive later than its permit allows must not be sent.
        """
        self._held.send()
        self._sent_at = asyncio.get_running_loop().time()

    def unsent(self) -> None:
        """Say that nothing was sent after all: the attempt is settled at no cost."""
        self._held.spent = Spent(sent=False)

    def spent(self, *, bytes: int | None = None, tokens: int | None = None) -> None:  # noqa: A002 - the word for it
        """Say what the attempt used of its endpoint's budget; it is settled with the job, however that ends.

        What is told adds up over several calls; what is not stays as it was reserved.
        """
        use = self._held.spent = self._held.spent or Spent()
        if bytes is not None:
            use.bytes = (use.bytes or 0) + bytes
        if tokens is not None:
            use.tokens = (use.tokens or 0) + tokens

    def answered(self, status: int, headers: Headers) -> RateFacts:
        """Read what an answer says of limits; the endpoint learns it with the job. Return `Throttled` if it was."""
        facts = read_rate_headers(status, headers, now=datetime.now(UTC))
        if facts.tell_anything():
            use = self._held.spent = self._held.spent or Spent()
            age = asyncio.get_running_loop().time() - (self._sent_at or self._held.started)
            use.rate = {**from_json(facts.to_json()), "age_seconds": age}
        return facts

    @cached_property
    def log(self) -> Logger:
        return Logger("livewell.job", kind=self.job.kind, attempt=self.job.attempt)
