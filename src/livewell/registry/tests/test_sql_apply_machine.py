"""Whatever is declared: the plan is the change, applied twice is applied once, refused changes nothing."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livewell.kernel import Connection, DatabaseOptions, LivewellError, connect
from livewell.registry.tests.surface import Registry
from livewell.testing import effort

FIELDS = {
    "description": st.sampled_from(["", "prices", None]),
    "ttl": st.sampled_from(["1 minute", "60 seconds", "2 hours", "1 day", "0", "-1 day", None, "soon"]),
    "endpoint": st.sampled_from(["sim/quote", "sim/none", None]),
    "gate": st.sampled_from(["always", "market_hours", "public.gone", None, "bad gate"]),
    "strategy": st.sampled_from(["on_demand", "both", "scheduled", "never"]),
    "cron": st.sampled_from(["@daily", "0 0 30 2 *", None, "x"]),
    "priority_floor": st.sampled_from([0, 500, 1000, -1, None]),
    "keys_per_request": st.integers(-1, 1001),
    "value_rule": st.sampled_from(["contract", "observed", "other"]),
    "read_rule": st.sampled_from(["nobody", "signed_in", "public", "other"]),
    "enabled": st.booleans(),
    "colour": st.just("red"),
}
DECLARATIONS = st.dictionaries(
    st.sampled_from(["quote", "profile", "Bad"]),
    st.one_of(
        st.fixed_dictionaries({"ttl": FIELDS["ttl"], "endpoint": st.just("sim/quote")}),
        st.fixed_dictionaries({}, optional={name: values for name, values in FIELDS.items() if name != "colour"}),
        st.fixed_dictionaries({}, optional=FIELDS),
    ),
    max_size=3,
)


async def _rows(connection: Connection) -> list[Any]:
    rows = await connection.fetch(
        "select to_jsonb(t) - 'updated_at' - 'created_at' from livewell_private.data_type t order by 1"
    )
    return [row[0] for row in rows]


async def _applied(url: str, batches: list[dict[str, Any]]) -> None:
    connection = await connect(DatabaseOptions(url=url))
    transaction = connection.transaction()
    await transaction.start()
    try:
        for declared in batches:
            await _one(connection, Registry(connection), declared)
        await transaction.rollback()
    finally:
        await connection.close()


async def _one(connection: Connection, registry: Registry, declared: dict[str, Any]) -> None:
    before = await _rows(connection)
    planned = await _tried(connection, registry, declared, plan_only=True)
    assert await _rows(connection) == before, "a plan changed something"
    assert await _tried(connection, registry, declared, plan_only=False) == planned, "the change was not as planned"
    after = await _rows(connection)
    if isinstance(planned, str):
        assert after == before, "what was refused changed something"
        return
    assert (after == before) == all(change == "same" for _, change, *_ in planned)
    again = await registry.apply(declared)
    assert {change for _, change, *_ in again} <= {"same"}, "applied again, something changed"


async def _tried(connection: Connection, registry: Registry, declared: Any, *, plan_only: bool) -> Any:
    """The answer, or the words of the refusal; a refusal undoes only itself."""
    try:
        async with connection.transaction():
            return await registry.apply(declared, plan_only=plan_only)
    except LivewellError as fact:
        return str(fact)


@pytest.mark.hypothesis
def test_the_plan_is_the_change_and_applying_twice_is_applying_once(registry: Registry, owner_url: str) -> None:
    """For any sequence of declarations, sound or not, plan and change agree and a second time changes nothing."""

    @effort(40)
    @given(st.lists(DECLARATIONS, min_size=1, max_size=4))
    def holds(batches: list[dict[str, Any]]) -> None:
        asyncio.run(_applied(owner_url, batches))

    holds()
