"""Storing into tables as users make them: many rows per key, odd names, own types, and what is wrong with them."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from livewell.fetching.tests.storing_surface import HOUR, MINUTE, NOON, Storing, fetched, make_quotes, unchanged
from livewell.kernel import Database
from livewell.testing import grant_table, make_type

STORED = ("completed", "fetched", None)
ODD = """
create schema shop;
create type shop.mood as enum ('calm', 'wild');
create domain shop.share as numeric(6, 4) check (value between 0 and 1);
create table shop."Odd_Table" (
    id bigint generated always as identity primary key,
    "Key_Column" varchar(20) not null unique,
    "Weird Name" numeric(10, 2),
    "select" shop.mood,
    "quo""te" shop.share,
    tags text[],
    details jsonb,
    seen timestamptz,
    day date,
    doubled numeric generated always as ("Weird Name" * 2) stored,
    ttl_minutes integer,
    extra text default 'mine',
    first_seen_at timestamp,
    "At" timestamp
);
grant usage on schema shop to livewell_reader;
grant select on shop."Odd_Table" to livewell_reader;
grant insert, update on shop."Odd_Table" to livewell_writer;
"""
STATEMENTS = """
create table public.statements (
    symbol text not null, period text not null, revenue numeric not null, filed_at timestamptz, fetched_at timestamptz,
    first_seen_at timestamptz, primary key (period, symbol)
);
grant select on public.statements to livewell_reader;
grant insert, update on public.statements to livewell_writer;
"""


async def make_statements(owner: Database, **fields: Any) -> None:
    await owner.execute(STATEMENTS)
    columns = {"table_name": "public.statements", "key_column": "symbol", "time_column": "fetched_at"}
    await make_type(owner, "statements", **columns, **fields)


def statement(period: str, revenue: float, **fields: Any) -> dict[str, Any]:
    return {"symbol": "AAPL", "period": period, "revenue": revenue, **fields}


async def test_a_table_of_the_users_own(owner: Database, storing: Storing) -> None:
    """Any schema, names, types, defaults and generated columns: what the model has is stored, the rest left alone."""
    await owner.execute(ODD)
    await make_type(
        owner,
        "odd",
        table_name="shop.Odd_Table",
        key_column="Key_Column",
        time_column="At",
        ttl_column="ttl_minutes",
    )
    row = {
        "Weird Name": Decimal("12.34"),
        "select": "wild",
        'quo"te': 0.5,
        "tags": ["a", "b,c"],
        "details": {"deep": [1, None]},
        "seen": NOON,
        "day": date(2026, 11, 16),
        "doubled": 0,
        "ttl_minutes": 1,
        "id": 77,
    }
    assert await storing.fetch("odd", {"A": row}) == {"A": STORED}
    await owner.execute("""update shop."Odd_Table" set ttl_minutes = 5, extra = 'kept'""")
    assert await storing.fetch("odd", {"A": {**row, "Weird Name": 1, "tags": None}}, NOON + HOUR) == {"A": STORED}
    [stored] = await owner.fetch('select t.*, details::text as json from shop."Odd_Table" as t')
    assert {name: value for name, value in stored.items() if name not in {"details", "id"}} == {
        "Key_Column": "A",
        "Weird Name": Decimal("1.00"),
        "select": "wild",
        'quo"te': Decimal("0.5000"),
        "tags": None,
        "json": '{"deep": [1, null]}',
        "seen": NOON,
        "day": date(2026, 11, 16),
        "doubled": Decimal("2.00"),
        "ttl_minutes": 5,
        "extra": "kept",
        "first_seen_at": NOON.replace(tzinfo=None),
        "At": (NOON + HOUR).replace(tzinfo=None),
    }


async def test_many_rows_per_key(owner: Database, storing: Storing) -> None:
    """Rows of a key are told apart by the unique key; those no longer sent are kept, and the time of all moves."""
    await make_statements(owner)
    await storing.fetch("statements", {"AAPL": [statement("Q1", 1), statement("Q2", 2)]})
    await storing.fetch("statements", {"MSFT": {"period": "Q1", "revenue": 7}})
    assert await storing.fetch("statements", {"AAPL": [statement("Q3", 3), statement("Q2", 5)]}, NOON + HOUR) == {
        "AAPL": STORED
    }
    columns = "symbol, period, revenue::int, fetched_at, first_seen_at"
    assert await storing.table("public.statements", columns) == [
        ("AAPL", "Q1", 1, NOON + HOUR, NOON),
        ("AAPL", "Q2", 5, NOON + HOUR, NOON),
        ("AAPL", "Q3", 3, NOON + HOUR, NOON + HOUR),
        ("MSFT", "Q1", 7, NOON, NOON),
    ]
    held = await storing.hold_one("statements", now=NOON + 2 * HOUR)
    assert await storing.end(unchanged(held), now=NOON + 2 * HOUR) == {
        "AAPL": ("completed", "unchanged", "not_modified")
    }
    assert {row[3] for row in await storing.table("public.statements", columns) if row[0] == "AAPL"} == {
        NOON + 2 * HOUR
    }


@pytest.mark.parametrize(
    ("rule", "rows", "expected", "revenues"),
    [
        ("newer", [("Q1", 0), ("Q2", 0)], ("completed", "unchanged", "same_source_time"), [1, 1]),
        ("newer", [("Q1", 0), ("Q2", 1)], STORED, [1, 9]),
        ("newer", [("Q1", 0), ("Q3", 0)], STORED, [1, 1, 9]),
        ("not_older", [("Q1", 0), ("Q2", 1)], STORED, [9, 9]),
        ("not_older", [("Q1", -1), ("Q2", 1)], ("pending", "refused", "old_data"), [1, 1]),
    ],
)
async def test_source_times_of_many_rows(
    owner: Database, storing: Storing, rule: str, rows: list[tuple[str, int]], expected: Any, revenues: list[int]
) -> None:
    """Each row is compared with its own; one that is older refuses all of its key, and one that is newer is news."""
    await make_statements(owner, source_time_column="filed_at", source_rule=rule)
    first = [statement(period, 1, filed_at=NOON) for period in ("Q1", "Q2")]
    await storing.fetch("statements", {"AAPL": first})
    later = [statement(period, 9, filed_at=NOON + by * MINUTE) for period, by in rows]
    assert await storing.fetch("statements", {"AAPL": later}, NOON + HOUR) == {"AAPL": expected}
    stored = await storing.table("public.statements", "revenue::int, fetched_at, period", "period")
    assert [row[0] for row in stored] == revenues
    assert {row[1] for row in stored} == {NOON + HOUR if expected[0] == "completed" else NOON}


@pytest.mark.parametrize("place", [0, 17, 49])
async def test_one_bad_row(owner: Database, storing: Storing, place: int) -> None:
    """A row that the table refuses is refused alone, with what the database says; the rest of the batch is stored."""
    await make_quotes(owner)
    keys = [f"K{n:02}" for n in range(50)]
    rows: dict[str, dict[str, Any]] = {key: {"price": 1} for key in keys}
    rows[keys[place]]["price"] = -1
    answer = await storing.fetch("quote", rows)
    assert answer.pop(keys[place]) == ("pending", "refused", "constraint")
    assert set(answer.values()) == {STORED}
    assert await owner.fetchval("select count(*) from public.quotes") == 49
    count, message = (await storing.warnings())["quote"]
    assert count == 1
    assert keys[place] in message
    assert "quotes_price_check" in message


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{"price": -1}], "constraint"),
        ([{"price": None}], "constraint"),
        ([{"price": "much"}], "value"),
        ([{"price": 1, "volume": 2**70}], "value"),
        ([{"price": 1}, {"price": 2}], "duplicate_rows"),
        ([{"price": 1, "symbol": "MSFT"}], "wrong_key"),
        ([], "empty"),
        ([1], "schema"),
        ([{"price": 1}, 1], "value"),
        ([{"price": 1, "name": "x"}], "table"),
        ([{}], "schema"),
    ],
)
async def test_refusals(owner: Database, storing: Storing, rows: list[Any], reason: str) -> None:
    """What cannot be believed or stored is refused with its reason, a warning is counted, nothing of it is stored."""
    await make_quotes(owner)
    held = await storing.hold_one("quote")
    assert await storing.end(fetched(held, *rows)) == {"AAPL": ("pending", "refused", reason)}
    assert await storing.table("public.quotes") == []
    assert (await storing.warnings())["quote"][0] == 1
    assert (await storing.item(held["item"]))["last_outcome"] == "refused"


async def test_a_row_without_its_part_of_the_key(owner: Database, storing: Storing) -> None:
    """Where a part of the unique key may be null, a row without it would never be found again: refused."""
    await owner.execute(STATEMENTS)
    await owner.execute("alter table public.statements drop constraint statements_pkey, alter period drop not null")
    await owner.execute("create unique index on public.statements (symbol, period)")
    columns = {"table_name": "public.statements", "key_column": "symbol", "time_column": "fetched_at"}
    await make_type(owner, "statements", **columns)
    answer = await storing.fetch(
        "statements", {"A": {"period": None, "revenue": 1}, "B": {"period": "Q", "revenue": 1}}
    )
    assert answer == {"A": ("pending", "refused", "missing_key"), "B": STORED}


@pytest.mark.parametrize(
    "change",
    [
        "drop table public.quotes",
        "alter table public.quotes drop column price",
        "alter table public.quotes drop constraint quotes_pkey",
        "alter table public.quotes rename fetched_at to other",
        "revoke insert on public.quotes from livewell_writer",
    ],
)
async def test_a_table_that_is_wrong_stops_its_type_alone(owner: Database, storing: Storing, change: str) -> None:
    """A table that is gone, altered or closed refuses its own refreshes, and says so; other types are stored."""
    await make_quotes(owner)
    await make_type(owner, "note")
    await owner.execute(change)
    [note] = await storing.hold("note", "N")
    held = await storing.hold("quote", "A", "B")
    answer = await storing.end(fetched(note, {"a": 1}), *(fetched(job, {"price": 1}) for job in held))
    wrong = ("pending", "refused", "table")
    assert answer == {"N": STORED, "A": wrong, "B": wrong}
    assert (await storing.warnings())["quote"][0] == 2


async def test_a_trigger_that_says_no(owner: Database, storing: Storing) -> None:
    """What a trigger or a constraint that waits for the commit refuses is refused alone, too."""
    await make_quotes(owner)
    await owner.execute("create table public.listed (symbol text primary key)")
    await owner.execute("grant select on public.listed to livewell_reader")
    await owner.execute("insert into public.listed values ('A'), ('B')")
    await owner.execute(
        "alter table public.quotes add foreign key (symbol) references public.listed deferrable initially deferred"
    )
    await owner.execute(
        "create function public.no() returns trigger language plpgsql security definer as"
        " $$ begin if new.price = 13 then raise exception 'unlucky'; end if; return new; end $$"
    )
    await owner.execute("create trigger no before insert on public.quotes for each row execute function public.no()")
    answer = await storing.fetch("quote", {"A": {"price": 1}, "B": {"price": 13}, "X": {"price": 1}})
    no = ("pending", "refused", "constraint")
    assert answer == {"A": STORED, "B": no, "X": no}
    assert await storing.table("public.quotes", "symbol", "1") == [("A",)]


async def test_a_key_that_the_column_cannot_hold(owner: Database, storing: Storing) -> None:
    """A key that is none to its column is refused alone, fetched or unchanged."""
    await owner.execute("create table public.things (id integer primary key, v int, at timestamptz)")
    await grant_table(owner, "public.things")
    await make_type(owner, "thing", table_name="public.things", key_column="id", time_column="at")
    assert await storing.fetch("thing", {"1": {"v": 1}, "x": {"v": 1}}) == {
        "1": STORED,
        "x": ("pending", "refused", "value"),
    }
    held = await storing.hold("thing", "1", "x", now=NOON + MINUTE)
    assert await storing.end(*map(unchanged, held), now=NOON + MINUTE) == {
        "1": ("completed", "unchanged", "not_modified"),
        "x": ("pending", "refused", "nothing_stored"),
    }


async def test_a_key_that_is_too_long_is_not_cut(owner: Database, storing: Storing) -> None:
    """A key longer than its column is refused; cut to fit it would be another's, whose row must stay as it is."""
    await make_quotes(owner)
    await owner.execute("alter table public.quotes alter symbol type varchar(3)")
    assert await storing.fetch("quote", {"AAP": {"price": 1}, "AAPL": {"price": 2}}) == {
        "AAP": STORED,
        "AAPL": ("pending", "refused", "value"),
    }
    held = await storing.hold_one("quote", "AAPLE", now=NOON + HOUR)
    answer = await storing.end(unchanged(held), now=NOON + HOUR)
    assert answer == {"AAPLE": ("pending", "refused", "nothing_stored")}
    assert await storing.table("public.quotes", "symbol, price::int, fetched_at") == [("AAP", 1, NOON)]


