"""Presence as Python calls it: one method per named query, no decisions."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from pydantic_core import to_json

from livewell.kernel import Caller, Connection, PlannedChange, Queries, planned_changes
from livewell.presence.types import (
    GatewayPace,
    Item,
    OpenOutcome,
    PresenceSource,
    PresenceTotals,
    Resumed,
    Session,
    Subscribed,
    SubscribeOutcome,
    UnsubscribeOutcome,
    WatchedItem,
)

QUERIES = Queries.of("livewell.presence")
AT_ONCE = timedelta()


class PresenceStore:
    """Calls presence over a pool, a line, or the caller's own connection."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def open_sessions(
        self, ids: Sequence[UUID], users: Sequence[str], gateway: str | None = None
    ) -> list[OpenOutcome]:
        answers = await self._caller.fetchval(QUERIES["open_sessions"], ids, users, gateway)
        return [OpenOutcome(answer) for answer in answers]

    async def close_sessions(self, ids: Sequence[UUID], gateway: str | None = None) -> int:
        """End sessions, of a gateway those that are still its own; how many there were."""
        return int(await self._caller.fetchval(QUERIES["close_sessions"], ids, gateway))

    async def renew_sessions(self, ids: Sequence[UUID]) -> list[bool]:
        """For each session whether it is still there; else it is gone."""
        return [answer != "gone" for answer in await self._caller.fetchval(QUERIES["renew_sessions"], ids)]

    async def heartbeat_interval(self) -> timedelta:
        interval: timedelta = await self._caller.fetchval(QUERIES["heartbeat_interval"])
        return interval

    async def gateway_pace(self) -> GatewayPace:
        (row,) = await self._caller.fetch(QUERIES["gateway_pace"])
        return GatewayPace(**row)

    async def renew_gateway(self, gateway: str) -> bool:
        return bool(await self._caller.fetchval(QUERIES["renew_gateway"], gateway))

    async def close_gateway(self, gateway: str) -> int:
        return int(await self._caller.fetchval(QUERIES["close_gateway"], gateway))

    async def sessions_of_gateway(self, gateway: str) -> set[UUID]:
        return set(await self._caller.fetchval(QUERIES["sessions_of_gateway"], gateway) or ())

    async def subscribe(
        self, pairs: Sequence[tuple[UUID, Item]], gateway: str | None = None, *, dwell: timedelta = AT_ONCE
    ) -> list[Subscribed]:
        """Look at items; with a time to dwell, they are refreshed for it when that is over and not before."""
        (row,) = await self._caller.fetch(QUERIES["subscribe"], *_columns(pairs), gateway, dwell)
        return _subscribed(row)

    async def unsubscribe(
        self, pairs: Sequence[tuple[UUID, Item]], gateway: str | None = None
    ) -> list[UnsubscribeOutcome]:
        answers = await self._caller.fetchval(QUERIES["unsubscribe"], *_columns(pairs), gateway)
        return [UnsubscribeOutcome(answer) for answer in answers]

    async def resume(
        self, gateway: str | None, session: UUID, user: str, items: Sequence[Item], *, dwell: timedelta = AT_ONCE
    ) -> Resumed:
        """Take a session over, or open it, and make what it looks at exactly these items."""
        types, keys = [item.type for item in items], [item.key for item in items]
        (row,) = await self._caller.fetch(QUERIES["resume"], gateway, session, user, types, keys, dwell)
        left = [Item(*item) for item in zip(row["left_types"], row["left_keys"], strict=True)]
        return Resumed(outcome=OpenOutcome(row["session_outcome"]), items=_subscribed(row), left=left)

    async def ask_for_items(self, pairs: Sequence[tuple[UUID, int]], gateway: str | None = None) -> int:
        """What sessions look at, by item id, is refreshed ahead if it is missing or stale; how many were asked for."""
        sessions, items = [session for session, _ in pairs], [item for _, item in pairs]
        return int(await self._caller.fetchval(QUERIES["ask_for_items"], sessions, items, gateway))

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


def _subscribed(row: Any) -> list[Subscribed]:
    rows = zip(row["outcomes"], row["items"], row["versions"], row["fetched_at"], strict=True)
    return [
        Subscribed(outcome=SubscribeOutcome(outcome), item_id=item_id, version=version, fetched_at=fetched_at)
        for outcome, item_id, version, fetched_at in rows
    ]
