"""Random histories of refreshes against a simple model: table, records, items, jobs and bytes agree with it."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from livewell.fetching.tests.storing_surface import MINUTE, NOON, SECOND, Storing, Told, fetched
from livewell.kernel import Connection, DatabaseOptions, connect
from livewell.testing import effort

T = TypeVar("T")
Name = tuple[str, str]

NAMES: list[Name] = [(data_type, key) for data_type in ("quote", "note", "statements") for key in ("A", "B")]
RETRIES = 3
STAGE = """
create table public.quotes (
    symbol text primary key, price integer check (price > 0), source_at timestamptz, fetched_at timestamptz
);
create table public.statements (
    symbol text, period text, revenue integer not null, fetched_at timestamptz, primary key (symbol, period)
);
grant select on public.quotes, public.statements to livewell_reader;
grant insert, update on public.quotes, public.statements to livewell_writer;
insert into livewell_private.provider (name) values ('sim');
insert into livewell_private.quota_use (provider) values ('sim');
insert into livewell_private.endpoint (name, provider, requests_per_minute, concurrent, depth_limit, breaker_failures)
values ('sim/e', 'sim', null, null, null, null);
insert into livewell_private.limit_use (name) values ('sim/e');
insert into livewell_private.data_type (
    name, endpoint, ttl, table_name, key_column, time_column, source_time_column, source_rule
)
values ('quote', 'sim/e', '1 minute', 'public.quotes', 'symbol', 'fetched_at', 'source_at', 'newer'),
    ('statements', 'sim/e', '1 minute', 'public.statements', 'symbol', 'fetched_at', null, null),
    ('note', 'sim/e', '1 minute', null, null, null, null, 'not_older');
"""
CLEAR = """
truncate public.quotes, public.statements, livewell_private.record, livewell_private.fetch_state,
    livewell_private.item, livewell_private.job,
    livewell_private.quota_hour, livewell_private.learned, livewell_private.type_learning, livewell_private.sample
        restart identity cascade;
