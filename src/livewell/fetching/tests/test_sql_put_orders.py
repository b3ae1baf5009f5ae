"""Puts and fetches in any order, one after the other and at once: what is stored is what must be."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import hypothesis.strategies as st
import pytest
from hypothesis import given
from pydantic_core import to_json

from livewell.fetching.tests.storing_surface import NOON, SECOND, Storing, fetched, make_quotes, unchanged
from livewell.kernel import Connection, Database, DatabaseOptions, connect
from livewell.testing import effort

T = TypeVar("T")
STAGE = """
create table public.quotes (symbol text primary key, price integer, source_at timestamptz, fetched_at timestamptz);
grant select on public.quotes to livewell_reader;
grant insert, update on public.quotes to livewell_writer;
insert into livewell_private.provider (name) values ('sim');
insert into livewell_private.quota_use (provider) values ('sim');
insert into livewell_private.endpoint (name, provider, requests_per_minute, concurrent, depth_limit, breaker_failures)
values ('sim/e', 'sim', null, null, null, null);
insert into livewell_private.limit_use (name) values ('sim/e');
insert into livewell_private.data_type (
    name, endpoint, ttl, table_name, key_column, time_column, source_time_column, source_rule
)
values ('dated_table', 'sim/e', '1 minute', 'public.quotes', 'symbol', 'fetched_at', 'source_at', 'not_older'),
    ('table', 'sim/e', '1 minute', 'public.quotes', 'symbol', 'fetched_at', null, null),
    ('record', 'sim/e', '1 minute', null, null, null, null, null),
    ('dated_record', 'sim/e', '1 minute', null, null, null, null, 'not_older');
"""
CLEAR = """
truncate public.quotes, livewell_private.record, livewell_private.fetch_state, livewell_private.item,
    livewell_private.job, livewell_private.learned, livewell_private.type_learning restart identity cascade;
delete from livewell_private.limit_use where name = 'sim/e';
insert into livewell_private.limit_use (name) values ('sim/e');
"""
PUT = "select outcome, reason from livewell.store_puts($1, $2::text::jsonb, $3)"
VALUE = {
    True: "select price from public.quotes",
    False: "select (value ->> 'price')::integer from livewell_private.record",
}


@dataclass
class Kept:
    """What must be known of the key."""

    value: int | None = None
    source: int | None = None
    fetched: int | None = None
    put_at: int | None = None
    put_source: int | None = None
    last: int | None = None
    changes: int = 0

    def store(self, value: int, source: int | None, now: int) -> tuple[str, str | None]:
        if self.source is not None and source is not None and source < self.source:
            return "refused", "old_data"
        # Rewritten, or the source has other content than it had last.
        is_new = value != self.value or value != self.last
        self.value, self.source, self.last, self.fetched = value, source, value, now
        self.changes += is_new
        return ("fetched", None) if is_new else ("unchanged", "same_content")

    def put(self, value: int, source: int | None, now: int) -> tuple[str, str | None]:
        answer = self.store(value, source, now)
        if answer[0] != "refused":
            self.put_at, self.put_source = now, source
        return answer

    def end(self, begun: int, value: int | None, source: int | None, now: int) -> tuple[str, str | None]:
        newer = source is not None and self.put_source is not None and source > self.put_source
        if self.put_at is not None and begun <= self.put_at and not (newer and value is not None):
            return "unchanged", "put_meanwhile"
        if value is None:
            if self.value is None:
                return "refused", "nothing_stored"
            self.fetched = now
            return "unchanged", "not_modified"
        return self.store(value, source, now)

    def write(self, value: int) -> None:
        """The application writes into its table."""
        self.value = value if self.value is not None else None


@dataclass(frozen=True)
class Step:
    """A put, the begin of a fetch, its end, or a write of the application's own, so long after the step before."""

    word: str
    after: int
    value: int
    source: int


steps = st.lists(
    st.builds(
        Step,
        word=st.sampled_from(["put", "begin", "end", "confirm", "write"]),
        after=st.integers(0, 1),
        value=st.integers(1, 3),
        source=st.integers(0, 2),
    ),
    min_size=2,
    max_size=12,
)


