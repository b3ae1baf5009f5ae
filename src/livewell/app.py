"""The application: what a program that uses Livewell holds in its hand.

app = Livewell()                       # embedded PostgreSQL unless DATABASE_URL is set

@app.job("report", retries=3)
async def make_report(job: ReportRequest, ctx: JobContext) -> ReportResult: ...

async with app:
    await app.enqueue(ReportRequest(month="2026-11"), priority=5)
    await app.run_worker()

It is what the program declares (`declared.py`), what it may ask of the database (`stores.py`) and what it runs
(`serving.py`); here it is opened, closed, and given jobs.
"""

import os
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel

from livewell.budgets import KeySources
from livewell.fetching import declare_types
from livewell.jobs import (
    Enqueued,
    JobRequest,
    JobStore,
    JsonObject,
    OnDuplicate,
    PayloadChecker,
    count_enqueued,
    make_partitions,
)
from livewell.kernel import Connection, Database, DatabaseOptions, EmbeddedPostgres, Logger, migrate
from livewell.registry import ReadOnlyRegistry
from livewell.serving import Serving
from livewell.stores import OpenStores, Stores
from livewell.worker import carried_context

log = Logger("livewell.app")


class Livewell(Serving):
    """Declares kinds, tasks and types, queues jobs, runs workers; opened with `async with`."""

    def __init__(
        self,
        database_url: str | None = None,
        *,
        owner_url: str | None = None,
        reader_url: str | None = None,
        direct_url: str | None = None,
        pooled: bool = False,
        data_folder: Path | None = None,
        options: DatabaseOptions | None = None,
        key_sources: KeySources | None = None,
    ) -> None:
        super().__init__(key_sources)
        self._url = database_url or (options.url if options else None) or os.environ.get("DATABASE_URL")
        self._options = options or DatabaseOptions(
            url=self._url or "",
            direct_url=direct_url or os.environ.get("LIVEWELL_DIRECT_URL"),
            pooled=pooled or os.environ.get("LIVEWELL_POOLED") == "1",
        )
        self._asked_owner_url = owner_url or os.environ.get("LIVEWELL_OWNER_URL")
        self._asked_reader_url = reader_url or os.environ.get("LIVEWELL_READER_URL")
        self._owner_url: str | None = None
        self._data_folder = data_folder
        self._embedded: EmbeddedPostgres | None = None
        self._checker: PayloadChecker | None = None
        self._warned: set[str] = set()

    def connect_to(self, database_url: str) -> None:
        """Use this database rather than the one the application was made for; before it is opened."""
        self._url = database_url

    def folder_to_make(self) -> Path | None:
        """Where opening makes a new, empty embedded database; None when there is one, or another is named."""
        return None if self._url else EmbeddedPostgres(self._data_folder).folder_to_make()

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

    @property
    def reader_url(self) -> str | None:
        """Where reads for viewers log in: LIVEWELL_READER_URL, or the embedded server's login for them."""
        return self._asked_reader_url or (self._embedded.reader_url() if self._embedded is not None else None)

    @asynccontextmanager
    async def as_owner(self) -> AsyncIterator[Stores]:
        """The stores by the owner's login, where one is known; by the application's own where none is.

        For what a service may not: declaring providers and types. Without DATABASE_URL the embedded server's is known.
        """
        if self._owner_url is None:
            yield self
            return
        # No prepared statements in an owner's session: users' code that runs in it could put its own in their place.
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
