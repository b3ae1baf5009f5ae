"""Versions: what is stored has another one exactly when it is other content, and who looks is told."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from livewell.fetching import read_notice
from livewell.fetching.tests.storing_surface import (
    MINUTE,
    NOON,
    SECOND,
    Storing,
    fetched,
    make_quotes,
    refused,
    unchanged,
)
from livewell.kernel import Database
from livewell.testing import grant_table, make_type, until

STORED = ("completed", "fetched", None)
SAME = ("completed", "unchanged", "same_content")


class Ear:
    """Hears notices, and knows when all that was told before a moment has come."""

    def __init__(self, owner: Database) -> None:
        self.notices: list[str] = []
        self._owner = owner

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [pair for notice in self.notices for pair in (read_notice(notice) or {}).items()]

    async def heard(self) -> list[tuple[int, int]]:
        """What was told since it was asked last."""
        await self._owner.execute("select pg_notify('livewell_changes', 'end')")
        await until(lambda: asyncio.sleep(0, "end" in self.notices), "everything that was told has come")
        self.notices.remove("end")
        pairs, self.notices = self.pairs, []
        return pairs


@asynccontextmanager
async def listening(owner: Database) -> AsyncIterator[Ear]:
    ear = Ear(owner)
    async with owner.connection() as connection:
        await connection.add_listener("livewell_changes", lambda *notice: ear.notices.append(str(notice[-1])))
        yield ear


async def version(owner: Database, key: str = "AAPL") -> int:
    return int(await owner.fetchval("select version from livewell_private.item where key = $1", key))


async def test_ten_ninety_nine_ten(owner: Database, storing: Storing) -> None:
    """What the application wrote over is a change when it comes again: stored, told; and the source was as it was."""
    await make_quotes(owner)
    (item,) = await storing.watch("quote", "AAPL")
    await storing.fetch("quote", {"AAPL": {"price": 10}})
    before = await version(owner)
    await owner.execute("update public.quotes set price = 99")
    async with listening(owner) as ear:
        assert await storing.fetch("quote", {"AAPL": {"price": 10}}, NOON + MINUTE) == {"AAPL": STORED}
        assert await ear.heard() == [(item, await version(owner))]
    assert await version(owner) > before
    learned = await storing.item(item)
    assert (learned["fetches"], learned["changes"]) == (1, 0)


async def test_what_the_application_wrote_first_is_told_when_the_provider_has_it(
    owner: Database, storing: Storing
) -> None:
    """Nobody was told of 99 when it was written: the fetch that brings it is a change, though the row stays."""
    await make_quotes(owner)
    (item,) = await storing.watch("quote", "AAPL")
    await storing.fetch("quote", {"AAPL": {"price": 10}})
    before = await version(owner)
    await owner.execute("update public.quotes set price = 99")
    assert await storing.fetch("quote", {"AAPL": {"price": 99}}, NOON + MINUTE) == {"AAPL": STORED}
    assert await version(owner) > before
    assert (await storing.item(item))["changes"] == 1


@pytest.mark.parametrize("table", [True, False])
async def test_a_version_is_of_content(owner: Database, storing: Storing, *, table: bool) -> None:
    """None before the first content; another with each change; the same when it is confirmed, refused or gone."""
    if table:
        await make_quotes(owner)
    else:
        await make_type(owner, "quote")
    held = await storing.hold_one("quote")
    await storing.end(refused(held))
    seen = [await version(owner)]
    for minute, price in enumerate((1, 1, 2, 2), start=1):
        await storing.fetch("quote", {"AAPL": {"price": price}}, NOON + minute * MINUTE)
        seen.append(await version(owner))
    for minute, end in enumerate((unchanged, refused), start=10):
        now = NOON + minute * MINUTE
        await storing.end(end(await storing.hold_one("quote", now=now)), now=now)
        seen.append(await version(owner))
    none, first, again, second, *rest = seen
    assert (none, again) == (0, first)
    assert 0 < time.time() * 1e6 - first < 60e6
    assert second > first
    assert rest == [second] * 3


async def test_what_was_there_before_the_first_fetch_has_a_version(owner: Database, storing: Storing) -> None:
    """The application had filled the table: the first fetch that brings the same is its first version."""
    await make_quotes(owner)
    await owner.execute("insert into public.quotes (symbol, price) values ('AAPL', 1), ('MSFT', 1)")
    assert await storing.fetch("quote", {"AAPL": {"price": 1}}) == {"AAPL": STORED}
    await storing.end(unchanged(await storing.hold_one("quote", "MSFT")))
    assert await version(owner) > 0
    assert await version(owner, "MSFT") > 0


@pytest.mark.parametrize("table", [True, False])
async def test_what_is_volatile_makes_no_change(owner: Database, storing: Storing, *, table: bool) -> None:
    """The source time and volatile fields move, and are stored, while the content is the same."""
    if table:
        await make_quotes(owner, source_time_column="source_at")
    else:
        await make_type(owner, "quote", source_rule="not_older")
    for second in range(3):
        row = {"price": 1, "volume": second, "source_at": NOON + second * SECOND}
        told = {"volatile": ["volume", "source_at"], "source_time": row["source_at"], "content": "same"}
        answer = await storing.fetch("quote", {"AAPL": row}, NOON + second * MINUTE, **told)
        assert answer == {"AAPL": SAME if second else STORED}
    volume = "select volume from public.quotes" if table else "select value -> 'volume' from livewell_private.record"
    assert int(await owner.fetchval(volume)) == 2


async def test_records_of_many_rows_are_compared_in_any_order(owner: Database, storing: Storing) -> None:
    """A list of rows is the same in another order, and another without one of them."""
    await make_type(owner, "quote")
    rows = [{"day": 1, "at": 1}, {"day": 2, "at": 1}]
    told: dict[str, Any] = {"many": True, "volatile": ["at"], "content": "same"}
    await storing.fetch("quote", {"AAPL": rows}, **told)
    again = [{"day": 2, "at": 5}, {"day": 1, "at": 6}]
    assert await storing.fetch("quote", {"AAPL": again}, NOON + MINUTE, **told) == {"AAPL": SAME}
    assert await storing.fetch("quote", {"AAPL": again[:1]}, NOON + 2 * MINUTE, **told) == {"AAPL": STORED}


async def test_rows_of_many_are_one_content(owner: Database, storing: Storing) -> None:
    """One of several rows that was written over, or deleted, makes the key's content another."""
    await owner.execute(
        "create table public.days (symbol text, day integer, price integer, fetched_at timestamptz,"
        " primary key (symbol, day))"
    )
    await grant_table(owner, "public.days")
    await make_type(owner, "days", table_name="public.days", key_column="symbol", time_column="fetched_at")
    rows = [{"day": day, "price": day} for day in range(3)]
    expected = [STORED, SAME, STORED, STORED]
    spoils = ["select 1", "select 1", "update public.days set price = 9 where day = 1", "delete from public.days"]
    for minute, (spoil, outcome) in enumerate(zip(spoils, expected, strict=True)):
        await owner.execute(spoil)
        assert await storing.fetch("days", {"AAPL": rows}, NOON + minute * MINUTE) == {"AAPL": outcome}


