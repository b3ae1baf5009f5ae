"""The application: what a program that uses Livewell holds in its hand.

app = Livewell()                       # embedded PostgreSQL unless DATABASE_URL is set

@app.job("report", retries=3)
async def make_report(job: ReportRequest, ctx: JobContext) -> ReportResult: ...

async with app:
    await app.enqueue(ReportRequest(month="2026-11"), priority=5)
    await app.run_worker()
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self, TypeVar

import structlog
from pydantic import BaseModel

from livewell.audit import AuditStore, Sealer
from livewell.budgets import BudgetGauges, BudgetStore
from livewell.jobs import (
    CANCEL_CHANNEL,
    JOBS_CHANNEL,
    Enqueued,
    InvalidJob,
    JobRequest,
    JobStore,
    JsonObject,
    KindDeclaration,
    Maintainer,
    OnDuplicate,
    PayloadChecker,
    QueueGauges,
    Rescuer,
    UnknownKind,
    count_enqueued,
)
from livewell.kernel import (
    Connection,
    Database,
    DatabaseOptions,
    EmbeddedPostgres,
    Listener,
    LivewellError,
    Service,
    ServiceOptions,
    migrate,
)
from livewell.settings import CHANNEL as SETTINGS_CHANNEL
from livewell.settings import SettingsWatcher
from livewell.worker import Handler, HandlerFunction, Worker, WorkerOptions, carried_context, handler_of

F = TypeVar("F", bound=HandlerFunction)

log = structlog.get_logger("livewell.app")

# When the database is back after an outage, however long, everything asks again within this time.
LONGEST_PAUSE = timedelta(seconds=4)
# A worker claims first; rescuing, sealing and counting begin within this time.
FIRST_ROUNDS = timedelta(seconds=1)


class Livewell:
    """Declares kinds, queues jobs, runs workers; opened with `async with`."""

    def __init__(
        self,
        database_url: str | None = None,
        *,
        direct_url: str | None = None,
        pooled: bool = False,
        data_folder: Path | None = None,
        options: DatabaseOptions | None = None,
    ) -> None:
        self._url = database_url or (options.url if options else None) or os.environ.get("DATABASE_URL")
        self._options = options or DatabaseOptions(
            url=self._url or "",
            direct_url=direct_url or os.environ.get("LIVEWELL_DIRECT_URL"),
            pooled=pooled or os.environ.get("LIVEWELL_POOLED") == "1",
        )
        self._data_folder = data_folder
        self._embedded: EmbeddedPostgres | None = None
        self._database: Database | None = None
        self._checker: PayloadChecker | None = None
        self._handlers: dict[str, Handler] = {}
        self._kinds_of: dict[type[BaseModel], str] = {}
        self._warned: set[str] = set()

    def connect_to(self, database_url: str) -> None:
        """Use this database rather than the one the application was made for; before it is opened."""
        self._url = database_url

    @property
    def database(self) -> Database:
        if self._database is None:
            raise InvalidJob("the application is not open", fix="use it inside `async with app:`")
        return self._database

    @property
    def jobs(self) -> JobStore:
        return JobStore(self.database)

    @property
    def budgets(self) -> BudgetStore:
        return BudgetStore(self.database)

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return self._handlers

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _open(self) -> None:
        if self._url is None:
            self._embedded = EmbeddedPostgres(self._data_folder)
            self._url = await self._embedded.start()
            await migrate(self._url)
        self._database = await Database.open(replace(self._options, url=self._url))
        if self._embedded is not None:
            await Maintainer(self.jobs).make_partitions()
        self._checker = PayloadChecker(self.jobs)
        if self._handlers:
            await self.jobs.declare_kinds(
                (handler.declaration for handler in self._handlers.values()), actor="application"
            )

    async def __aexit__(self, *_: object) -> None:
        if self._database is not None:
            await self._database.close()
            self._database = None
        if self._embedded is not None:
            await self._embedded.release()
            self._embedded = None
            self._url = None

    def job(
        self,
        kind: str,
        *,
        group: str | None = None,
        retries: int | None = None,
        backoff_first: timedelta | None = None,
        backoff_max: timedelta | None = None,
        lease: timedelta | None = None,
        time_limit: timedelta | None = None,
        concurrency: int | None = None,
        priority: int | None = None,
        description: str | None = None,
    ) -> Callable[[F], F]:
        """Make the decorated function the handler of a kind; its payload model becomes the kind's schema."""

        def declare(function: F) -> F:
            declaration = KindDeclaration(
                kind=kind,
                queue_group=group,
                description=description or (function.__doc__ or "").strip().partition("\n")[0] or None,
                retries=retries,
                backoff_first=backoff_first,
                backoff_max=backoff_max,
                lease=lease,
                time_limit=time_limit,
                concurrency=concurrency,
                default_priority=priority,
            )
            handler = handler_of(function, declaration)
            if handler.model is not None:
                schema = handler.model.model_json_schema()
                self._kinds_of[handler.model] = kind
                handler = replace(handler, declaration=replace(declaration, payload_schema=schema))
            self._handlers[kind] = handler
            return function

        return declare

    async def enqueue(
        self,
        job: BaseModel | str,
        payload: JsonObject | BaseModel | None = None,
        *,
        priority: int | None = None,
        scheduled_at: datetime | None = None,
        delay: timedelta | None = None,
        category: str | None = None,
        dedupe_key: str | None = None,
        serial_key: str | None = None,
        endpoint: str | None = None,
        estimated_bytes: int | None = None,
        estimated_tokens: int | None = None,
        retries: int | None = None,
        on_duplicate: OnDuplicate = OnDuplicate.KEEP,
        connection: "Connection | None" = None,
    ) -> Enqueued:
        """Queue one job: a payload whose model has a handler here, or a kind by name with its payload.

        With `connection` it is part of that connection's transaction and exists only if that commits.
        """
        request = JobRequest(
            kind=self._kind_of(job),
            payload=_as_json(payload if isinstance(job, str) else job),
            priority=priority,
            scheduled_at=scheduled_at,
            delay=delay,
            category=category,
            dedupe_key=dedupe_key,
            serial_key=serial_key,
            endpoint=endpoint,
            estimated_bytes=estimated_bytes,
            estimated_tokens=estimated_tokens,
            retries=retries,
            trace_context=carried_context(),
        )
        if self._checker is not None:
            await self._checker.check(request.kind, request.payload)
        store = self.jobs if connection is None else JobStore(connection)
        enqueued = await store.enqueue_job(request, on_duplicate)
        count_enqueued(request.kind, enqueued.outcome)
        self._warn_unhandled(request, enqueued)
        return enqueued

    async def enqueue_many(
        self,
        requests: Iterable[JobRequest],
        *,
        on_duplicate: OnDuplicate = OnDuplicate.KEEP,
        connection: "Connection | None" = None,
    ) -> list[Enqueued]:
        """Queue a batch in one call: all of it, or, when one request is bad, nothing."""
        context = carried_context()
        batch = list(requests) if context is None else [one._replace(trace_context=context) for one in requests]
        if self._checker is not None:
            await self._checker.refresh()
            for request in batch:
                self._checker.check_known(request.kind, request.payload)
        store = self.jobs if connection is None else JobStore(connection)
        enqueued = await store.enqueue_jobs(batch, on_duplicate)
        counts = Counter((request.kind, answer.outcome) for request, answer in zip(batch, enqueued, strict=True))
        for (kind, outcome), count in counts.items():
            count_enqueued(kind, outcome, count)
        if not all(answer.handled for answer in enqueued):
            for request, answer in zip(batch, enqueued, strict=True):
                self._warn_unhandled(request, answer)
        return enqueued

    def worker(self, settings: SettingsWatcher, options: WorkerOptions | None = None) -> Worker:
        """A worker for the kinds declared here, to be run by a service of one's own."""
        return Worker(self.database, list(self._handlers.values()), settings, options or WorkerOptions())

    async def service(self, options: WorkerOptions | None = None) -> tuple[Service, Worker]:
        """A worker with everything it needs beside it: listener, settings, rescuer, maintainer, sealer, gauges."""
        settings = await SettingsWatcher.begin(self.database)
        worker = self.worker(settings, options)
        await worker.check()
        maintainer = Maintainer(self.jobs)
        try:
            await maintainer.make_partitions()
        except LivewellError as error:
            log.warning("first_care_failed", error=str(error))

        def on_notify(channel: str, payload: str) -> None:
            worker.on_notify(channel, payload)
            settings.on_notify(channel, payload)

        def on_reconnect() -> None:
            worker.on_reconnect()
            settings.on_reconnect()

        listener = Listener(
            self.database.options,
            [JOBS_CHANNEL, CANCEL_CHANNEL, SETTINGS_CHANNEL],
            on_notify,
            on_reconnect,
            longest_pause=LONGEST_PAUSE,
        )
        sealer = Sealer(AuditStore(self.database), lambda: settings.current.audit_seal_interval)
        # Handlers may have taken the whole pool, and a job of a dead worker waits for the rescuer alone.
        rescuer = Rescuer(JobStore(self.database.line()))
        service = Service(
            agents=[rescuer, maintainer, sealer, QueueGauges(self.jobs), BudgetGauges(self.budgets)],
            components=[listener, worker],
            options=ServiceOptions(longest_pause=LONGEST_PAUSE, first_round_within=FIRST_ROUNDS),
        )
        service.add(settings, wake=settings.wake)
        return service, worker

    async def run_worker(self, options: WorkerOptions | None = None) -> int:
        """Run a worker until SIGTERM or SIGINT; returns the exit code."""
        service, _ = await self.service(options)
        return await service.run()

    def _kind_of(self, job: BaseModel | str) -> str:
        if isinstance(job, str):
            return job
        kind = self._kinds_of.get(type(job))
        if kind is None:
            raise UnknownKind(
                f"no handler here takes a {type(job).__name__}", fix='name the kind: enqueue("kind", payload)'
            )
        return kind

    def _warn_unhandled(self, request: JobRequest, answer: Enqueued) -> None:
        """Say once per kind that no running worker handles it."""
        if not answer.handled and request.kind not in self._warned:
            self._warned.add(request.kind)
            log.warning("kind_unhandled", kind=request.kind, job_id=answer.job_id, fix="start a worker for it")


def _as_json(payload: Any) -> JsonObject:
    if isinstance(payload, BaseModel):
        return payload.model_dump(mode="json")
    if payload is None:
        return {}
    return dict(payload)
