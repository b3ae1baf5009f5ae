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
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from livewell.audit import tell_sealed
from livewell.budgets import BudgetGauges, BudgetStore, KeyRing, KeySources
from livewell.fetching import Client, Fetcher, Fetching, FetchStore, SourceBook, declare_types, source_time_of
from livewell.freshness import FreshnessGauges
from livewell.jobs import (
    CANCEL_CHANNEL,
    JOBS_CHANNEL,
    Enqueued,
    JobRequest,
    JobStore,
    JsonObject,
    KindDeclaration,
    OnDuplicate,
    PayloadChecker,
    QueueGauges,
    UnknownKind,
    count_enqueued,
    make_partitions,
    tell_partitions,
    tell_rescued,
    tell_retention,
)
from livewell.kernel import (
    LONGEST_PAUSE,
    Connection,
    Database,
    DatabaseOptions,
    EmbeddedPostgres,
    Listener,
    LivewellError,
    Logger,
    Service,
    ServiceOptions,
    migrate,
)
from livewell.presence import PresenceGauges, tell_recounted, tell_swept
from livewell.registry import (
    TYPES_CHANNEL,
    CalendarKeeper,
    InvalidType,
    ReadOnlyRegistry,
    TypeDeclaration,
    type_fields,
)
from livewell.schedule import CHANNEL as TASKS_CHANNEL
from livewell.schedule import (
    RunAnswer,
    Scheduler,
    TaskDeclaration,
    TaskFunction,
    TaskGauges,
    TaskHandler,
    TaskLeases,
    TaskRunner,
    task_handler_of,
    this_node,
)
from livewell.settings import CHANNEL as SETTINGS_CHANNEL
from livewell.settings import SettingsWatcher
from livewell.stores import OpenStores, Stores
from livewell.worker import (
    Handler,
    HandlerFunction,
    Refresher,
    RunsIn,
    Worker,
    WorkerOptions,
    carried_context,
    handler_of,
)

F = TypeVar("F", bound=HandlerFunction)
T = TypeVar("T", bound=TaskFunction)
FetcherClass: TypeAlias = type[Fetcher[Any]]
C = TypeVar("C", bound=FetcherClass)

log = Logger("livewell.app")

# A worker claims first; counting begins within this time.
FIRST_ROUNDS = timedelta(seconds=1)
MARKET_CALENDAR = "market_calendar"
# What the shipped tasks answer is told by the room each belongs to.
TELLERS = {
    "rescue": tell_rescued,
    "job_partitions": tell_partitions,
    "job_retention": tell_retention,
    "brief_retention": tell_retention,
    "audit_seal": tell_sealed,
    "presence_sweep": tell_swept,
    "presence_recount": tell_recounted,
}


# What a file says of how a type is fetched; the class says it now.
_FETCHED_BY_CLASS = {"fetch_call": None, "fields": None, "model": None}


