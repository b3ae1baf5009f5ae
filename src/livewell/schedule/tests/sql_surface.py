"""The schedule's functions as these tests call them, with the time passed in."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from pydantic_core import from_json, to_json

from livewell.kernel import Caller, Connection, Database

NOON = datetime(2030, 1, 15, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


class Schedule:
    """One caller's view of the schedule."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def put(self, name: str, now: datetime = NOON, **fields: Any) -> list[dict[str, Any]]:
        rows = await self._caller.fetch(
            "select name, change, field from livewell.apply_tasks($1::text::jsonb, false, 'tests', $2)",
            to_json({name: fields}).decode(),
            now,
        )
        return [dict(row) for row in rows]

    async def change(self, name: str, now: datetime = NOON, **fields: Any) -> bool:
        return bool(
            await self._caller.fetchval(
                "select livewell.set_task($1, $2::text::jsonb, 'a test', 'tests', $3)",
                name,
                to_json(fields).decode(),
                now,
            )
        )

    async def take(self, name: str, now: datetime, node: str = "n1", *, force: bool = False) -> dict[str, Any]:
        (row,) = await self._caller.fetch(
            "select * from livewell.take_tasks(array[$1], $2, $3, $4)", name, node, force, now
        )
        return dict(row)

    async def renew(self, name: str, token: UUID, now: datetime) -> str:
        (row,) = await self._caller.fetch(
            "select status from livewell.renew_tasks(array[$1], array[$2::uuid], $3)", name, token, now
        )
        return str(row["status"])

    async def finish(
        self, name: str, token: UUID, now: datetime, outcome: str = "succeeded", result: Any = None, error: Any = None
    ) -> str:
        return str(
            await self._caller.fetchval(
                "select livewell.finish_task($1, $2, $3, $4::text::jsonb, $5::text::jsonb, $6)",
                name,
                token,
                outcome,
                None if result is None else to_json(result).decode(),
                None if error is None else to_json(error).decode(),
                now,
            )
        )

    async def run(self, name: str, now: datetime, *, force: bool = False, node: str = "n1") -> dict[str, Any]:
        text = await self._caller.fetchval("select livewell.run_task($1, $2, $3, $4)::text", name, force, node, now)
        return dict(from_json(text))

    async def health(self, now: datetime) -> dict[str, Any]:
        return dict(from_json(await self._caller.fetchval("select livewell.task_health($1)::text", now)))

    async def look(self, now: datetime, *handlers: str) -> tuple[list[str], float | None]:
        rows = await self._caller.fetch("select * from livewell.look_at_tasks($1, 100, $2)", list(handlers), now)
        return [row["name"] for row in rows if row["name"]], rows[-1]["next_in_seconds"]

    async def row(self, name: str) -> dict[str, Any]:
        found = await self._caller.fetchrow("select * from livewell.tasks where name = $1", name)
        assert found is not None
        return dict(found)

    async def runs(self, name: str) -> list[dict[str, Any]]:
        rows = await self._caller.fetch("select * from livewell.task_runs where task = $1 order by id", name)
        return [dict(row) for row in rows]


async def only(owner: Database) -> None:
    """Take the shipped tasks away, so that a test sees its own."""
    await owner.execute("delete from livewell_private.task")


async def make_function(owner: Database, name: str, body: str, *, security: str = "definer") -> str:
    """A user's function in a schema of the user's own, which Livewell may execute."""
    await owner.execute(
        "create schema if not exists ours; grant usage on schema ours to livewell_reader, livewell_service"
    )
    await owner.execute(
        f"create or replace function ours.{name}(p_now timestamptz) returns jsonb language plpgsql security {security}"
        f" set search_path = pg_catalog, pg_temp as $f$ begin {body} end $f$"
    )
    return f"ours.{name}"
