"""Budgets as Python calls them: one method per named query, no decisions."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import asyncpg
from pydantic_core import from_json, to_json

from livewell.budgets.headers import RateFacts
from livewell.budgets.types import (
    ApiKey,
    BlockId,
    BudgetState,
    Endpoint,
    Estimate,
    Granted,
    NotGranted,
    PermitSettlement,
    Provider,
    QuotaState,
)
from livewell.kernel import Caller, Connection, PlannedChange, Queries, planned_changes

QUERIES = Queries.of("livewell.budgets")


class BudgetStore:
    """Calls the budgets over a pool, a line, or the caller's own connection."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def apply_providers(self, declared: Mapping[str, Any], *, plan_only: bool, actor: str) -> list[PlannedChange]:
        content = to_json(declared).decode()
        rows = await self._caller.fetch(QUERIES["apply_providers"], content, plan_only, actor)
        return planned_changes(rows)

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

    async def list_estimates(self) -> list[Estimate]:
        return [Estimate(**row) for row in await self._caller.fetch(QUERIES["list_estimates"])]

    async def acquire_permits(
        self,
        endpoint: str,
        holder: str,
        *,
        permits: int = 1,
        tokens: int | None = None,
        bytes: int | None = None,  # noqa: A002 - the word for it everywhere
        key: str | None = None,
        now: datetime | None = None,
    ) -> Granted | NotGranted:
        """As many permits as fit now, at most those asked for."""
        row = await self._caller.fetchrow(
            QUERIES["acquire_permits"], endpoint, holder, permits, tokens, bytes, key, now
        )
        assert row is not None  # noqa: S101 - the function answers with one row always
        if row["block_id"] is None:
            return _not_granted(row)
        return Granted(
            block_id=BlockId(row["block_id"]),
            permits=row["permits"],
            api_key=row["api_key"],
            key_source=row["key_source"],
            send_within=timedelta(seconds=row["send_within_seconds"]),
            lease=timedelta(seconds=row["lease_seconds"]),
        )

    async def further_request(self, endpoint: str, key: str | None, *, patience: float) -> timedelta | NotGranted:
        """One request more for a fetch under way: within which time it must be sent, or why it may not be."""
        row = await self._caller.fetchrow(QUERIES["further_request"], endpoint, key, patience)
        assert row is not None  # noqa: S101 - the function answers with one row always
        if row["granted"]:
            return timedelta(seconds=row["send_within_seconds"])
        return _not_granted(row)

    async def settle_permits(
        self, block_id: BlockId, settlements: Sequence[PermitSettlement], *, now: datetime | None = None
    ) -> list[int]:
        """Settle permits of one block; the numbers that this call settled, each once for ever."""
        settled = await self._caller.fetchval(
            QUERIES["settle_permits"],
            block_id,
            [settlement.number for settlement in settlements],
            [settlement.tokens for settlement in settlements],
            [settlement.bytes for settlement in settlements],
            [settlement.outcome for settlement in settlements],
            now,
        )
        return list(settled or ())

    async def renew_permits(
        self, holder: str, blocks: Sequence[BlockId], *, now: datetime | None = None
    ) -> set[BlockId]:
        """Those of the blocks that are still the holder's."""
        rows = await self._caller.fetch(QUERIES["renew_permits"], holder, list(blocks), now)
        return {BlockId(row["block_id"]) for row in rows}

    async def learn_limits(
        self,
        endpoint: str,
        api_key: str | None,
        facts: RateFacts,
        *,
        age: timedelta = timedelta(),
        now: datetime | None = None,
    ) -> datetime | None:
        """Take over what an answer told; until when the endpoint is closed, if it is."""
        closed_until: datetime | None = await self._caller.fetchval(
            QUERIES["learn_limits"], endpoint, api_key, facts.to_json(), age.total_seconds(), now
        )
        return closed_until


def _not_granted(row: asyncpg.Record) -> NotGranted:
    retry = row["retry_seconds"]
    return NotGranted(reason=row["reason"], retry_after=None if retry is None else timedelta(seconds=retry))


def _parsed(text: str | None) -> Any:
    return None if text is None else from_json(text)
