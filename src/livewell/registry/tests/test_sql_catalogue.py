"""The catalogue of keys: Livewell's own table or the user's, walked in order by what is active."""

import pytest

from livewell.kernel import Database
from livewell.registry import InvalidKeys, UnknownType
from livewell.registry.tests.surface import NOON, Registry
from livewell.testing import make_type

DISABLE = "select livewell.set_keys_active($1, $2, false, 'a test', 'tests', $3)"
ENABLE = "select livewell.set_keys_active($1, $2, true, 'a test', 'tests', $3)"


async def test_a_walk_reaches_every_active_key_once(registry: Registry, owner: Database) -> None:
    """From the beginning, page after page, each active key comes once and in order."""
    await make_type(owner, "quote")
    keys = [f"K{number:03}" for number in range(100)]
    await registry.import_keys("quote", keys)
    await owner.fetchval(DISABLE, "quote", keys[::10], NOON)
    seen: list[str] = []
    while page := await registry.keys_after("quote", seen[-1] if seen else None, 7):
        seen += page
    assert seen == [key for key in keys if key not in keys[::10]]


async def test_a_users_table_is_walked_too(registry: Registry, owner: Database) -> None:
    """A table of the user's is a catalogue: active by its column, each key once, what is no key passed over."""
    await owner.execute("create table public.symbols (symbol varchar(20), on_list boolean, mic text)")
    await owner.execute("grant select on public.symbols to livewell_reader")
    await owner.execute(
        "insert into public.symbols values ('B', true), ('A', true), ('A', true), ('C', false), ('D', null),"
        " (null, true), ('E F', true)"
    )
    keys = {"keys_table": "public.symbols", "keys_key_column": "symbol"}
    await make_type(owner, "quote", **keys, keys_active_column="on_list", keys_exchange_column="mic")
    await make_type(owner, "profile", **keys)
    assert await registry.keys_after("quote") == ["A", "B"]
    assert await registry.keys_after("quote", "A") == ["B"]
    assert await registry.keys_after("profile") == ["A", "B", "C", "D"]


async def test_a_catalogue_that_cannot_be_read_has_no_keys(registry: Registry, owner: Database) -> None:
    """A table that is gone or may not be read is warned about and stops nobody."""
    await make_type(owner, "quote", keys_table="public.gone", keys_key_column="symbol")
    assert await registry.keys_after("quote") == []
    assert await registry.warnings() == [("registry.catalogue_failed", "quote")]
    with pytest.raises(UnknownType):
        await registry.keys_after("nothing")


async def test_an_import_is_whole_or_nothing(registry: Registry, owner: Database) -> None:
    """One key that is none, or an exchange that is no code, and nothing is imported; the positions are told."""
    await make_type(owner, "quote")
    for keys, exchanges, strange in [
        (["A", "B C", "D", ""], None, "2,4"),
        (["A", "B"], ["XNYS", "new york"], "2"),
        (["A", "B' or true"], None, "2"),
    ]:
        with pytest.raises(InvalidKeys) as refused:
            await registry.import_keys("quote", keys, exchanges)
        assert refused.value.detail == strange
    assert await registry.keys_after("quote") == []


async def test_importing_again_keeps_what_was_tuned(registry: Registry, owner: Database) -> None:
    """A key that is there stays disabled; an exchange that is said replaces the one it had, one that is not stays."""
    await make_type(owner, "quote")
    assert await registry.import_keys("quote", ["A", "B", "A"], ["XNYS", None, "XLON"]) == (2, 0)
    await owner.fetchval(DISABLE, "quote", ["A"], NOON)
    assert await registry.import_keys("quote", ["A", "B", "C"], [None, "XTKS", None]) == (1, 1)
    rows = await owner.fetch("select key, active, exchange from livewell.list_keys('quote')")
    assert [tuple(row) for row in rows] == [("A", False, "XLON"), ("B", True, "XTKS"), ("C", True, None)]


async def test_keys_are_enabled_and_disabled_together(registry: Registry, owner: Database) -> None:
    """All named keys change or, when one is not there, none; what changed is counted and audited."""
    await make_type(owner, "quote")
    await registry.import_keys("quote", ["A", "B"])
    with pytest.raises(InvalidKeys, match="no key 'C'"):
        await owner.fetchval(DISABLE, "quote", ["A", "C"], NOON)
    assert await registry.keys_after("quote") == ["A", "B"]
    assert await owner.fetchval(DISABLE, "quote", ["A", "B"], NOON) == 2
    assert await owner.fetchval(ENABLE, "quote", ["A"], NOON) == 1
    assert await owner.fetchval(ENABLE, "quote", ["A"], NOON) == 0
    events = await owner.fetch(
        "select event from livewell_private.audit_entry where table_name = 'type_key' order by id"
    )
    assert [row["event"] for row in events] == ["keys_imported", "keys_disabled", "keys_enabled"]


async def test_a_users_table_is_not_written(registry: Registry, owner: Database) -> None:
    """Where the keys are a user's, importing and disabling are refused with where to do it."""
    await make_type(owner, "quote", keys_table="public.symbols", keys_key_column="symbol")
    with pytest.raises(InvalidKeys, match="are those of public"):
        await registry.import_keys("quote", ["A"])
    with pytest.raises(InvalidKeys, match="are those of public"):
        await owner.fetchval(DISABLE, "quote", ["A"], NOON)


async def test_a_page_of_a_large_catalogue_is_read_by_its_index(registry: Registry, owner: Database) -> None:
    """A page costs its keys, not the catalogue: of 50,000 keys, own or the user's, about one page is read."""
    await owner.execute("create table public.symbols (symbol text primary key, on_list boolean)")
    await owner.execute("grant select on public.symbols to livewell_reader")
    await make_type(owner, "quote", keys_table="public.symbols", keys_key_column="symbol", keys_active_column="on_list")
    await make_type(owner, "own")
    await owner.execute("insert into public.symbols select 'K' || n, true from generate_series(10000, 59999) n")
    await owner.execute(
        "insert into livewell_private.type_key (data_type, key) select 'own', symbol from public.symbols"
    )
    await owner.execute("analyze public.symbols, livewell_private.type_key")
    for name in ("quote", "own"):
        query = await owner.fetchval(
            "select livewell_private.catalogue_query(t) from livewell_private.data_type as t where t.name = $1", name
        )
        plan = await owner.fetch(
            "explain (analyze, format text) select distinct c.key from ("
            + query.replace("$1", f"""'{{"type": "{name}"}}'::jsonb""")
            + ") as c where c.active and c.key > 'K30000' and c.key ~ '^K' order by c.key limit 500"
        )
        text = "\n".join(row[0] for row in plan)
        assert "Index" in text, text
        assert "Seq Scan" not in text, text
        assert "Sort" not in text, text
