"""Gates: a type is refreshed only while its gate is open; what nobody can say is open, with a warning."""

from datetime import datetime, timedelta

import pytest

from livewell.kernel import Database
from livewell.registry import InvalidCalendar, UnknownType
from livewell.registry.tests.surface import MINUTE, NOON, Registry
from livewell.testing import make_type

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
FORM = "(p_keys text[], p_now timestamptz) returns table (key text, open boolean, opens_at timestamptz) language sql"


async def put_sessions(caller: Database, exchange: str, *sessions: tuple[datetime, datetime]) -> int:
    """Write sessions of an exchange that is known for a week around noon."""
    return int(
        await caller.fetchval(
            "select livewell.put_calendar($1, $2, $3, $4, $5, $6)",
            exchange,
            NOON - 7 * DAY,
            NOON + 7 * DAY,
            [opens for opens, _ in sessions],
            [closes for _, closes in sessions],
            NOON,
        )
    )


async def test_a_gate_that_is_always_open_is_not_asked(registry: Registry, owner: Database) -> None:
    """Without a gate every key may be refreshed at any time."""
    await make_type(owner, "quote")
    assert await registry.gates("quote", "A", "B", "A") == {"A": (True, None), "B": (True, None)}
    with pytest.raises(UnknownType):
        await registry.gates("nothing", "A")


async def test_a_users_gate_decides(registry: Registry, owner: Database) -> None:
    """A function of the user's says which keys are open and when the others open; twice named, one open is enough."""
    await owner.execute(
        f"create function public.on_day{FORM} as"
        " $$select k, k = 'A' and n = 2, $2 + interval '1 h' from unnest($1) k, generate_series(1, 2) n$$"
    )
    await make_type(owner, "quote", gate="public.on_day")
    assert await registry.gates("quote", "A", "B") == {"A": (True, None), "B": (False, NOON + HOUR)}
    assert await registry.warnings() == []


async def test_a_gate_that_fails_is_open(registry: Registry, owner: Database) -> None:
    """A gate that raises, is gone or says nothing of a key holds nothing back, and is warned about."""
    await owner.execute(
        f"create function public.raises{FORM} as 'select k, 1 / (k <> k)::int = 1, $2 from unnest($1) k'"
    )
    await owner.execute(f"create function public.silent{FORM} as 'select ''A''::text, false, null::timestamptz'")
    for name in ("raises", "gone", "silent"):
        await make_type(owner, name, gate=f"public.{name}")
    assert await registry.gates("raises", "A") == {"A": (True, None)}
    assert await registry.gates("gone", "A") == {"A": (True, None)}
    assert await registry.gates("silent", "A", "B") == {"A": (False, None), "B": (True, None)}
    assert await registry.warnings() == [
        ("registry.gate_failed", "gone"),
        ("registry.gate_failed", "raises"),
        ("registry.gate_silent", "silent"),
    ]


async def test_market_hours_are_open_from_the_first_moment_to_the_last(registry: Registry, owner: Database) -> None:
    """A session includes the moment it opens and not the one it closes; a break between two is closed."""
    await make_type(owner, "quote", gate="market_hours")
    await put_sessions(owner, "XNYS", (NOON, NOON + HOUR), (NOON + 2 * HOUR, NOON + 3 * HOUR))
    moment = timedelta(microseconds=1)
    for now, expected in [
        (NOON - moment, (False, NOON)),
        (NOON, (True, None)),
        (NOON + HOUR - moment, (True, None)),
        (NOON + HOUR, (False, NOON + 2 * HOUR)),
        (NOON + 2 * HOUR, (True, None)),
        (NOON + 3 * HOUR, (False, NOON + 7 * DAY)),
    ]:
        assert await registry.gates("quote", "A", now=now) == {"A": expected}, now
    assert await registry.warnings() == []


async def test_an_exchange_that_is_not_known_is_open(registry: Registry, owner: Database) -> None:
    """Outside the time its sessions were written for, and of an exchange never heard of, the gate is open and warns."""
    await make_type(owner, "quote", gate="market_hours")
    await put_sessions(owner, "XNYS", (NOON, NOON + HOUR))
    assert await registry.gates("quote", "A", now=NOON + 7 * DAY) == {"A": (True, None)}
    assert await registry.gates("quote", "A", now=NOON - 8 * DAY) == {"A": (True, None)}
    assert await registry.gates("quote", "A.L", "A") == {"A.L": (True, None), "A": (True, None)}
    await owner.execute("delete from livewell_private.exchange_rule")
    assert await registry.gates("quote", "A", now=NOON - HOUR) == {"A": (True, None)}
    assert set(await registry.warnings()) == {
        ("registry.calendar_unknown", ""),
        ("registry.calendar_unknown", "XLON"),
        ("registry.calendar_unknown", "XNYS"),
    }


