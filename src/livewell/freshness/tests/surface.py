"""The room's functions as tests call them: with the clock passed in."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic_core import from_json

from livewell.kernel import Caller, Connection

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)


class Freshness:
    """Calls as the owner: these functions are for no one else."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self.caller = caller

    async def items(self, data_type: str, keys: Sequence[str], now: datetime = NOON) -> list[int]:
        """Find or make items; their ids in the order of the keys."""
        rows = await self.caller.fetch(
            "select item_id from livewell_private.make_items($1, $2, $3) order by item_position",
            [data_type] * len(keys),
            list(keys),
            now,
        )
        return [row["item_id"] for row in rows]

    async def watch(self, data_type: str, keys: Sequence[str], viewers: int = 1, now: datetime = NOON) -> list[int]:
        """Items that so many look at."""
        ids = await self.items(data_type, keys, now)
        await self.change(ids, viewers, now)
        return ids

    async def change(self, ids: Sequence[int], by: int, now: datetime = NOON) -> None:
        """More or fewer viewers, by a caller that has locked the items, as all have."""
        await self.caller.fetchval(
            "with locked as materialized ("
            " select i.id from livewell_private.item as i where i.id = any ($1::bigint[]) order by i.id for no"
            " key update"
            ") select livewell_private.change_viewers($1, $2, $3) from (select count(*) from locked) as l",
            ids,
            [by] * len(ids),
            now,
        )

    async def tick(self, now: datetime = NOON) -> dict[str, int]:
        """One run of the checker: how many items were checked, and how many were decided so."""
        answer = await self.caller.fetchval("select livewell_private.task_check($1)::text", now)
        return from_json(answer) if answer else {}

    async def check(
        self, ids: Sequence[int], now: datetime = NOON, *, priority: int | None = None, cause: str | None = None
    ) -> dict[int, str]:
        rows = await self.caller.fetch(
            "select * from livewell_private.check_items($1, $2, $3, $4)", ids, priority, cause, now
        )
        return {row["item_id"]: row["decision"] for row in rows}

    async def learn(
        self, ids: Sequence[int], outcome: str, now: datetime, *, content: bytes | None = None, size: int | None = None
    ) -> None:
        await self.caller.fetchval(
            "select livewell_private.end_refreshes(array("
            " select row (null, i.id, $2::text, null, $3::bytea, $4::bigint, null,"
            " null)::livewell_private.ended_refresh"
            " from unnest($1::bigint[]) as i (id)"
            "), $5)",
            ids,
            outcome,
            content,
            size,
            now,
        )

    async def item(self, item_id: int) -> dict[str, Any]:
        row = await self.caller.fetchrow("select * from livewell_private.item where id = $1", item_id)
        assert row is not None
        return dict(row)

    async def jobs(self) -> dict[str, int]:
        """The live refreshes: priority by dedupe key."""
        rows = await self.caller.fetch("select dedupe_key, priority from livewell_private.job_live order by id")
        return {row["dedupe_key"]: row["priority"] for row in rows}

    async def warnings(self) -> dict[tuple[str, str], str]:
        rows = await self.caller.fetch("select code, subject, message from livewell.warnings")
        return {(row["code"], row["subject"]): row["message"] for row in rows}
