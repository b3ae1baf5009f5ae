"""The queue as one would write it without a database: lists, a clock, and the rules in a few lines each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from livewell.jobs.tests.sql_surface import LEASE, MINUTE, NOW, SECOND

BACKOFF_FIRST, BACKOFF_MAX = 10 * SECOND, 60 * SECOND
JITTER_MAX = MINUTE
CAP = 2

AGAIN = ("failed", "rescheduled", "reset")
OUTCOMES = ("completed", "cancelled", "dead", *AGAIN)


@dataclass(kw_only=True)
class Job:
    """A job as the model knows it; `due_until` is set while the exact time is the database's dice."""

    id: int
    kind: str
    priority: int
    due: datetime
    retries: int
    dedupe_key: str | None
    serial_key: str | None
    state: str = "pending"
    attempt: int = 0
    failures: int = 0
    token: UUID | None = None
    lease_until: datetime | None = None
    cancel_reason: str | None = None
    due_until: datetime | None = None
    history: list[str] = field(default_factory=list)

    @property
    def live(self) -> bool:
        return self.state in {"pending", "processing"}

    @property
    def rank(self) -> tuple[int, datetime, int]:
        return -self.priority, self.due, self.id


@dataclass
class Model:
    """All jobs ever, by id; every method is what one call should do, and answers what the call should."""

    now: datetime = NOW
    jobs: dict[int, Job] = field(default_factory=dict)
    paused: dict[str, datetime] = field(default_factory=dict)

    def live_with_key(self, dedupe_key: str | None) -> Job | None:
        found = (job for job in self.jobs.values() if job.live and dedupe_key and job.dedupe_key == dedupe_key)
        return next(found, None)

    def running(self) -> Iterator[Job]:
        return (job for job in self.jobs.values() if job.state == "processing")

    def enqueue(self, request: dict[str, Any], choice: str, answer: int) -> tuple[int, str]:
        """What one request of its own should be answered; a created job has the id the database drew."""
        wanted = {
            "kind": request["kind"],
            "priority": request["priority"],
            "retries": request["retries"],
            "due": request.get("scheduled_at") or self.now,
            "serial_key": request.get("serial_key"),
        }
        live = self.live_with_key(request.get("dedupe_key"))
        if live is None:
            self.jobs[answer] = Job(id=answer, dedupe_key=request.get("dedupe_key"), **wanted)
            return answer, "created"
        if choice == "keep" or live.state == "processing":
            return live.id, "kept"
        if choice == "replace":
            for name, value in wanted.items():
                setattr(live, name, value)
            return live.id, "replaced"
        if request["priority"] <= live.priority:
            return live.id, "kept"
        live.priority = request["priority"]
        return live.id, "raised"

    def claimable(self, kinds: Sequence[str] | None) -> list[Job]:
        """What may start now, best first: one per serial key that does not run, capped kinds up to their room."""
        chosen: list[Job] = []
        taken = {job.serial_key for job in self.running() if job.serial_key}
        room = CAP - sum(job.kind == "capped" for job in self.running())
        for job in sorted(self.jobs.values(), key=lambda job: job.rank):
            if job.state != "pending" or job.due > self.now or job.serial_key in taken or self._closed(job.kind, kinds):
                continue
            if job.kind == "capped" and room <= 0:
                continue
            room -= job.kind == "capped"
            if job.serial_key:
                taken.add(job.serial_key)
            chosen.append(job)
        return chosen

    def _closed(self, kind: str, kinds: Sequence[str] | None) -> bool:
        return (kinds is not None and kind not in kinds) or self.paused.get(kind, self.now) > self.now

    def claim(self, job: Job, token: UUID) -> None:
        job.state, job.token, job.lease_until, job.attempt = "processing", token, self.now + LEASE, job.attempt + 1

    def heartbeat(self, job_id: int, token: UUID) -> tuple[str, str | None]:
        job = self.jobs[job_id]
        if job.token != token:
            return "lost", None
        job.lease_until = self.now + LEASE
        return "renewed", job.cancel_reason

    def finish(self, job_id: int, token: UUID, outcome: str, delay: int) -> str:
        job = self.jobs[job_id]
        if job.token != token:
            return "lost"
        if outcome in AGAIN and job.cancel_reason:
            return self._end(job, "cancelled")
        if outcome == "dead" or (outcome == "failed" and job.failures >= job.retries):
            job.failures += 1
            return self._end(job, "failed")
        if outcome in {"completed", "cancelled"}:
            return self._end(job, outcome)
        first, last = self._delays(job, outcome, delay)
        job.failures += outcome == "failed"
        return self._again(job, outcome, first, last)

    def _delays(self, job: Job, outcome: str, delay: int) -> tuple[timedelta, timedelta]:
        if outcome == "reset":
            return timedelta(0), timedelta(0)
        if outcome == "rescheduled":
            return delay * SECOND, delay * SECOND + min(delay * SECOND / 2, 30 * SECOND)
        full = min(BACKOFF_FIRST * 2**job.failures, BACKOFF_MAX)
        return full / 2, full

    def _again(self, job: Job, outcome: str, first: timedelta, last: timedelta) -> str:
        job.state, job.token, job.lease_until = "pending", None, None
        job.due, job.due_until = self.now + first, self.now + last
        job.history.append(outcome)
        return "pending"

    def _end(self, job: Job, state: str) -> str:
        job.state, job.token, job.lease_until = state, None, None
        job.history.append(state)
        return state

    def rescue(self) -> dict[int, str]:
        expired = [job for job in self.running() if job.lease_until and job.lease_until < self.now]
        return {job.id: self._rescue(job) for job in expired}

    def _rescue(self, job: Job) -> str:
        used_up = job.failures >= job.retries
        job.failures += 1
        if job.cancel_reason:
            return self._end(job, "cancelled")
        if used_up:
            return self._end(job, "failed")
        return self._again(job, "rescued", timedelta(0), JITTER_MAX)

    def cancel(self, job_id: int, reason: str) -> str:
        job = self.jobs[job_id]
        if not job.live:
            return "finished"
        job.cancel_reason = reason
        if job.state == "processing":
            return "told"
        job.state = "cancelled"
        return "cancelled"

    def retry(self, job_id: int) -> tuple[str, int | None]:
        job = self.jobs[job_id]
        if job.state != "failed":
            return "not_dead", None
        if live := self.live_with_key(job.dedupe_key):
            return "duplicate", live.id
        job.state, job.due, job.failures, job.cancel_reason = "pending", self.now, 0, None
        job.history[-1] = "dead"
        return "retried", None
