"""asyncpg on the hot calls: as rows, as one JSON value each way, or the raw loop's own calls as the reference."""

import json
import uuid
from collections.abc import Sequence
from typing import Any

import asyncpg
import uvloop

from benchmarks.contenders import raw
from benchmarks.driver_steps import FILL, RESULT, SCHEMA, Calls, Row, batch_as_json, drain, rows_of_json, silence
from benchmarks.protocol import Plan, report_version

RAW_FILL = """
insert into job (payload)
select jsonb_build_object('i', i, 'type', 'quote', 'key', 'K' || i) from generate_series(1, {jobs}) as i
"""


class AsRows:
    """Arrays in, rows out."""

    def __init__(self, claimer: Any, finisher: Any) -> None:
        self._claimer = claimer
        self._finisher = finisher

    async def claim(self, most: int, token: uuid.UUID) -> Sequence[Row]:
        rows = await self._claimer.fetch("select id, kind, payload, attempt from claim_rows($1, $2)", most, token)
        return [(row[0], json.loads(row[2])) for row in rows]

    async def finish(self, rows: Sequence[Row], token: uuid.UUID) -> int:
        ids = [row[0] for row in rows]
        count = len(ids)
        return int(
            await self._finisher.fetchval(
                "select finish_rows($1, $2, $3, $4)", ids, ["completed"] * count, [RESULT] * count, token
            )
        )


class AsJson(AsRows):
    """One JSON value each way."""

    async def claim(self, most: int, token: uuid.UUID) -> Sequence[Row]:
        return rows_of_json(await self._claimer.fetchval("select claim_json($1, $2)", most, token))

    async def finish(self, rows: Sequence[Row], token: uuid.UUID) -> int:
        return int(await self._finisher.fetchval("select finish_json($1, $2)", batch_as_json(rows), token))


class AsRaw(AsRows):
    """The raw loop on its own table: what the partitions, tokens and history are measured against."""

    async def claim(self, most: int, token: uuid.UUID) -> Sequence[Row]:
        del token
        rows = await self._claimer.fetch(raw.CLAIM, most)
        return [(row[0], json.loads(row[2])) for row in rows]

    async def finish(self, rows: Sequence[Row], token: uuid.UUID) -> int:
        del token
        await self._finisher.execute(raw.FINISH, [row[0] for row in rows])
        return len(rows)


SHAPES = {"rows": AsRows, "json": AsJson, "raw": AsRaw}


async def main() -> None:
    plan = Plan.from_environment()
    claimer, finisher = await asyncpg.connect(plan.dsn), await asyncpg.connect(plan.dsn)
    shape = plan.settings["shape"]
    await _fill(claimer, plan, shape)
    report_version(f"asyncpg {asyncpg.__version__}")
    calls: Calls = SHAPES[shape](claimer, finisher)
    await drain(calls, plan)
    if shape == "rows":
        backend = await claimer.fetchval("select pg_backend_pid()")
        await silence(backend, lambda: claimer.fetchval("select 1"))
    for connection in (claimer, finisher):
        connection.terminate()


async def _fill(connection: "asyncpg.Connection[asyncpg.Record]", plan: Plan, shape: str) -> None:
    schema, fill = (raw.SCHEMA, RAW_FILL) if shape == "raw" else (SCHEMA, FILL)
    for statement in (
        schema.read_text(encoding="utf-8"),
        fill.format(jobs=plan.drain),
        "vacuum analyze job",
        "checkpoint",
    ):
        await connection.execute(statement)


if __name__ == "__main__":
    uvloop.run(main())
