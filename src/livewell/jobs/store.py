"""The queue as Python calls it: one method per named query, no decisions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, assert_never
from uuid import UUID

import asyncpg
from pydantic_core import from_json, to_json

from livewell.jobs.errors import InvalidJob, UnknownJob
from livewell.jobs.types import (
    NOTHING,
    Beat,
    Cancel,
    Changed,
    ClaimedJob,
    Completed,
    Dead,
    Enqueued,
    Failed,
    Finish,
    JobCount,
    JobId,
    JobRequest,
    JsonObject,
    Kind,
    KindDeclaration,
    OnDuplicate,
    Outcome,
    Reschedule,
    Reset,
    Throttled,
)
from livewell.kernel import Caller, Connection, PlannedChange, Queries, fact_from, shown_duration

QUERIES = Queries.of("livewell.jobs")


class JobStore:
    """Calls the queue over a pool, a line, or the caller's own connection."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def enqueue_job(self, request: JobRequest, on_duplicate: OnDuplicate = OnDuplicate.KEEP) -> Enqueued:
        with _told_as_facts():
            rows = await self._caller.fetch(
                QUERIES["enqueue_job"],
                request.kind,
                to_json(request.payload).decode(),
                request.priority,
                request.scheduled_at,
                None if request.delay is None else request.delay.total_seconds(),
                request.category,
                request.dedupe_key,
                request.serial_key,
                request.endpoint,
                request.estimated_bytes,
                request.estimated_tokens,
                request.retries,
                None if request.trace_context is None else to_json(request.trace_context).decode(),
                on_duplicate,
            )
        return Enqueued(*rows[0])

    async def enqueue_jobs(
        self, requests: Iterable[JobRequest], on_duplicate: OnDuplicate = OnDuplicate.KEEP
    ) -> list[Enqueued]:
        jobs = to_json([_given(request) for request in requests]).decode()
        with _told_as_facts():
            rows = await self._caller.fetch(QUERIES["enqueue_jobs"], jobs, on_duplicate)
        return list(map(Enqueued._make, rows))

    async def claim_jobs(
        self,
        worker: str,
        groups: Sequence[str],
        max_jobs: int,
        kinds: Sequence[str] | None = None,
        shares: Sequence[float] | None = None,
    ) -> list[ClaimedJob]:
        rows = await self._caller.fetch(QUERIES["claim_jobs"], worker, groups, max_jobs, kinds, shares)
        return list(map(ClaimedJob._make, rows))

    async def heartbeat_jobs(self, worker: str, ids: Sequence[JobId], tokens: Sequence[UUID]) -> list[Beat]:
        rows = await self._caller.fetch(QUERIES["heartbeat_jobs"], worker, ids, tokens)
        return [Beat(*row) for row in rows]

    async def finish_jobs(self, finishes: Sequence[Finish]) -> dict[JobId, str]:
        """The state of each job: `lost` where the attempt no longer counted, `busy` where somebody else has its row."""
        outcomes, details = None, None
        if any(finish.outcome is not NOTHING or finish.spent is not None for finish in finishes):
            outcomes = [finish.outcome.word for finish in finishes]
            details = f"[{','.join(map(_detail, finishes))}]"
        rows = await self._caller.fetch(
            QUERIES["finish_jobs"],
            [finish.job_id for finish in finishes],
            [finish.lease_token for finish in finishes],
            outcomes,
            details,
        )
        return {row[0]: row[1] for row in rows}

    async def cancel_jobs(self, ids: Sequence[int], *, reason: str | None, actor: str) -> list[Changed]:
        return [Changed(**row) for row in await self._caller.fetch(QUERIES["cancel_jobs"], ids, reason, actor)]

    async def retry_jobs(self, ids: Sequence[int], *, reason: str | None, actor: str) -> list[Changed]:
        return [Changed(**row) for row in await self._caller.fetch(QUERIES["retry_jobs"], ids, reason, actor)]

    async def acknowledge_jobs(self, ids: Sequence[int], *, reason: str | None, actor: str) -> list[Changed]:
        return [Changed(**row) for row in await self._caller.fetch(QUERIES["acknowledge_jobs"], ids, reason, actor)]

    async def declare_kinds(self, kinds: Iterable[KindDeclaration], *, actor: str) -> list[str]:
        declared = to_json([_filled(asdict(kind)) for kind in kinds]).decode()
        return [row["kind"] for row in await self._caller.fetch(QUERIES["declare_kinds"], declared, actor)]

    async def apply_kinds(
        self, declared: Mapping[str, JsonObject], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        """Make kinds as declared, or only say what that would change."""
        rows = await self._caller.fetch(QUERIES["apply_kinds"], to_json(declared).decode(), plan_only, actor)
        return [PlannedChange(**{**row, "old": _as_value(row["old"]), "new": _as_value(row["new"])}) for row in rows]

    async def set_kind(self, kind: str, changes: JsonObject, *, reason: str | None, actor: str) -> bool:
        return bool(await self._caller.fetchval(QUERIES["set_kind"], kind, to_json(changes).decode(), reason, actor))

    async def pause_kind(self, kind: str, *, until: datetime | None, reason: str | None, actor: str) -> None:
        await self._caller.fetchval(QUERIES["pause_kind"], kind, until, reason, actor)

    async def resume_kind(self, kind: str, *, reason: str | None, actor: str) -> bool:
        return bool(await self._caller.fetchval(QUERIES["resume_kind"], kind, reason, actor))

    async def list_kinds(self, kinds: Sequence[str] | None = None) -> list[Kind]:
        return [_kind(row) for row in await self._caller.fetch(QUERIES["list_kinds"], kinds)]

    async def register_worker(self, worker: str, groups: Sequence[str], kinds: Sequence[str], slots: int) -> None:
        await self._caller.fetchval(QUERIES["register_worker"], worker, groups, kinds, slots)

    async def mark_worker_idle(self, worker: str) -> timedelta | None:
        seconds = await self._caller.fetchval(QUERIES["mark_worker_idle"], worker)
        return None if seconds is None else timedelta(seconds=seconds)

    async def retire_workers(self, worker: str | None = None) -> list[str]:
        return [row["id"] for row in await self._caller.fetch(QUERIES["retire_workers"], worker)]

    async def list_workers(self) -> list[dict[str, Any]]:
        return [dict(row) for row in await self._caller.fetch(QUERIES["list_workers"])]

    async def job_counts(self, *, finished: bool = False) -> list[JobCount]:
        return [JobCount(**row) for row in await self._caller.fetch(QUERIES["job_counts"], finished)]

    async def list_jobs(
        self,
        *,
        states: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> list[dict[str, Any]]:
        return [dict(row) for row in await self._caller.fetch(QUERIES["list_jobs"], states, kinds, before, limit)]

    async def show_job(self, job_id: int) -> dict[str, Any]:
        row = await self._caller.fetchrow(QUERIES["show_job"], job_id)
        if row is None:
            kept = {name: shown_duration(time) for name, time in (await self._job_retention()).items()}
            raise UnknownJob(
                f"there is no job {job_id}",
                fix="it may be past its retention: completed refreshes are kept for"
                f" {kept['refreshes']} (jobs.retention.refreshes), other completed jobs for {kept['completed']}"
                " (jobs.retention.completed); livewell explain shows the last outcomes of an item",
            )
        return {
            name: _parsed(value) if name in {"payload", "result", "error"} else value for name, value in row.items()
        }

    async def _job_retention(self) -> dict[str, timedelta]:
        return {row["kept"]: row["value"] for row in await self._caller.fetch(QUERIES["job_retention"])}

    async def list_attempts(self, job_id: int) -> list[dict[str, Any]]:
        rows = await self._caller.fetch(QUERIES["list_attempts"], job_id)
        return [{**row, "error": _parsed(row["error"])} for row in rows]

    async def task_rescue(self) -> dict[str, Any]:
        return dict(from_json(await self._caller.fetchval(QUERIES["task_rescue"])))

    async def task_job_partitions(self) -> dict[str, Any]:
        return dict(from_json(await self._caller.fetchval(QUERIES["task_job_partitions"])))

    async def task_job_retention(self) -> dict[str, Any]:
        return dict(from_json(await self._caller.fetchval(QUERIES["task_job_retention"])))

    async def task_brief_retention(self) -> dict[str, Any]:
        return dict(from_json(await self._caller.fetchval(QUERIES["task_brief_retention"])))


@contextmanager
def _told_as_facts() -> Iterator[None]:
    """What the database or the driver refuses of a request, also over the caller's own connection."""
    try:
        yield
    except asyncpg.DataError as error:
        raise InvalidJob(f"the request does not fit: {error}") from error
    except asyncpg.PostgresError as error:
        raise fact_from(error) or error from error


def _given(request: JobRequest) -> dict[str, Any]:
    job: dict[str, Any] = {
        name: value for name, value in zip(JobRequest._fields, request, strict=True) if value is not None
    }
    if request.delay is not None:
        job["delay_seconds"] = job.pop("delay").total_seconds()
    return job


def _filled(fields: JsonObject) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _detail(finish: Finish) -> str:
    outcome = finish.outcome
    if finish.spent is None and isinstance(outcome, Completed):
        return "null" if outcome.result is None else f'{{"result":{outcome.result}}}'
    return to_json(_told_of(outcome) | (finish.spent.as_detail() if finish.spent else {})).decode()


def _told_of(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Completed(result=result):
            return {} if result is None else {"result": from_json(result)}
        case Failed(error=error, reason=reason) | Dead(error=error, reason=reason):
            return {"error": error, "reason": reason}
        case Reschedule(delay=delay, reason=reason):
            return {"delay_seconds": delay.total_seconds(), "reason": reason}
        case Throttled(retry_after=wait, reason=reason):
            seconds = None if wait is None else wait.total_seconds()
            return {"delay_seconds": seconds, "reason": reason} | (
                {} if seconds is None else {"rate": {"retry_after_seconds": seconds}}
            )
        case Reset(reason=reason) | Cancel(reason=reason):
            return {"reason": reason}
        case _:
            assert_never(outcome)


def _kind(row: asyncpg.Record) -> Kind:
    fields = dict(row)
    fields["payload_schema"] = _parsed(fields["payload_schema"])
    return Kind(**fields)


def _parsed(text: str | None) -> Any:
    return None if text is None else from_json(text)


def _as_value(text: str | None) -> Any:
    return None if text is None else from_json(text)