async def test_another_item_than_its_jobs(owner: Database, storing: Storing) -> None:
    """A token stores only what its job is a refresh of."""
    await make_quotes(owner)
    await make_type(owner, "note")
    apple, other = await storing.hold("quote", "AAPL", "MSFT")
    for strange in (
        {"key": "MSFT"},
        {"item": other["item"]},
        {"item": other["item"], "key": "MSFT"},
        {"type": "note"},
    ):
        answer = await storing.end(fetched(apple | strange, {"price": 1}))
        assert [verdict[1:] for verdict in answer.values()] == [("refused", "unknown_item")]
        [apple] = await storing.hold("quote", "AAPL")
    assert await storing.table("public.quotes") == []
    assert await storing.table("livewell_private.record") == []


async def test_rows_with_different_columns(owner: Database, storing: Storing) -> None:
    """The columns of a batch are those of all its rows; one that a row lacks is null in it."""
    await make_quotes(owner)
    await storing.fetch("quote", {"A": {"price": 1}, "B": {"price": 2, "volume": 7}})
    assert await storing.table("public.quotes", "symbol, volume") == [("A", None), ("B", 7)]


async def test_the_ttl_of_a_row_counts(owner: Database, storing: Storing) -> None:
    """An item whose row has a TTL of its own is due at once, so that the checker sees it."""
    await owner.execute(ODD)
    columns = {"table_name": "shop.Odd_Table", "key_column": "Key_Column", "time_column": "At"}
    await make_type(owner, "odd", **columns, ttl_column="ttl_minutes", ttl=timedelta(days=1))
    held = await storing.hold_one("odd")
    await storing.end(fetched(held, {"Weird Name": 1}))
    assert (await storing.item(held["item"]))["due_at"] == NOON


