"""Presence as Python calls it: one method per named query, no decisions."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from pydantic_core import to_json

from livewell.kernel import Caller, Connection, PlannedChange, Queries, planned_changes
from livewell.presence.types import (
    Item,
    OpenOutcome,
    PresenceSource,
    PresenceTotals,
    Session,
    SubscribeOutcome,
    UnsubscribeOutcome,
    WatchedItem,
)

QUERIES = Queries.of("livewell.presence")


class PresenceStore:
    """Calls presence over a pool, a line, or the caller's own connection."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def open_sessions(
        self, ids: Sequence[UUID], users: Sequence[str], gateway: str | None = None
    ) -> list[OpenOutcome]:
        answers = await self._caller.fetchval(QUERIES["open_sessions"], ids, users, gateway)
        return [OpenOutcome(answer) for answer in answers]

    async def close_sessions(self, ids: Sequence[UUID]) -> int:
        return int(await self._caller.fetchval(QUERIES["close_sessions"], ids))

    async def renew_sessions(self, ids: Sequence[UUID]) -> list[bool]:
        """For each session whether it is still there; else it is gone."""
        return [answer != "gone" for answer in await self._caller.fetchval(QUERIES["renew_sessions"], ids)]

    async def heartbeat_interval(self) -> timedelta:
        interval: timedelta = await self._caller.fetchval(QUERIES["heartbeat_interval"])
        return interval

    async def renew_gateway(self, gateway: str) -> bool:
        return bool(await self._caller.fetchval(QUERIES["renew_gateway"], gateway))

    async def close_gateway(self, gateway: str) -> int:
        return int(await self._caller.fetchval(QUERIES["close_gateway"], gateway))

    async def subscribe(self, pairs: Sequence[tuple[UUID, Item]]) -> list[SubscribeOutcome]:
        answers = await self._caller.fetchval(QUERIES["subscribe"], *_columns(pairs))
        return [SubscribeOutcome(answer) for answer in answers]

    async def unsubscribe(self, pairs: Sequence[tuple[UUID, Item]]) -> list[UnsubscribeOutcome]:
        answers = await self._caller.fetchval(QUERIES["unsubscribe"], *_columns(pairs))
        return [UnsubscribeOutcome(answer) for answer in answers]

    async def list_sessions(
        self, *, user: str | None = None, gateway: str | None = None, limit: int = 50
    ) -> list[Session]:
        return [Session(**row) for row in await self._caller.fetch(QUERIES["list_sessions"], user, gateway, limit)]

    async def list_viewers(
        self, *, data_type: str | None = None, key: str | None = None, limit: int = 50
    ) -> list[WatchedItem]:
        return [WatchedItem(**row) for row in await self._caller.fetch(QUERIES["list_viewers"], data_type, key, limit)]

    async def list_sources(self) -> list[PresenceSource]:
        return [PresenceSource(**row) for row in await self._caller.fetch(QUERIES["list_sources"])]

    async def apply_sources(
        self, declared: Mapping[str, Mapping[str, Any]], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        rows = await self._caller.fetch(QUERIES["apply_sources"], to_json(declared).decode(), plan_only, actor)
        return planned_changes(rows)

    async def totals(self) -> PresenceTotals:
        (row,) = await self._caller.fetch(QUERIES["totals"])
        return PresenceTotals(**row)


def _columns(pairs: Sequence[tuple[UUID, Item]]) -> tuple[list[UUID], list[str], list[str]]:
    return [session for session, _ in pairs], [item.type for _, item in pairs], [item.key for _, item in pairs]