async def test_what_a_trigger_makes_of_rows_is_what_is_stored(owner: Database, storing: Storing) -> None:
    """A trigger of the user's that changes what is stored makes no change of every fetch."""
    await make_quotes(owner)
    await owner.execute(
        "create function public.rounded() returns trigger language plpgsql as"
        " 'begin new.price := round(new.price); return new; end'"
    )
    await owner.execute(
        "create trigger rounded before insert or update on public.quotes for each row execute function public.rounded()"
    )
    outcomes = [
        (await storing.fetch("quote", {"AAPL": {"price": price}}, NOON + minute * MINUTE, content="same"))["AAPL"]
        for minute, price in enumerate((1.2, 1.2, 1.3, 2.2))
    ]
    assert outcomes == [STORED, SAME, SAME, STORED]


async def test_columns_of_any_type_and_name_are_compared(owner: Database, storing: Storing) -> None:
    """Types without an order or an equality, nulls, and columns that are called like what a statement of ours says."""
    await owner.execute(
        "create table public.odd (key text primary key, reason json, job point, was box, before text[], t jsonb,"
        " i numeric, stored text, fetched_at timestamptz)"
    )
    await grant_table(owner, "public.odd")
    await make_type(owner, "odd", table_name="public.odd", key_column="key", time_column="fetched_at")
    row: dict[str, Any] = {"reason": {"a": 1}, "job": "(1,2)", "was": None, "before": ["x"], "t": {"a": [1]}, "i": 1.5}
    changes: list[dict[str, Any]] = [{}, {}, {"reason": {"a": 2}}, {"job": "(1,3)"}, {"was": "(1,1),(0,0)"}]
    changes += [{"before": None}, {"t": {}}, {"i": 2}]
    outcomes = []
    for minute, change in enumerate(changes):
        row |= change
        answer = await storing.fetch("odd", {"A": dict(row)}, NOON + minute * MINUTE, content="same")
        outcomes.append(answer["A"])
    assert outcomes == [STORED, SAME, *[STORED] * 6]


async def test_what_is_compared_is_what_is_replaced(owner: Database, storing: Storing) -> None:
    """A row that the application changes while it is being stored is compared as it is then, not as it was read."""
    await make_quotes(owner)
    await storing.fetch("quote", {"AAPL": {"price": 10}})
    held = await storing.hold_one("quote", now=NOON + MINUTE)
    async with owner.connection() as application:
        change = application.transaction()
        await change.start()
        await application.execute("update public.quotes set price = 99")
        ending = asyncio.create_task(storing.end(fetched(held, {"price": 10}), now=NOON + MINUTE))
        await until(lambda: _waits(owner), "the store waits for the row")
        await change.commit()
        assert await ending == {"AAPL": STORED}


