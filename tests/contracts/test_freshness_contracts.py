"""Contracts 4, 12 and 18: a bad type stops only itself, a tick costs what is due, users need no rights; with guards."""

import pytest

from livewell.freshness.tests.surface import DAY, MINUTE, NOON, Freshness
from livewell.kernel import Database, LivewellError
from livewell.presence.tests.test_check_on_subscribe import check
from livewell.testing import make_table, make_type
from tests.contracts.guards import take_away

WATCHED = 2_000
DUE = 10


async def _one_bad_type_stops_only_itself(owner: Database) -> None:
    """A type without its table, one whose function raises, a poisoned row: all else is judged in the same run."""
    freshness = Freshness(owner)
    await owner.execute(
        """
        create function public.raises(p_fetched_at timestamptz, p_ttl interval, p_now timestamptz) returns boolean
        language plpgsql as $$ begin raise exception 'not today'; end $$
        """
    )
    await make_type(owner, "lost", table_name="public.nowhere", key_column="symbol", time_column="fetched_at")
    await make_type(owner, "odd", staleness="public.raises")
    await owner.execute(
        "insert into livewell_private.record (data_type, key, value, fetched_at) values ('odd', 'A', '{}', $1)", NOON
    )
    await make_type(owner, "quote", **await make_table(owner, "public.quotes", ttl_column="keep"))
    await owner.execute("insert into public.quotes values ('GOOD', $1, null, null), ('BAD', $1, null, '-1 hour')", NOON)
    await make_type(owner, "note")
    for data_type, keys in (("lost", ["A"]), ("odd", ["A"]), ("quote", ["GOOD", "BAD"]), ("note", ["A"])):
        await freshness.watch(data_type, keys)
    assert await freshness.tick(NOON + MINUTE / 2) == {"checked": 5, "queued": 4, "fresh": 1}
    assert sorted(subject for _, subject in await freshness.warnings()) == ["lost", "odd", "quote"]


async def _costs_what_is_due(owner: Database) -> None:
    """Of thousands of watched items only those that are due are read."""
    freshness = Freshness(owner)
    await make_type(owner, "note", ttl=DAY)
    ids = await freshness.watch("note", [f"K{number}" for number in range(WATCHED)])
    await owner.execute("update livewell_private.item set due_at = $1", NOON + DAY)
    await owner.execute("update livewell_private.item set due_at = $1 where id = any ($2)", NOON, ids[:DUE])
    await owner.execute("vacuum analyze livewell_private.item")
    async with owner.transaction() as transaction:
        before = await _read(transaction)
        assert (await Freshness(transaction).tick(NOON))["checked"] == DUE
        read = await _read(transaction) - before
    assert read <= 20 * DUE, f"{read} rows were read for {DUE} that are due"


async def _read(transaction: object) -> int:
    return int(
        await transaction.fetchval(  # type: ignore[attr-defined]
            "select seq_tup_read + coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables"
            " where schemaname = 'livewell_private' and relname = 'item'"
        )
    )


async def test_contract_4(owner: Database) -> None:
    """Contract 4: one bad data type stops only itself."""
    await _one_bad_type_stops_only_itself(owner)


async def test_contract_12(owner: Database) -> None:
    """Contract 12: checking many watched items cannot overwhelm the database: a tick costs what is due."""
    await _costs_what_is_due(owner)


async def test_contract_4_needs_its_guard(owner: Database) -> None:
    """Without the handler around a type's check, one bad type ends the whole run."""
    await take_away(owner, "judge_items", "exception when others then", "exception when assert_failure then")
    with pytest.raises(LivewellError):
        await _one_bad_type_stops_only_itself(owner)


async def test_contract_4_needs_halves(owner: Database) -> None:
    """Without halving, one poisoned row makes its whole slice stale."""
    await take_away(owner, "judge_items", "v_half = 0 or", "true or")
    with pytest.raises(AssertionError):
        await _one_bad_type_stops_only_itself(owner)


async def test_contract_12_needs_the_due_index(owner: Database) -> None:
    """Without its index a tick reads everything that is watched."""
    await owner.execute("drop index livewell_private.item_due")
    with pytest.raises(AssertionError, match="rows were read"):
        await _costs_what_is_due(owner)


async def test_contract_12_needs_the_due_time(owner: Database) -> None:
    """A tick that looks at everything watched is found out."""
    await take_away(owner, "check_due", "i.watched and i.due_at <= p_now", "i.watched")
    with pytest.raises(AssertionError):
        await _costs_what_is_due(owner)


async def test_contract_18(owner: Database) -> None:
    """Contract 18: a user's check on subscribe needs no rights on tables."""
    await make_type(owner, "note")
    assert await check(owner, ["note"], "AAPL") == {"note": "queued"}


async def test_contract_18_needs_its_guard(owner: Database) -> None:
    """With the rights of the caller the check cannot read what it decides by."""
    await make_type(owner, "note")
    await owner.execute("alter function livewell.check_on_subscribe(text[], text) security invoker")
    with pytest.raises(LivewellError, match="permission denied"):
        await check(owner, ["note"], "AAPL")
