"""Budgets as Python calls them: one method per named query, no decisions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic_core import from_json, to_json

from livewell.budgets.types import ApiKey, BudgetState, Endpoint, Provider, QuotaState
from livewell.kernel import Caller, Connection, PlannedChange, Queries

QUERIES = Queries.of("livewell.budgets")


class BudgetStore:
    """Calls the budgets over a pool, a line, or the caller's own connection."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def apply_providers(self, declared: Mapping[str, Any], *, plan_only: bool, actor: str) -> list[PlannedChange]:
        content = to_json(declared).decode()
        rows = await self._caller.fetch(QUERIES["apply_providers"], content, plan_only, actor)
        return [PlannedChange(**{**row, "old": _parsed(row["old"]), "new": _parsed(row["new"])}) for row in rows]

    async def set_provider(self, name: str, changes: Mapping[str, Any], *, reason: str | None, actor: str) -> bool:
        content = to_json(changes).decode()
        return bool(await self._caller.fetchval(QUERIES["set_provider"], name, content, reason, actor))

    async def set_endpoint(self, name: str, changes: Mapping[str, Any], *, reason: str | None, actor: str) -> bool:
        content = to_json(changes).decode()
        return bool(await self._caller.fetchval(QUERIES["set_endpoint"], name, content, reason, actor))

    async def pause_endpoint(self, name: str, *, until: datetime | None, reason: str | None, actor: str) -> None:
        await self._caller.fetchval(QUERIES["pause_endpoint"], name, until, reason, actor)

    async def resume_endpoint(self, name: str, *, reason: str | None, actor: str) -> bool:
        return bool(await self._caller.fetchval(QUERIES["resume_endpoint"], name, reason, actor))

    async def reset_endpoint(self, name: str, *, reason: str | None, actor: str) -> None:
        await self._caller.fetchval(QUERIES["reset_endpoint"], name, reason, actor)

    async def list_providers(self, names: Sequence[str] | None = None) -> list[Provider]:
        return [Provider(**row) for row in await self._caller.fetch(QUERIES["list_providers"], names)]

    async def list_endpoints(self, names: Sequence[str] | None = None) -> list[Endpoint]:
        return [Endpoint(**row) for row in await self._caller.fetch(QUERIES["list_endpoints"], names)]

    async def list_api_keys(self) -> list[ApiKey]:
        return [ApiKey(**row) for row in await self._caller.fetch(QUERIES["list_api_keys"])]

    async def budget_state(self) -> list[BudgetState]:
        rows = await self._caller.fetch(QUERIES["budget_state"])
        return [BudgetState(**{**row, "learned": _parsed(row["learned"]) or {}}) for row in rows]

    async def quota_states(self) -> list[QuotaState]:
        return [QuotaState(**row) for row in await self._caller.fetch(QUERIES["quota_states"])]


def _parsed(text: str | None) -> Any:
    return None if text is None else from_json(text)
