"""psycopg 3 on the hot calls: as rows, or as one JSON value each way; statements prepared from the first call."""

import json
import uuid
from collections.abc import Sequence
from typing import Any

import psycopg
import uvloop

from benchmarks.driver_steps import FILL, RESULT, SCHEMA, Calls, Row, batch_as_json, drain, rows_of_json, silence
from benchmarks.protocol import Plan, report_version


class AsRows:
    """Arrays in, rows out."""

    def __init__(self, claimer: Any, finisher: Any) -> None:
        self._claimer = claimer
        self._finisher = finisher

    async def claim(self, most: int, token: uuid.UUID) -> Sequence[Row]:
        cursor = await self._claimer.execute("select id, kind, payload, attempt from claim_rows(%s, %s)", (most, token))
        return [(row[0], json.loads(row[2])) for row in await cursor.fetchall()]

    async def finish(self, rows: Sequence[Row], token: uuid.UUID) -> int:
        ids = [row[0] for row in rows]
        count = len(ids)
        arguments = (ids, ["completed"] * count, [RESULT] * count, token)
        return int(
            await self._one(self._finisher, "select finish_rows(%s::bigint[], %s::text[], %s::text[], %s)", arguments)
        )

    @staticmethod
    async def _one(connection: Any, statement: str, arguments: tuple[Any, ...]) -> Any:
        cursor = await connection.execute(statement, arguments)
        row = await cursor.fetchone()
        return row[0]


class AsJson(AsRows):
    """One JSON value each way."""

    async def claim(self, most: int, token: uuid.UUID) -> Sequence[Row]:
        return rows_of_json(await self._one(self._claimer, "select claim_json(%s, %s)", (most, token)))

    async def finish(self, rows: Sequence[Row], token: uuid.UUID) -> int:
        return int(await self._one(self._finisher, "select finish_json(%s, %s)", (batch_as_json(rows), token)))


SHAPES = {"rows": AsRows, "json": AsJson}


async def main() -> None:
    plan = Plan.from_environment()
    claimer = await psycopg.AsyncConnection.connect(plan.dsn, autocommit=True, prepare_threshold=0)
    finisher = await psycopg.AsyncConnection.connect(plan.dsn, autocommit=True, prepare_threshold=0)
    shape = plan.settings["shape"]
    for statement in (
        SCHEMA.read_text(encoding="utf-8"),
        FILL.format(jobs=plan.drain),
        "vacuum analyze job",
        "checkpoint",
    ):
        await claimer.execute(statement, prepare=False)
    report_version(f"psycopg {psycopg.__version__}")
    calls: Calls = SHAPES[shape](claimer, finisher)
    await drain(calls, plan)
    if shape == "rows":
        await silence(claimer.info.backend_pid, lambda: claimer.execute("select 1"))


if __name__ == "__main__":
    uvloop.run(main())
