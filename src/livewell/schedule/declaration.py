"""A task as a user writes it, in a program or under `[task.NAME]` of `livewell.toml`."""

from collections.abc import Mapping
from datetime import timedelta
from itertools import groupby
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter

from livewell.kernel import Caller, Connection, LivewellError, PlannedChange, parse_duration, shown_interval, told_at
from livewell.schedule.errors import InvalidTask, UnknownTaskField
from livewell.schedule.store import TaskStore


def _read(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str):
        return parse_duration(value)
    raise ValueError("a duration is written as text, as '10 minutes'")


Duration = Annotated[timedelta, BeforeValidator(_read)]


class TaskDeclaration(BaseModel):
    """What is None keeps the database's default: every 10 to 15 minutes, 20 to 40 minutes after a failure."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    description: str | None = None
    run: str | None = None
    every: Duration | None = None
    cron: str | None = None
    time_zone: str | None = None
    jitter: Duration | None = None
    backoff_min: Duration | None = None
    backoff_max: Duration | None = None
    lease: Duration | None = None
    time_limit: Duration | None = None
    late_after: Duration | None = None
    enabled: bool | None = None

    def fields(self) -> dict[str, Any]:
        """The fields that say something, as `apply_tasks` takes them."""
        return self.model_dump(mode="json", exclude_none=True)


class TaskSection:
    """Tasks as `livewell apply` takes them."""

    word = "task"
    model = TaskDeclaration
    by_name: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, TaskDeclaration])
    unknown_field = UnknownTaskField
    invalid_field = InvalidTask

    async def apply(
        self, connection: "Connection", declared: Mapping[str, Any], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        """One task after the other, so that a refusal is told of its task; the caller's transaction makes it whole."""
        changes: list[PlannedChange] = []
        for name, task in declared.items():
            wanted = {name: task.fields()}
            try:
                changes += await TaskStore(connection).apply_tasks(wanted, plan_only=plan_only, actor=actor)
            except LivewellError as fact:
                raise type(fact)(fact.message, fix=fact.fix, detail=name) from fact
        return [one for _, run in groupby(changes, key=_added_task) for one in _as_one(list(run))]

    async def undeclared(self, caller: "Caller | Connection", declared: Mapping[str, Any]) -> list[tuple[str, str]]:
        return [("task", task.name) for task in await TaskStore(caller).list_tasks() if task.name not in declared]

    def summary(self, change: PlannedChange) -> str:
        if "cron" in change.new:
            return f"at {change.new['cron']}, {change.new.get('time_zone', 'UTC')}"
        return f"every {shown_interval(change.new.get('every', 'while'))}"

    def told_of(self, fact: LivewellError) -> list[tuple[tuple[str | int, ...], LivewellError]]:
        return told_at(("task", fact.detail) if fact.detail else None, fact)


def _added_task(change: PlannedChange) -> tuple[str, str]:
    return change.name, change.change


def _as_one(changes: list[PlannedChange]) -> list[PlannedChange]:
    """A task that is added is one change with all its fields; a changed one is told field by field."""
    first = changes[0]
    if first.change != "add":
        return changes
    new = {change.field: change.new for change in changes}
    return [PlannedChange(thing="task", name=first.name, change="add", field=None, old=None, new=new)]
