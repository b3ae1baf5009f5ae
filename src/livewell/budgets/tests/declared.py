"""The SQL of providers and endpoints as tests call it: with the clock passed in, over any connection."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import asyncpg

from livewell.kernel import Connection, Database

NOW = datetime(2025, 1, 1, 12, tzinfo=UTC)
Things = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Declaring:
    """Plans, applies and tunes; rows come back as the database gave them."""

    caller: "Database | Connection"

    async def apply(
        self,
        providers: Things | None = None,
        endpoints: Things | None = None,
        keys: Things | None = None,
        *,
        plan_only: bool = False,
    ) -> list[asyncpg.Record]:
        return await self.raw(
            {"providers": providers or {}, "endpoints": endpoints or {}, "keys": keys or {}}, plan_only=plan_only
        )

    async def raw(self, declared: Any, *, plan_only: bool = False, now: datetime = NOW) -> list[asyncpg.Record]:
        statement = "select * from livewell.apply_providers($1::text::jsonb, $2, 'tester', $3)"
        return await self.caller.fetch(statement, json.dumps(declared), plan_only, now)

    async def set(self, thing: str, name: str, changes: Any, reason: str | None = None) -> bool:
        statement = f"select livewell.set_{thing}($1, $2::text::jsonb, $3, 'tester', $4)"
        return bool(await self.caller.fetchval(statement, name, json.dumps(changes), reason, NOW))

    async def endpoint(self, name: str) -> asyncpg.Record:
        (row,) = await self.caller.fetch("select * from livewell.endpoints where name = $1", name)
        return row

    async def provider(self, name: str) -> asyncpg.Record:
        (row,) = await self.caller.fetch("select * from livewell.providers where name = $1", name)
        return row

    async def events(self) -> list[tuple[str, str]]:
        """What was audited, oldest first: event and record."""
        rows = await self.caller.fetch("select event, record_id from livewell.list_audit() order by id")
        return [(row["event"], row["record_id"]) for row in rows]


def changes(rows: list[asyncpg.Record]) -> list[tuple[str, str, str, str | None, Any, Any]]:
    """Rows of a plan as plain values."""
    return [
        (row["thing"], row["name"], row["change"], row["field"], _value(row["old"]), _value(row["new"])) for row in rows
    ]


def _value(text: str | None) -> Any:
    return None if text is None else json.loads(text)
