"""The engine that declares: what a row of any table would be, what that changes, and what is written of it."""

import json
from typing import Any

import pytest
import pytest_asyncio

from livewell.kernel import Connection, Database, LivewellError

TABLE = """
create table livewell.lamp (
    name text primary key, watts integer default 60, glows interval not null default interval '1 day',
    "odd ""name" text not null default 'it''s', used bigint not null default 0,
    created_at timestamptz not null, updated_at timestamptz not null
)
"""
THING = "livewell_private.describe_thing('lamp', 'livewell.lamp', 'LWB03', '{name,used,created_at,updated_at}')"
ROW = f"""
select livewell_private.as_declared(
    t.thing, o, jsonb_build_object('name', $1::text), livewell_private.asked_fields(t.thing, $1, $2::text::jsonb),
        '2025-01-01'
) as new, o as old, t.thing
from (select {THING} as thing) as t left join livewell.lamp as o on o.name = $1
"""


class Lamps:
    """Lamps, declared by the engine alone."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    async def plan(self, name: str, asked: Any) -> list[tuple[Any, ...]]:
        rows = await self.connection.fetch(
            f"select p.change, p.field, p.old::text, p.new::text from ({ROW}) as r, livewell_private.planned_changes("
            "array[livewell_private.compare_declared(r.thing, $1, r.old, r.new)]) as p",
            name,
            json.dumps(asked),
        )
        return [tuple(row) for row in rows]

    async def put(self, name: str, asked: Any) -> None:
        await self.connection.execute(
            f"select livewell_private.write_declared(r.thing, array[r.new], '2025-01-02') from ({ROW}) as r",
            name,
            json.dumps(asked),
        )

    async def row(self, name: str) -> dict[str, Any]:
        found = await self.connection.fetchval("select to_jsonb(t)::text from livewell.lamp as t where name = $1", name)
        return dict(json.loads(found))


@pytest_asyncio.fixture
async def lamps(owner: Database) -> Any:
    async with owner.connection() as connection:
        await connection.execute(TABLE)
        yield Lamps(connection)


async def test_a_row_is_added_changed_or_the_same(lamps: Lamps) -> None:
    """What is new is told as a whole, with the defaults of its columns; what changes by field; what was said again is
    the same, however a length of time is written.
    """
    ((change, field, old, new),) = await lamps.plan("desk", {"watts": 40})
    assert (change, field, old) == ("add", None, None)
    assert json.loads(new) == {"watts": 40, "glows": "1 day", 'odd "name': "it's"}
    await lamps.put("desk", {"watts": 40})
    assert await lamps.plan("desk", {"watts": 40, "glows": "24 hours"}) == [("same", None, None, None)]
    assert await lamps.plan("desk", {"watts": None, "glows": "2 days", 'odd "name': "x"}) == [
        ("change", "glows", '"1 day"', '"2 days"'),
        ("change", 'odd "name', '"it\'s"', '"x"'),
        ("change", "watts", "40", "60"),
    ]


async def test_only_fields_are_written_and_only_what_differs(lamps: Lamps) -> None:
    """What else is in a row is not touched by who declares; a row that stays keeps its time."""
    await lamps.put("desk", {"watts": 40})
    await lamps.connection.execute("update livewell.lamp set used = 7")
    await lamps.put("desk", {"watts": 40})
    assert (await lamps.row("desk"))["updated_at"].startswith("2025-01-01")
    await lamps.put("desk", {"watts": 50})
    row = await lamps.row("desk")
    assert (row["watts"], row["used"], row["updated_at"][:10]) == (50, 7, "2025-01-02")
    await lamps.connection.execute(
        f"select livewell_private.write_declared({THING}, array[l], now())"
        " from (select row('desk', 50, '1 day', '', 99, now(), now())::livewell.lamp as l) as given"
    )
    assert (await lamps.row("desk"))["used"] == 7


@pytest.mark.parametrize("asked", [{"wats": 1}, {"used": 1}, {"name": "x"}, {"created_at": None}, [1], "watts", None])
async def test_what_is_no_field_is_refused(lamps: Lamps, asked: Any) -> None:
    """Neither what the table does not have, nor what it keeps for itself; the fact names the thing, and what it has."""
    with pytest.raises(LivewellError) as refused:
        await lamps.plan("desk", asked)
    assert refused.value.detail == "lamp desk"
    if isinstance(asked, dict):
        assert refused.value.message == f'lamp desk: unknown field "{next(iter(asked))}"'
        assert refused.value.fix == 'one of glows, odd "name, watts'