# A type as an extension brings it: a text with operators of its own, outside every pinned path.
FOLDED = """
create schema folded;
grant usage on schema folded to public;
create type folded.code;
create function folded.code_in(cstring) returns folded.code language internal immutable strict as 'textin';
create function folded.code_out(folded.code) returns cstring language internal immutable strict as 'textout';
create type folded.code (input = folded.code_in, output = folded.code_out, like = text, collatable = true);
create cast (folded.code as text) without function as implicit;
create function folded.eq(folded.code, folded.code) returns boolean language internal immutable strict as 'texteq';
create function folded.lt(folded.code, folded.code) returns boolean language internal immutable strict as 'text_lt';
create function folded.le(folded.code, folded.code) returns boolean language internal immutable strict as 'text_le';
create function folded.ge(folded.code, folded.code) returns boolean language internal immutable strict as 'text_ge';
create function folded.gt(folded.code, folded.code) returns boolean language internal immutable strict as 'text_gt';
create function folded.cmp(folded.code, folded.code) returns integer language internal immutable strict as 'bttextcmp';
create operator folded.= (leftarg = folded.code, rightarg = folded.code, procedure = folded.eq, restrict = eqsel);
create operator folded.< (leftarg = folded.code, rightarg = folded.code, procedure = folded.lt);
create operator folded.<= (leftarg = folded.code, rightarg = folded.code, procedure = folded.le);
create operator folded.>= (leftarg = folded.code, rightarg = folded.code, procedure = folded.ge);
create operator folded.> (leftarg = folded.code, rightarg = folded.code, procedure = folded.gt);
create operator class folded.code_ops default for type folded.code using btree as
    operator 1 folded.<, operator 2 folded.<=, operator 3 folded.=, operator 4 folded.>=, operator 5 folded.>,
    function 1 folded.cmp(folded.code, folded.code);
create table folded.prices (symbol folded.code primary key, price integer, fetched_at timestamptz);
insert into folded.prices select ('K' || n)::folded.code, 1 from generate_series(1, 5000) as n;
"""


async def test_a_key_of_an_extensions_type_is_found_by_its_index(owner: Database, storing: Storing) -> None:
    """Its equality is the extension's, not that of what it can be cast to: the table is not read for every row."""
    await owner.execute(FOLDED)
    await grant_table(owner, "folded.prices")
    await make_type(owner, "folded", table_name="folded.prices", key_column="symbol", time_column="fetched_at")
    await storing.fetch("folded", {"K7": {"price": 2}})
    held = await storing.hold_one("folded", "K7", NOON + HOUR)
    scans = "select pg_stat_get_xact_numscans('folded.prices'::regclass)"
    async with owner.transaction() as connection:
        before = await connection.fetchval(scans)
        answer = await Storing(connection).end(fetched(held, {"price": 2}), now=NOON + HOUR)
        assert await connection.fetchval(scans) == before
    assert answer == {"K7": ("completed", "unchanged", "same_content")}
