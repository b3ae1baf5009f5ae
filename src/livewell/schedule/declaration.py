"""A task as a user writes it, in a program or under `[task.NAME]` of `livewell.toml`."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from livewell.kernel import (
    Caller,
    Connection,
    DeclaredTable,
    Duration,
    NamedSection,
    PlannedChange,
    shown_interval,
)
from livewell.schedule.errors import InvalidTask, UnknownTaskField
from livewell.schedule.store import TaskStore


class TaskDeclaration(DeclaredTable):
    """`[task.NAME]`. With nothing said it runs every 10 to 15 minutes, 20 to 40 minutes after a failure."""

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


class TaskSection(NamedSection):
    """Tasks as `livewell apply` takes them."""

    word, thing = "task", "task"
    model = TaskDeclaration
    by_name = TypeAdapter(dict[str, TaskDeclaration])
    unknown_field = UnknownTaskField
    invalid_field = InvalidTask

    async def put(
        self, connection: "Connection", declared: Mapping[str, Mapping[str, Any]], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        return await TaskStore(connection).apply_tasks(declared, plan_only=plan_only, actor=actor)

    async def names(self, caller: "Caller | Connection") -> Sequence[str]:
        return [task.name for task in await TaskStore(caller).list_tasks()]

    def summary(self, change: PlannedChange) -> str:
        new = change.new
        return f"at {new['cron']}, {new['time_zone']}" if new["cron"] else f"every {shown_interval(new['every'])}"