async def _waits(owner: Database) -> bool:
    return bool(await owner.fetchval("select exists (select from pg_locks where not granted)"))


async def test_versions_grow_when_the_clock_goes_back(owner: Database, storing: Storing) -> None:
    """A version that is ahead of the clock is still followed by a greater one."""
    await make_quotes(owner)
    await storing.fetch("quote", {"AAPL": {"price": 1}})
    ahead = int((time.time() + timedelta(days=400).total_seconds()) * 1e6)
    await owner.execute("update livewell_private.item set version = $1", ahead)
    await storing.fetch("quote", {"AAPL": {"price": 2}}, NOON + MINUTE)
    assert await version(owner) == ahead + 1
    await owner.execute("select livewell.changed('quote', '{AAPL}')")
    assert await version(owner) == ahead + 2


async def test_versions_of_writers_at_once_differ(owner: Database, storing: Storing) -> None:
    """However many change an item at once, each of them makes a version of its own, greater than the one before."""
    await make_quotes(owner)
    (item,) = await storing.watch("quote", "AAPL")
    await storing.fetch("quote", {"AAPL": {"price": 1}})
    put = "select livewell.put('quote', jsonb_build_array(jsonb_build_object('symbol', 'AAPL', 'price', $1::int)))"
    async with listening(owner) as ear:
        first = await version(owner)
        await asyncio.gather(
            *(owner.execute("select livewell.changed('quote', '{AAPL}')") for _ in range(10)),
            *(owner.execute(put, price) for price in range(2, 12)),
        )
        told = await ear.heard()
        assert {number for number, _ in told} == {item}
        versions = [told_version for _, told_version in told]
        # Notices of one sender come in the order of the commits, which is that of the locks.
        assert versions == sorted(set(versions))
        assert (len(versions), versions[0] > first, versions[-1]) == (20, True, await version(owner))


async def test_who_looks_is_told(owner: Database, storing: Storing) -> None:
    """Items that are watched are told when they change, are confirmed or are gone; others, and refusals, are not."""
    await make_quotes(owner)
    ids = await storing.watch("quote", "A", "B", "C", "D")
    await storing.fetch("quote", {key: {"price": 1} for key in "ABCDE"})
    now = NOON + MINUTE
    held = await storing.hold("quote", *"ABCDE", now=now)
    ends = [
        fetched(held[0], {"price": 1}), fetched(held[1], {"price": 2}), refused(held[2]), unchanged(held[3]),
        fetched(held[4], {"price": 2}),
    ]  # fmt: skip
    versions = [await version(owner, key) for key in "ABCD"]
    async with listening(owner) as ear:
        await storing.end(*ends, now=now)
        assert await ear.heard() == [
            (ids[0], versions[0]), (ids[1], await version(owner, "B")), (ids[3], versions[3]),
        ]  # fmt: skip
        gone = await storing.hold_one("quote", "A", now=now)
        await storing.end({**gone, "outcome": "gone"}, now=now)
        assert await ear.heard() == [(ids[0], versions[0])]


@pytest.mark.parametrize(("keys", "notices"), [(100, 1), (900, 7), (5000, 1)])
async def test_notices_are_few_and_short(owner: Database, storing: Storing, keys: int, notices: int) -> None:
    """At most 4,000 bytes each and eight a transaction; beyond that "compare all". None has a type or a key in it."""
    await make_type(owner, "note", key_pattern="^.*$")
    names = [f"key{number:04}" for number in range(keys)]
    ids = await storing.watch("note", *names)
    held = await storing.hold("note", *names)
    async with listening(owner) as ear:
        await storing.end(*(fetched(job, {"a": 1}) for job in held))
        await owner.execute("select pg_notify('livewell_changes', 'end')")
        await until(lambda: asyncio.sleep(0, "end" in ear.notices), "all notices have come")
        ear.notices.remove("end")
    assert len(ear.notices) <= notices
    assert max(len(notice) for notice in ear.notices) <= 4000
    assert not any("note" in notice or "key" in notice for notice in ear.notices)
    if keys == 5000:
        assert ear.notices == ["[]"]
    else:
        assert [item for item, _ in ear.pairs] == sorted(ids)


async def test_a_transaction_tells_no_more_than_eight_times(owner: Database, storing: Storing) -> None:
    """However many calls there are in it: the eighth notice says "compare all", and then there are no more."""
    await make_type(owner, "note")
    names = [f"K{number}" for number in range(20)]
    await storing.watch("note", *names)
    await storing.fetch("note", {name: {"a": 1} for name in names})
    async with listening(owner) as ear:
        async with owner.transaction() as connection:
            for name in names:
                await connection.execute("select livewell.changed('note', array[$1])", name)
        await owner.execute("select livewell.changed('note', '{K1}')")
        await until(lambda: asyncio.sleep(0, len(ear.notices) == 9), "all notices have come")
    assert [len(read_notice(notice) or {}) for notice in ear.notices] == [1] * 7 + [0] + [1]
