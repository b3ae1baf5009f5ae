"""Types with many keys and items with viewers, for tests of what runs over all of them; the clock is passed in."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from livewell.freshness.tests.surface import Freshness
from livewell.kernel import Database
from livewell.testing import make_type

NOON = datetime(2030, 1, 15, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

Row = asyncpg.Record


@dataclass(frozen=True)
class Catalogue:
    """Data types, their keys and items, and the tasks that walk them, as the owner."""

    owner: Database

    async def scheduled(self, name: str, keys: int = 0, *, cron: str = "0 * * * *", **fields: Any) -> None:
        """A scheduled type with so many keys k00000, k00001, … in its catalogue."""
        await make_type(self.owner, name, cron=cron, strategy="scheduled", **fields)
        await self.keys(name, keys)

    async def keys(self, name: str, keys: int) -> None:
        await self.owner.execute(
            "insert into livewell_private.type_key (data_type, key)"
            " select $1, 'k' || lpad(n::text, 5, '0') from generate_series(0, $2::integer - 1) as n",
            name,
            keys,
        )

    async def fetched(self, name: str, keys: Sequence[str], at: datetime) -> None:
        """Rows of these keys in Livewell's own table, fetched then."""
        await self.owner.execute(
            "insert into livewell_private.record (data_type, key, value, fetched_at) select $1, k, '{}', $3"
            " from unnest($2::text[]) as k on conflict (data_type, key) do update set fetched_at = $3",
            name,
            list(keys),
            at,
        )

    async def item(self, name: str, key: str, now: datetime = NOON) -> int:
        [item] = await Freshness(self.owner).items(name, [key], now)
        return item

    async def watch(self, name: str, key: str, viewers: int = 1, now: datetime = NOON) -> int:
        """Change how many look at an item; its id."""
        [item] = await Freshness(self.owner).watch(name, [key], viewers, now)
        return item

    async def learn(
        self, item: int, outcome: str = "fetched", now: datetime = NOON, *, content: bytes = b"a", size: int = 1000
    ) -> None:
        await Freshness(self.owner).learn([item], outcome, now, content=content, size=size)

    async def run(self, task: str, now: datetime = NOON) -> dict[str, Any]:
        """What one run of a task answers."""
        answer = await self.owner.fetchval(f"select livewell_private.task_{task}($1)::text", now)
        return dict(json.loads(answer or "{}"))

    async def jobs(self) -> list[Row]:
        """The live jobs by dedupe key."""
        return await self.owner.fetch(
            "select id, kind, priority, dedupe_key, payload ->> 'key' as key, payload ->> 'cause' as cause, state"
            " from livewell_private.job_live order by dedupe_key"
        )

    async def clear_queue(self) -> set[str]:
        """Take all live jobs away; their keys."""
        rows = await self.owner.fetch("delete from livewell_private.job_live returning payload ->> 'key' as key")
        return {row["key"] for row in rows}

    async def warnings(self) -> list[tuple[str, str]]:
        rows = await self.owner.fetch("select code, subject from livewell.warnings order by code, subject")
        return [(row["code"], row["subject"]) for row in rows]

    async def set(self, name: str, value: object) -> None:
        await self.owner.execute("select livewell.set_setting($1, $2)", name, str(value))
