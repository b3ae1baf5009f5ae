"""The schedule as Python calls it: one method per named query, no decisions."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pydantic_core import from_json, to_json

from livewell.kernel import Caller, Connection, PlannedChange, Queries, planned_changes
from livewell.schedule.types import (
    DueTask,
    JsonObject,
    Look,
    RunAnswer,
    TakenTask,
    Task,
    TaskRenewal,
    TaskRun,
)

QUERIES = Queries.of("livewell.schedule")
_MANY = 1000


class TaskStore:
    """Calls the schedule over a pool, a line, or the caller's own connection."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def look_at_tasks(self, handlers: Sequence[str], limit: int = _MANY) -> Look:
        rows = await self._caller.fetch(QUERIES["look_at_tasks"], handlers, limit)
        due = [DueTask(row["name"], row["run"]) for row in rows if row["name"] is not None]
        return Look(due, rows[-1]["next_in_seconds"])

    async def take_tasks(self, names: Sequence[str], node: str, *, force: bool = False) -> list[TakenTask]:
        return [TakenTask(*row) for row in await self._caller.fetch(QUERIES["take_tasks"], names, node, force)]

    async def renew_tasks(self, names: Sequence[str], tokens: Sequence[UUID]) -> list[TaskRenewal]:
        return [TaskRenewal(*row) for row in await self._caller.fetch(QUERIES["renew_tasks"], names, tokens)]

    async def finish_task(
        self, name: str, token: UUID, outcome: str, *, result: Any = None, error: JsonObject | None = None
    ) -> str:
        """How the run ended, or `lost`."""
        return str(
            await self._caller.fetchval(QUERIES["finish_task"], name, token, outcome, _written(result), _written(error))
        )

    async def declare_tasks(self, declared: Mapping[str, JsonObject], *, actor: str) -> list[str]:
        return [
            row["name"] for row in await self._caller.fetch(QUERIES["declare_tasks"], to_json(declared).decode(), actor)
        ]

    async def apply_tasks(
        self, declared: Mapping[str, JsonObject], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        rows = await self._caller.fetch(QUERIES["apply_tasks"], to_json(declared).decode(), plan_only, actor)
        return planned_changes(rows)

    async def set_task(self, name: str, changes: JsonObject, *, reason: str | None, actor: str) -> bool:
        return bool(await self._caller.fetchval(QUERIES["set_task"], name, to_json(changes).decode(), reason, actor))

    async def list_tasks(self, names: Sequence[str] | None = None) -> list[Task]:
        rows = await self._caller.fetch(QUERIES["list_tasks"], names)
        return [Task(**{**row, "last_error": _read(row["last_error"])}) for row in rows]

    async def list_runs(
        self,
        task: str | None = None,
        *,
        before: int | None = None,
        outcomes: Sequence[str] | None = None,
        limit: int = 50,
    ) -> list[TaskRun]:
        rows = await self._caller.fetch(QUERIES["list_runs"], task, before, outcomes, limit)
        return [TaskRun(**{**row, "result": _read(row["result"]), "error": _read(row["error"])}) for row in rows]

    async def task_health(self) -> dict[str, Any]:
        return dict(from_json(await self._caller.fetchval(QUERIES["task_health"])))

    async def cron_statements(self, database: str | None = None) -> list[str]:
        return [row["statement"] for row in await self._caller.fetch(QUERIES["cron_statements"], database)]


class SqlTaskStore:
    """Runs SQL tasks over a connection that is inside a transaction, which gets the task's own time limit."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def limit_task(self, name: str) -> float:
        """Give the transaction the task's time limit; answers it in seconds."""
        return float(await self._connection.fetchval(QUERIES["limit_task"], name))

    async def run_task(self, name: str, node: str, *, force: bool, within: float) -> RunAnswer:
        """Take, run and finish it; `within` bounds the wait for a server that says nothing."""
        text = await self._connection.fetchval(QUERIES["run_task"], name, force, node, timeout=within)
        return dict(from_json(text))


def _written(value: Any) -> str | None:
    return None if value is None else to_json(value, inf_nan_mode="strings").decode()


def _read(text: str | None) -> Any:
    return None if text is None else from_json(text)