class Livewell(Stores):
    """Declares kinds, queues jobs, runs workers; opened with `async with`."""

    def __init__(
        self,
        database_url: str | None = None,
        *,
        owner_url: str | None = None,
        direct_url: str | None = None,
        pooled: bool = False,
        data_folder: Path | None = None,
        options: DatabaseOptions | None = None,
        key_sources: KeySources | None = None,
    ) -> None:
        self._url = database_url or (options.url if options else None) or os.environ.get("DATABASE_URL")
        self._options = options or DatabaseOptions(
            url=self._url or "",
            direct_url=direct_url or os.environ.get("LIVEWELL_DIRECT_URL"),
            pooled=pooled or os.environ.get("LIVEWELL_POOLED") == "1",
        )
        self._asked_owner_url = owner_url or os.environ.get("LIVEWELL_OWNER_URL")
        self._owner_url: str | None = None
        self._data_folder = data_folder
        self.key_sources = key_sources or KeySources.from_environment()
        self._embedded: EmbeddedPostgres | None = None
        self._checker: PayloadChecker | None = None
        self._handlers: dict[str, Handler] = {}
        self._kinds_of: dict[type[BaseModel], str] = {}
        self._tasks: dict[str, TaskHandler] = {}
        self._fetchers: dict[str, FetcherClass] = {}
        self._types: dict[str, dict[str, Any]] = {}
        self._client: Client | None = None
        self._warned: set[str] = set()

    def connect_to(self, database_url: str) -> None:
        """Use this database rather than the one the application was made for; before it is opened."""
        self._url = database_url

    def folder_to_make(self) -> Path | None:
        """Where opening makes a new, empty embedded database; None when there is one, or another is named."""
        return None if self._url else EmbeddedPostgres(self._data_folder).folder_to_make()

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
            self._owner_url = await self._embedded.start()
            await migrate(self._owner_url)
            self._url = self._embedded.service_url()
        else:
            self._owner_url = self._asked_owner_url
        self._database = await Database.open(replace(self._options, url=self._url))
        if self._embedded is not None:
            await make_partitions(self.jobs)
        self._checker = PayloadChecker(self.jobs)
        if self._handlers:
            await self.jobs.declare_kinds(
                (handler.declaration for handler in self._handlers.values()), actor="application"
            )
        if self._tasks:
            await self.tasks.declare_tasks(
                {name: handler.declaration.written() for name, handler in self._tasks.items()}, actor="application"
            )
        if self._types:
            await self._declare_types()

    @asynccontextmanager
    async def as_owner(self) -> AsyncIterator[Stores]:
        """The stores by the owner's login, where one is known; by the application's own where none is.

        For what a service may not: declaring providers and types. Without DATABASE_URL the embedded server's is known.
        """
        if self._owner_url is None:
            yield self
            return
        # Users' code that is read meanwhile finds no statement of the owner's session to put its own in the place of.
        options = replace(self._options, url=self._owner_url, direct_url=None, pooled=True)
        async with await Database.open(options) as database, OpenStores(database) as owner:
            yield owner

    async def _declare_types(self) -> None:
        """Types are the owner's: another login finds them declared, or is told what to do."""
        try:
            async with self.as_owner() as owner, owner.database.transaction() as connection:
                await declare_types(connection, self._types, actor="application", fetchers=self._fetchers)
        except ReadOnlyRegistry:
            known = {data_type.name for data_type in await self.registry.list_types()}
            if not self._types.keys() <= known:
                raise

    async def __aexit__(self, *_: object) -> None:
        await self._close_items()
        if self._client is not None:
            await self._client.close()
            self._client = None
        if self._database is not None:
            await self._database.close()
            self._database = None
        if self._embedded is not None:
            await self._embedded.release()
            self._embedded = None
            self._url = None
        self._owner_url = None

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
        runs_in: RunsIn = "loop",
    ) -> Callable[[F], F]:
        """Make the decorated function the handler of a kind; its payload model becomes the kind's schema.

        A plain function that takes long `runs_in` a thread or a process, beside the loop.
        """

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
            handler = handler_of(function, declaration, runs_in)
            if handler.model is not None:
                schema = handler.model.model_json_schema()
                self._kinds_of[handler.model] = kind
                handler = replace(handler, declaration=replace(declaration, payload_schema=schema))
            self._handlers[kind] = handler
            return function

        return declare

    def type(self, name: str, **fields: Any) -> Callable[[C], C]:
        """Make the decorated `Fetcher` what fetches a data type; the other fields are those of `[type.NAME]`.

        How the type was fetched before, by another class or by what a file declared, is forgotten.
        """
        try:
            declared = type_fields(TypeDeclaration.model_validate(fields))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(step) for step in first["loc"])
            raise InvalidType(f"type {name}: {where}: {first['msg']}", fix="as [type.NAME] in livewell.toml") from error

        def declare(fetcher: C) -> C:
            self._fetchers[name] = fetcher
            self._types[name] = {**_FETCHED_BY_CLASS, **_source_time(fetcher, declared), **declared}
            return fetcher

        return declare

    @property
    def fetchers(self) -> Mapping[str, FetcherClass]:
        return self._fetchers

    def task(
        self,
        name: str,
        *,
        every: timedelta | str | None = None,
        cron: str | None = None,
        time_zone: str | None = None,
        jitter: timedelta | str | None = None,
        backoff: tuple[timedelta | str, timedelta | str] | None = None,
        lease: timedelta | str | None = None,
        time_limit: timedelta | str | None = None,
        late_after: timedelta | str | None = None,
        enabled: bool | None = None,
        description: str | None = None,
    ) -> Callable[[T], T]:
        """Make the decorated function the handler of a task; the task is declared where it is not known yet."""
        backoff_min, backoff_max = backoff or (None, None)

        def declare(function: T) -> T:
            said = {
                "description": description or (function.__doc__ or "").strip().partition("\n")[0] or None,
                "every": every,
                "cron": cron,
                "time_zone": time_zone,
                "jitter": jitter,
                "backoff_min": backoff_min,
                "backoff_max": backoff_max,
                "lease": lease,
                "time_limit": time_limit,
                "late_after": late_after,
                "enabled": enabled,
            }
            declaration = TaskDeclaration.model_validate(
                {field: value for field, value in said.items() if value is not None}
            )
            self._tasks[name] = task_handler_of(name, function, declaration)
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
        batch = list(requests) if context is None else [request._replace(trace_context=context) for request in requests]
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
        self._client = self._client or Client()
        sources = SourceBook(self.database, self._fetchers)
        refresher = Refresher(
            Fetching(self._client), FetchStore(self.database), BudgetStore(self.database), sources.read
        )
        return Worker(
            self.database,
            list(self._handlers.values()),
            settings,
            options or WorkerOptions(),
            refresher,
            keys=KeyRing(sources=self.key_sources),
        )

    def scheduler(self, settings: SettingsWatcher) -> Scheduler:
        """What runs the due tasks, to be run by a service of one's own."""
        return Scheduler(
            self.database,
            self._runnable_tasks(),
            poll_interval=lambda: settings.current.schedule_poll_interval,
            tell=TELLERS,
        )

    async def run_task(self, name: str, *, force: bool = False) -> RunAnswer:
        """Run one task now if it is due and free; forced, also when it is not due or disabled."""
        leases = TaskLeases(self.tasks)
        runner = TaskRunner(self.tasks, leases, self._runnable_tasks(), node=this_node(), tell=TELLERS)
        async with leases.keeper.at_work():
            return await runner.run(name, self.database, force=force)

    def _runnable_tasks(self) -> dict[str, TaskHandler]:
        """The handlers of this program, and those of shipped tasks that need one."""
        kept = task_handler_of(MARKET_CALENDAR, CalendarKeeper(self.registry).run_once, TaskDeclaration())
        return {MARKET_CALENDAR: kept, **self._tasks}

    async def service(self, options: WorkerOptions | None = None, *, scheduled: bool = True) -> tuple[Service, Worker]:
        """A worker with everything it needs beside it: listener, settings, scheduler unless told not to, gauges."""
        settings = await SettingsWatcher.begin(self.database)
        worker = self.worker(settings, options)
        await worker.check()
        service = await self._service(settings, [worker], scheduled=scheduled)
        service.add_component(worker)
        service.add(QueueGauges(self.jobs))
        return service, worker

    async def _service(self, settings: SettingsWatcher, beside: list[Worker], *, scheduled: bool = True) -> Service:
        """The scheduler and what it needs, with whoever else wants to be told of notifications."""
        try:
            await make_partitions(self.jobs)
        except LivewellError as error:
            log.warning("first_care_failed", error=str(error))
        schedulers = [self.scheduler(settings)] if scheduled else []
        told: list[SettingsWatcher | Scheduler | Worker] = [settings, *schedulers, *beside]

        def on_notify(channel: str, payload: str) -> None:
            for follower in told:
                follower.on_notify(channel, payload)

        def on_reconnect() -> None:
            for follower in told:
                follower.on_reconnect()

        listener = Listener(
            self.database.options,
            [JOBS_CHANNEL, CANCEL_CHANNEL, SETTINGS_CHANNEL, TASKS_CHANNEL, TYPES_CHANNEL],
            on_notify,
            on_reconnect,
            longest_pause=LONGEST_PAUSE,
        )
        service = Service(
            agents=[
                TaskGauges(self.tasks),
                BudgetGauges(self.budgets),
                FreshnessGauges(self.freshness),
                PresenceGauges(self.presence.store),
            ],
            components=[listener, *schedulers],
            options=ServiceOptions(longest_pause=LONGEST_PAUSE, first_round_within=FIRST_ROUNDS),
        )
        service.add(settings, wake=settings.wake)
        if schedulers:
            settings.subscribe(lambda _: schedulers[0].wake.set())
        return service

    async def run_worker(self, options: WorkerOptions | None = None, *, scheduled: bool = True) -> int:
        """Run a worker, and due tasks beside it unless told not to, until SIGTERM or SIGINT; returns the exit code."""
        service, _ = await self.service(options, scheduled=scheduled)
        return await service.run()

    async def run_scheduler(self) -> int:
        """Run due tasks, and no jobs, until SIGTERM or SIGINT; returns the exit code."""
        service = await self._service(await SettingsWatcher.begin(self.database), [])
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


def _source_time(fetcher: FetcherClass, declared: Mapping[str, Any]) -> dict[str, str]:
    """The column of the source time, in a table of one's own: the field of the model that is marked as it."""
    marked = source_time_of(fetcher) if declared.get("table_name") else None
    return {} if marked is None else {"source_time_column": marked}


def _as_json(payload: Any) -> JsonObject:
    if isinstance(payload, BaseModel):
        return payload.model_dump(mode="json")
    if payload is None:
        return {}
    return dict(payload)
