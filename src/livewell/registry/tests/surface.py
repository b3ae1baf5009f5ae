"""The registry's functions as these tests call them, with the time passed in."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic_core import from_json, to_json

from livewell.kernel import Caller, Connection

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Registry:
    """The registry as its owner sees it, or as anybody else would."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def put(self, name: str, now: datetime = NOON, *, plan_only: bool = False, **fields: Any) -> list[Any]:
        return await self.apply({name: fields}, now, plan_only=plan_only)

    async def apply(self, declared: Any, now: datetime = NOON, *, plan_only: bool = False) -> list[Any]:
        rows = await self._caller.fetch(
            "select name, change, field, old::text, new::text"
            " from livewell.apply_types($1::text::jsonb, $2, 'tests', $3)",
            to_json(declared).decode(),
            plan_only,
            now,
        )
        return [tuple(row) for row in rows]

    async def remove(self, name: str, now: datetime = NOON, *, force: bool = False) -> dict[str, int]:
        text = await self._caller.fetchval(
            "select livewell.remove_type($1, $2, 'a test', 'tests', $3)::text", name, force, now
        )
        return dict(from_json(text))

    async def check(self, *names: str, now: datetime = NOON) -> list[tuple[str, str]]:
        """The findings as severity and problem."""
        rows = await self._caller.fetch(
            "select severity, problem from livewell.check_types($1, $2)", list(names) or None, now
        )
        return [tuple(row) for row in rows]

    async def gates(self, name: str, *keys: str, now: datetime = NOON) -> dict[str, tuple[bool, datetime | None]]:
        rows = await self._caller.fetch("select * from livewell_private.open_gates($1, $2, $3)", name, list(keys), now)
        return {row["key"]: (row["open"], row["opens_at"]) for row in rows}

    async def keys_after(self, name: str, after: str | None = None, limit: int = 100) -> list[str]:
        rows = await self._caller.fetch(
            "select key from livewell_private.keys_after($1, $2, $3, $4) as k (key)", name, after, limit, NOON
        )
        return [row["key"] for row in rows]

    async def import_keys(self, name: str, keys: list[str], exchanges: Sequence[str | None] | None = None) -> Any:
        row = await self._caller.fetchrow(
            "select * from livewell.import_keys($1, $2, $3, 'tests', $4)", name, keys, exchanges, NOON
        )
        return row and tuple(row)

    async def row(self, name: str) -> dict[str, Any]:
        row = await self._caller.fetchrow("select * from livewell_private.data_type where name = $1", name)
        return dict(row or {})

    async def warnings(self) -> list[tuple[str, str]]:
        rows = await self._caller.fetch("select code, subject from livewell.warnings order by code, subject")
        return [tuple(row) for row in rows]