delete from livewell_private.limit_use where name = 'sim/e';
insert into livewell_private.limit_use (name) values ('sim/e');
"""
ROWS = """
select 'quote' as type, symbol as key, '' as part, price as value, fetched_at from public.quotes
union all
select 'statements', symbol, period, revenue, fetched_at from public.statements
union all
select 'note', key, '', (value ->> 'price')::integer, fetched_at from livewell_private.record
"""


@dataclass
class Kept:
    """What must be known of an item."""

    rows: dict[str, tuple[int, datetime]] = field(default_factory=dict)
    source: int | None = None
    content: str | None = None
    last: str | None = None
    failures: int | None = None

    def touch(self, now: datetime) -> None:
        self.rows = {part: (value, now) for part, (value, _) in self.rows.items()}


@dataclass(frozen=True)
class End:
    """How a refresh ends, as it is drawn."""

    word: str
    value: int = 1
    source: int = 0
    parts: frozenset[str] = frozenset({"Q1"})
    size: int = 0

    def told(self, held: Told) -> Told:
        spent = {"bytes": self.size}
        if self.word == "fetched":
            bad = self.value == 0
            if held["type"] == "statements":
                rows = [{"period": part, "revenue": None if bad else self.value} for part in sorted(self.parts)]
            else:
                rows = [{"price": -1 if bad else self.value}]
            return fetched(held, *rows, content=self.content, source_time=NOON + self.source * SECOND, **spent)
        reason = {"unchanged": "not_modified", "refused": "schema", "failed": "timeout"}.get(self.word)
        return {**held, "outcome": self.word, "reason": reason, "message": "so it is", "seconds": 1, **spent}

    @property
    def content(self) -> str:
        return f"{self.value} {sorted(self.parts)}"


ends = st.one_of(
    st.builds(
        End,
        word=st.just("fetched"),
        value=st.integers(0, 2),
        source=st.integers(0, 3),
        parts=st.frozensets(st.sampled_from(["Q1", "Q2"]), min_size=1),
        size=st.integers(0, 1000),
    ),
    st.builds(
        End,
        word=st.sampled_from(["unchanged", "refused", "failed", "throttled", "gone"]),
        size=st.integers(0, 1000),
    ),
)


class Model:
    """What must come of each end."""

    def __init__(self) -> None:
        self.kept: dict[Name, Kept] = {name: Kept() for name in NAMES}
        self.bytes = 0

    def end(self, name: Name, end: End, now: datetime) -> tuple[str, str, str | None]:
        kept = self.kept[name]
        outcome, reason = self._judge(name, end, now)
        self.bytes += end.size
        if outcome != "throttled":
            kept.last = outcome
        if outcome in {"refused", "failed"}:
            kept.failures = (kept.failures or 0) + 1
            if kept.failures <= RETRIES:
                return "pending", outcome, reason
            kept.failures, kept.last = None, "failed"
            return "failed", outcome, reason
        if outcome == "throttled":
            return "pending", outcome, None
        kept.failures = None
        return "completed", outcome, reason

    def _judge(self, name: Name, end: End, now: datetime) -> tuple[str, str | None]:
        kept = self.kept[name]
        if end.word == "unchanged":
            kept.touch(now)
            return ("unchanged", "not_modified") if kept.rows else ("refused", "nothing_stored")
        if end.word != "fetched":
            return end.word, {"refused": "schema", "failed": "timeout"}.get(end.word)
        held_back = self._compared(name, end, now)
        if held_back is not None:
            return held_back
        if end.value == 0 and name[0] != "note":
            return "refused", "constraint"
        kept.touch(now)
        parts = end.parts if name[0] == "statements" else {""}
        stored = -1 if end.value == 0 else end.value
        kept.rows |= dict.fromkeys(parts, (stored, now))
        kept.source = end.source
        same, kept.content = kept.content == end.content, end.content
        return ("unchanged", "same_content") if same else ("fetched", None)

    def _compared(self, name: Name, end: End, now: datetime) -> tuple[str, str | None] | None:
        kept = self.kept[name]
        if name[0] == "statements" or kept.source is None:
            return None
        if end.source < kept.source:
            return "refused", "old_data"
        if name[0] == "quote" and end.source == kept.source:
            kept.touch(now)
            return "unchanged", "same_source_time"
        return None


@dataclass(frozen=True)
class Desk:
    """The database, driven from a state machine that is not asynchronous."""

    loop: asyncio.AbstractEventLoop
    owner: Connection

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)


class StoringMachine(RuleBasedStateMachine):
    """Refreshes held, lost, ended once, twice and too late, in batches of any mix."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.storing = Storing(desk.owner)
        self.model = Model()
        self.held: dict[Name, Told] = {}
        self.late: list[tuple[Name, Told]] = []
        self.now = NOON

    @initialize()
    def clear(self) -> None:
        self.desk.run(self.desk.owner.execute(CLEAR))

    @rule(names=st.sets(st.sampled_from(NAMES), min_size=1))
    def hold(self, names: set[Name]) -> None:
        self.now += MINUTE
        for name in sorted(names - self.held.keys()):
            self.held[name] = self.desk.run(self.storing.hold_one(*name, now=self.now))

    @rule(name=st.sampled_from(NAMES))
    def lose(self, name: Name) -> None:
        if told := self.held.pop(name, None):
            reset = "select livewell.finish_jobs($1, $2, '{reset}', '[{\"sent\": false}]', $3)"
            self.desk.run(self.desk.owner.fetch(reset, [told["job"]], [told["token"]], self.now))
            self.late.append((name, told))

    @rule(drawn=st.dictionaries(st.sampled_from(NAMES), ends, min_size=1))
    def end(self, drawn: dict[Name, End]) -> None:
        ended = {name: end for name, end in drawn.items() if name in self.held}
        late = {name: told for name, told in self.late if name in drawn and name not in ended}
        self.now += MINUTE
        batch = [end.told(self.held[name]) for name, end in ended.items()]
        batch += [drawn[name].told(told) for name, told in late.items()]
        expected = {self.held[name]["job"]: self.model.end(name, end, self.now) for name, end in ended.items()}
        rows = self.desk.run(self.storing.answers(*batch, now=self.now))
        found = {row["job_id"]: tuple(row)[1:] for row in rows}
        lost = {told["job"] for told in late.values()}
        assert {job: verdict for job, verdict in found.items() if job not in lost} == expected
        assert all(found[job][0] == "lost" for job in lost)
        for name in ended:
            self.late.append((name, self.held.pop(name)))

    @invariant()
    def rows_are_as_they_must_be(self) -> None:
        rows = self.desk.run(self.desk.owner.fetch(ROWS))
        assert {(row[0], row[1], row[2]): (row[3], row[4]) for row in rows} == {
            (*name, part): row for name, kept in self.model.kept.items() for part, row in kept.rows.items()
        }

    @invariant()
    def items_and_jobs_are_as_they_must_be(self) -> None:
        items = self.desk.run(self.desk.owner.fetch("select data_type, key, last_outcome from livewell_private.item"))
        known = {(row[0], row[1]): row[2] for row in items}
        assert known == {name: self.model.kept[name].last for name in known}
        jobs = self.desk.run(self.desk.owner.fetch("select payload, failures, state from livewell_private.job_live"))
        assert {row[2] for row in jobs} <= {"pending", "processing"}
        assert sum(row[2] == "processing" for row in jobs) == len(self.held)

    @invariant()
    def every_byte_is_booked_once(self) -> None:
        booked = self.desk.run(
            self.desk.owner.fetchval("select coalesce(sum(bytes), 0)::int from livewell_private.quota_hour")
        )
        assert booked == self.model.bytes


@pytest.mark.hypothesis
def test_any_history_of_refreshes(owner_url: str) -> None:
    """After any mix of ends, lost leases and repeats, what is stored, learned, finished and spent is what must be."""
    loop = asyncio.new_event_loop()
    owner = loop.run_until_complete(connect(DatabaseOptions(url=owner_url)))
    desk = Desk(loop, owner)
    try:
        desk.run(owner.execute(STAGE))
        run_state_machine_as_test(
            partial(StoringMachine, desk),  # type: ignore[arg-type]
            settings=effort(25, steps=25, derandomize=True),
        )
    finally:
        desk.run(owner.close())
        loop.close()
