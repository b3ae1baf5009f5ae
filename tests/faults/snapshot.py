"""The database at the end of a run: jobs, attempts, and what was rescued."""

from dataclasses import dataclass
from datetime import datetime

from livewell.kernel import Database


@dataclass(frozen=True, kw_only=True)
class JobRow:
    """A job as the database has it."""

    id: int
    state: str
    attempt: int
    failures: int
    kind: str
    dedupe_key: str | None
    worker: str | None
    leased: bool
    started_at: datetime | None
    finished_at: datetime | None
    error_type: str | None


@dataclass(frozen=True, kw_only=True)
class AttemptRow:
    """An attempt that did not end its job, as the database has it."""

    job_id: int
    attempt: int
    worker: str | None
    started_at: datetime | None
    ended_at: datetime
    outcome: str


@dataclass(frozen=True, kw_only=True)
class Rescue:
    """Something that was taken back from a silent worker; times are the history's."""

    job: int
    attempt: int
    worker: str | None
    claimed_at: float
    at: float


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The database at the end; `clock_offset` turns its times into the history's."""

    jobs: tuple[JobRow, ...]
    attempts: tuple[AttemptRow, ...] = ()
    clock_offset: float = 0.0

    def rescues(self) -> list[Rescue]:
        again = [row for row in self.attempts if row.outcome == "rescued"]
        buried = [
            AttemptRow(
                job_id=job.id,
                attempt=job.attempt,
                worker=job.worker,
                started_at=job.started_at,
                ended_at=job.finished_at,
                outcome="rescued",
            )
            for job in self.jobs
            if job.error_type == "LeaseExpired" and job.finished_at is not None
        ]
        return [
            Rescue(
                job=row.job_id,
                attempt=row.attempt,
                worker=row.worker,
                claimed_at=(row.started_at or row.ended_at).timestamp() - self.clock_offset,
                at=row.ended_at.timestamp() - self.clock_offset,
            )
            for row in [*again, *buried]
        ]


async def read_snapshot(owner: Database, clock_offset: float) -> Snapshot:
    jobs = await owner.fetch(
        "select id, state, attempt, failures, kind, dedupe_key, worker, lease_token is not null as leased, started_at,"
        " finished_at, error ->> 'type' as error_type from livewell_private.job"
    )
    attempts = await owner.fetch(
        "select job_id, attempt, worker, started_at, ended_at, outcome from livewell_private.job_attempt"
    )
    return Snapshot(
        jobs=tuple(JobRow(**row) for row in jobs),
        attempts=tuple(AttemptRow(**row) for row in attempts),
        clock_offset=clock_offset,
    )
