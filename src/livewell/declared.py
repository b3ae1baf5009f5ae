"""What a program declares with decorators: the handlers of its jobs and tasks, the fetchers of its data types."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from livewell.fetching import Fetcher, source_time_of
from livewell.jobs import KindDeclaration, UnknownKind
from livewell.registry import InvalidType, TypeDeclaration, type_fields
from livewell.schedule import TaskDeclaration, TaskFunction, TaskHandler, task_handler_of
from livewell.worker import Handler, HandlerFunction, RunsIn, handler_of

F = TypeVar("F", bound=HandlerFunction)
T = TypeVar("T", bound=TaskFunction)
FetcherClass: TypeAlias = type[Fetcher[Any]]
C = TypeVar("C", bound=FetcherClass)

# What a file says of how a type is fetched; the class says it now.
_FETCHED_BY_CLASS = {"fetch_call": None, "fields": None, "model": None}


class Declared:
    """Kinds, tasks and types by name, each with what does it."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self._kinds_of: dict[type[BaseModel], str] = {}
        self._tasks: dict[str, TaskHandler] = {}
        self._fetchers: dict[str, FetcherClass] = {}
        self._types: dict[str, dict[str, Any]] = {}

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return self._handlers

    @property
    def fetchers(self) -> Mapping[str, FetcherClass]:
        return self._fetchers

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

    def _kind_of(self, job: BaseModel | str) -> str:
        if isinstance(job, str):
            return job
        kind = self._kinds_of.get(type(job))
        if kind is None:
            raise UnknownKind(
                f"no handler here takes a {type(job).__name__}", fix='name the kind: enqueue("kind", payload)'
            )
        return kind


def _source_time(fetcher: FetcherClass, declared: Mapping[str, Any]) -> dict[str, str]:
    """The column of the source time, in a table of one's own: the field of the model that is marked as it."""
    marked = source_time_of(fetcher) if declared.get("table_name") else None
    return {} if marked is None else {"source_time_column": marked}