async def test_a_key_has_the_exchange_of_its_catalogue_then_of_its_suffix(registry: Registry, owner: Database) -> None:
    """The catalogue decides, then what follows the last point of a key, then the rule for all others."""
    await make_type(owner, "quote", gate="market_hours")
    await registry.import_keys("quote", ["C", "D.L", "E.L"], ["XTKS", "XTKS", None])
    found = await owner.fetch(
        "select key, exchange from livewell_private.exchanges_of('quote', $1, $2)",
        ["A", "A.L", "a.de", "BRK.B", "A.B.HK", "C", "D.L", "E.L", "^GSPC"],
        NOON,
    )
    assert {row["key"]: row["exchange"] for row in found} == {
        "A": "XNYS",
        "A.L": "XLON",
        "a.de": "XETR",
        "BRK.B": "XNYS",
        "A.B.HK": "XHKG",
        "C": "XTKS",
        "D.L": "XTKS",
        "E.L": "XLON",
        "^GSPC": "XNYS",
    }


async def test_a_users_catalogue_has_the_exchange(registry: Registry, owner: Database) -> None:
    """The exchange of a key may come from a table of the user's; one that cannot be read leaves it to the rules."""
    await owner.execute("create table public.symbols (symbol text, mic text)")
    await owner.execute("insert into public.symbols values ('A', 'XLON'), ('B', null)")
    keys = {"keys_table": "public.symbols", "keys_key_column": "symbol", "keys_exchange_column": "mic"}
    await make_type(owner, "quote", gate="market_hours", **keys)
    exchanges = "select exchange from livewell_private.exchanges_of('quote', array['A', 'B'], $1) order by key"
    assert [row[0] for row in await owner.fetch(exchanges, NOON)] == ["XNYS", "XNYS"]
    assert await registry.warnings() == [("registry.catalogue_failed", "quote")]
    await owner.execute("grant select on public.symbols to livewell_reader")
    assert [row[0] for row in await owner.fetch(exchanges, NOON)] == ["XLON", "XNYS"]


async def test_rules_are_data(registry: Registry, owner: Database) -> None:
    """A rule is set, changed and taken away by the owner, audited; what is watched is looked at again."""
    await make_type(owner, "quote", gate="market_hours")
    await owner.execute(
        "insert into livewell_private.item (data_type, key, viewers, due_at) values ('quote', 'A.SW', 1, $1)",
        NOON + DAY,
    )
    rule = "select livewell.set_exchange_rule($1, $2, 'a test', 'tests', $3)"
    assert await owner.fetchval(rule, ".SW", "XSWX", NOON) is True
    assert await owner.fetchval(rule, ".SW", "XSWX", NOON) is False
    assert await owner.fetchval("select due_at from livewell_private.item") == NOON
    assert (
        await owner.fetchval("select exchange from livewell_private.exchanges_of('quote', array['A.SW'], now())")
        == "XSWX"
    )
    assert await owner.fetchval(rule, ".SW", None, NOON) is True
    assert (
        await owner.fetchval("select count(*) from livewell_private.audit_entry where table_name = 'exchange_rule'")
        == 2
    )
    for suffix, exchange in [("SW", "XSWX"), (".SW", "swiss"), (".S W", "XSWX"), (None, "XSWX"), ("'", "X")]:
        with pytest.raises(InvalidCalendar):
            await owner.fetchval(rule, suffix, exchange, NOON)


async def test_sessions_that_cannot_be_are_refused(database: Database) -> None:
    """Sessions open before they close, one after the other, within the time that is written."""
    for sessions in [
        [(NOON, NOON)],
        [(NOON, NOON + HOUR), (NOON + 59 * MINUTE, NOON + 2 * HOUR)],
        [(NOON - 8 * DAY, NOON)],
        [(NOON + 8 * DAY, NOON + 9 * DAY)],
    ]:
        with pytest.raises(InvalidCalendar):
            await put_sessions(database, "XNYS", *sessions)
    with pytest.raises(InvalidCalendar):
        await put_sessions(database, "NYSE;", (NOON, NOON + HOUR))


async def test_a_session_that_moved_makes_its_items_due(registry: Registry, owner: Database) -> None:
    """When a session that was known is another, what waits for a gate is looked at; the same sessions move nothing."""
    await make_type(owner, "quote", gate="market_hours")
    await make_type(owner, "other")
    assert await put_sessions(owner, "XNYS", (NOON + HOUR, NOON + 3 * HOUR)) == 1
    await owner.execute(
        "insert into livewell_private.item (data_type, key, viewers, due_at)"
        " values ('quote', 'A', 1, $1), ('other', 'A', 1, $1)",
        NOON + DAY,
    )
    due = "select count(*) from livewell_private.item where due_at = $1"
    assert await put_sessions(owner, "XNYS", (NOON + HOUR, NOON + 3 * HOUR)) == 0
    assert await owner.fetchval(due, NOON) == 0
    assert await put_sessions(owner, "XNYS", (NOON + HOUR, NOON + 2 * HOUR), (NOON + 4 * HOUR, NOON + 5 * HOUR)) == 2
    assert await owner.fetchval(due, NOON) == 1
    rows = await owner.fetch("select opens_at, closes_at from livewell_private.market_session order by opens_at")
    assert [tuple(row) for row in rows] == [(NOON + HOUR, NOON + 2 * HOUR), (NOON + 4 * HOUR, NOON + 5 * HOUR)]
