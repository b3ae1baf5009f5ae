"""Freshness as Python calls it: one method per named query, no decisions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic_core import from_json

from livewell.freshness.types import (
    ExplainedItem,
    FreshnessFigures,
    FreshnessHour,
    ItemState,
    RefreshOutcome,
    RefreshPolicy,
    WatchedType,
)
from livewell.kernel import Caller, Connection, Queries

QUERIES = Queries.of("livewell.freshness")


class FreshnessStore:
    """Asks over a pool, a line, or the caller's own connection."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def explain_item(
        self, data_type: str | None, key: str, *, now: datetime | None = None
    ) -> list[ExplainedItem]:
        """Why the items of a key are as they are, one per type that somebody looked at; of all types if it is None."""
        rows = await self._caller.fetch(QUERIES["explain_item"], data_type, key, now)
        return [ExplainedItem(**{**row, "recent": tuple(map(_outcome, from_json(row["recent"])))}) for row in rows]

    async def item_states(self, item_ids: Sequence[int], *, now: datetime | None = None) -> list[ItemState]:
        """The state of items, in their order."""
        return list(map(ItemState._make, await self._caller.fetch(QUERIES["item_states"], item_ids, now)))

    async def find_items(self, types: Sequence[str], keys: Sequence[str]) -> list[int | None]:
        """The items of types and keys, by position; none where nobody has looked at such a key yet."""
        return list(await self._caller.fetchval(QUERIES["find_items"], types, keys))

    async def freshness_figures(
        self, *, since: datetime | None = None, now: datetime | None = None
    ) -> list[FreshnessFigures]:
        """What viewers saw since a time, a day by default."""
        return [FreshnessFigures(**row) for row in await self._caller.fetch(QUERIES["freshness_figures"], since, now)]

    async def freshness_now(self, *, now: datetime | None = None) -> list[WatchedType]:
        """What is watched at this moment, by type."""
        return [WatchedType(**row) for row in await self._caller.fetch(QUERIES["freshness_now"], now)]

    async def freshness_hours(self, *, since: datetime) -> list[FreshnessHour]:
        return [FreshnessHour(**row) for row in await self._caller.fetch(QUERIES["freshness_hours"], since)]

    async def refresh_counts(self) -> dict[str, int]:
        """How many refreshes of each type were completed, ever."""
        return {row["data_type"]: row["refreshes"] for row in await self._caller.fetch(QUERIES["refresh_counts"])}

    async def refresh_policies(self) -> list[RefreshPolicy]:
        return [RefreshPolicy(**row) for row in await self._caller.fetch(QUERIES["refresh_policies"])]


def _outcome(found: dict[str, Any]) -> RefreshOutcome:
    started = found["started_at"]
    return RefreshOutcome(
        **{
            **found,
            "started_at": datetime.fromisoformat(started) if started else None,
            "finished_at": datetime.fromisoformat(found["finished_at"]),
        }
    )