class Desk:
    """The database, driven from a test that is not asynchronous."""

    def __init__(self, url: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.owner: Connection = self.run(connect(DatabaseOptions(url=url)))
        self.storing = Storing(self.owner)
        self.run(self.owner.execute(STAGE))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def close(self) -> None:
        self.run(self.owner.close())
        self.loop.close()

    def put(self, name: str, step: Step, source: int | None, now: int) -> tuple[str, str | None]:
        told = {
            "key": "A",
            "rows": [{"price": step.value}],
            "hash": _digest(step.value),
            "source_time": None if source is None else _time(source),
        }
        (row,) = self.run(self.owner.fetch(PUT, name, to_json([told]).decode(), _time(now)))
        return tuple(row)

    def end(self, held: Any, step: Step, source: int | None, now: int) -> tuple[str, str | None]:
        told: dict[str, Any] = {"source_time": None if source is None else _time(source)}
        ended = (
            unchanged(held, **told)
            if step.word == "confirm"
            else {**fetched(held, {"price": step.value}, **told), "hash": _digest(step.value)}
        )
        (row,) = self.run(self.storing.answers(ended, now=_time(now)))
        return row["outcome"], row["reason"]


def _time(seconds: int) -> datetime:
    return NOON + seconds * SECOND


def _digest(value: int) -> str:
    return bytes([value]).hex()


def _play(desk: Desk, name: str, drawn: list[Step]) -> None:
    kept, held, begun, now, version = Kept(), None, 0, 0, 0
    desk.run(desk.owner.execute(CLEAR))
    for step in drawn:
        now += step.after
        source = step.source if name.startswith("dated") else None
        changes = kept.changes
        match step.word:
            case "put":
                assert desk.put(name, step, source, now) == kept.put(step.value, source, now)
            case "begin" if held is None:
                held, begun = desk.run(desk.storing.hold_one(name, "A", now=_time(now))), now
            case "end" | "confirm" if held is not None:
                value = None if step.word == "confirm" else step.value
                assert desk.end(held, step, source, now) == kept.end(begun, value, source, now)
                held = None
            case "write" if name.endswith("table"):
                kept.write(step.value)
                desk.run(desk.owner.execute("update public.quotes set price = $1", step.value))
        assert desk.run(desk.owner.fetchval(VALUE[name.endswith("table")])) == kept.value
        item = desk.run(desk.owner.fetchrow("select version, fetched_at from livewell_private.item"))
        if item is not None:
            assert item["fetched_at"] == (None if kept.fetched is None else _time(kept.fetched))
            assert (item["version"] > version) is (kept.changes > changes)
            version = item["version"]


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", ["table", "dated_table", "record", "dated_record"])
def test_puts_and_fetches_in_any_order(owner_url: str, name: str) -> None:
    """A fetch that began before a put is stored over it only when its source is newer; versions are of content."""
    desk = Desk(owner_url)

    @given(drawn=steps)
    @effort(200, derandomize=True)
    def play(drawn: list[Step]) -> None:
        _play(desk, name, drawn)

    try:
        play()
    finally:
        desk.close()


async def test_a_put_and_a_store_at_once(owner: Database, storing: Storing) -> None:
    """Whoever has the item first: the put is what stays of a fetch that began before it."""
    await make_quotes(owner)
    put = """
    select outcome
    from livewell.put('quote', jsonb_build_array(jsonb_build_object('symbol', 'AAPL', 'price', $1::integer)), $2)
    """

    async def put_it(price: int, now: datetime) -> None:
        while await owner.fetchval(put, price, now) == "busy":
            pass

    async def end_it(held: Any, price: int, now: datetime) -> None:
        while (await storing.end(fetched(held, {"price": price}), now=now))["AAPL"][0] == "busy":
            pass

    for number in range(10):
        now = NOON + 10 * number * SECOND
        held = await storing.hold_one("quote", now=now)
        await asyncio.gather(end_it(held, 1000 + number, now + 3 * SECOND), put_it(number + 1, now + SECOND))
        assert await owner.fetchval("select price::int from public.quotes") == number + 1
