"""Random histories of permits against a simple record of what was granted, the clock in our hands.

Run longer with `pytest src/livewell/budgets/tests/test_permit_machine.py --hypothesis-profile long`.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

import asyncpg
import hypothesis.strategies as st
import pytest
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from livewell.budgets import BlockId, BudgetStore, Granted, PermitSettlement
from livewell.budgets.tests.permit_stage import ENDPOINT, declare
from livewell.kernel import Database, DatabaseOptions
from livewell.testing import effort

T = TypeVar("T")

PER_MINUTE, PER_HOUR, TOKENS, TOGETHER, QUOTA = 12, 40, 500, 9, 60_000
LEASE, SEND_WITHIN, SLOT = timedelta(minutes=1), timedelta(seconds=2), timedelta(seconds=1)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
START = datetime(2026, 5, 4, 12, 0, 0, 250_000, tzinfo=UTC)

_CLEAN = """
delete from livewell_private.permit_block; delete from livewell_private.quota_hour where provider = 'stage';
delete from livewell_private.limit_use where name = 'stage/call'; insert into livewell_private.limit_use (name)
    values ('stage/call');
delete from livewell_private.quota_use where provider = 'stage'; insert into livewell_private.quota_use (provider)
    values ('stage')
"""
_BOOKED = """
select coalesce(sum(requests), 0)::bigint as requests, coalesce(sum(bytes), 0)::bigint as bytes
from livewell_private.quota_hour where provider = 'stage'
"""
_LOWEST = """
select least(
    (select min(x) from unnest(u.minute_requests || u.minute_tokens || u.hour_requests || u.hour_tokens) as x),
    (select min(q.counted_bytes) from livewell_private.quota_use as q where q.provider = 'stage')
) from livewell_private.limit_use as u where u.name = 'stage/call'
"""
_OPEN = "select id, open from livewell_private.permit_block"


@dataclass
class Call:
    """One permit: what it is counted with, and whether it is still out."""

    at: datetime
    tokens: int
    bytes: int
    open: bool = True


@dataclass
class Block:
    """Permits granted together."""

    id: BlockId
    lease_until: datetime
    calls: dict[int, Call]
    collected: bool = False


@dataclass
class Record:
    """What was granted and settled, as anybody could have written it down."""

    now: datetime = START
    blocks: list[Block] = field(default_factory=list)
    sent: int = 0
    bytes: int = 0

    @property
    def calls(self) -> list[Call]:
        return [call for block in self.blocks for call in block.calls.values()]

    def within(self, window: timedelta) -> list[Call]:
        return [call for call in self.calls if call.at > self.now - window]

    def under_way(self) -> int:
        leased = (block for block in self.blocks if block.lease_until > self.now)
        return sum(call.open for block in leased for call in block.calls.values())

    def reserved(self) -> int:
        return sum(call.bytes for call in self.calls if call.open)

    def room(self, tokens: int, size: int, *, margin: timedelta) -> int:
        """How many calls fit, windows being longer by what may still be sent and by how coarsely they are counted."""
        minute, hour = self.within(MINUTE + SEND_WITHIN + margin), self.within(HOUR + SEND_WITHIN + margin)
        rooms = [
            PER_MINUTE - len(minute),
            PER_HOUR - len(hour),
            TOGETHER - self.under_way(),
            (TOKENS - sum(call.tokens for call in minute)) // tokens,
            (QUOTA - self.bytes - self.reserved()) // size,
        ]
        return max(0, min(rooms))


@dataclass(frozen=True)
class Desk:
    """Two connections and the loop they live in: the service's to ask, the owner's to look behind."""

    loop: asyncio.AbstractEventLoop
    service: "asyncpg.Connection[asyncpg.Record]"
    owner: "asyncpg.Connection[asyncpg.Record]"

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)


picks = st.integers(min_value=0, max_value=1000)
waits = st.sampled_from(
    [0.0, 0.001, 0.5, 0.75, 1.0, 2.0, 20.0, 57.9, 59.75, 60.0, 61.9, 62.0, 63.0, 64.0, 1800.0, 3600.0, 3723.0]
)
ends = st.lists(
    st.tuples(picks, st.sampled_from(["completed", "failed", "unsent"]), st.sampled_from([None, 0, 30, 300])),
    min_size=1,
    max_size=4,
)


class PermitMachine(RuleBasedStateMachine):
    """Each rule makes one call and compares its answer with the record."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.store = BudgetStore(desk.service)
        self.record = Record()

    @initialize()
    def begin(self) -> None:
        self.desk.run(self.desk.owner.execute(_CLEAN))

    @rule(wanted=st.integers(1, 15), tokens=st.sampled_from([10, 60, 200]), size=st.sampled_from([100, 2000, 20_000]))
    def acquire(self, wanted: int, tokens: int, size: int) -> None:
        now, record = self.record.now, self.record
        most = record.room(tokens, size, margin=timedelta())
        # A minute is counted by seconds with its oldest one whole, an hour by minutes.
        least = record.room(tokens, size, margin=SLOT) if len(record.within(HOUR + 3 * MINUTE)) < PER_HOUR / 2 else 0
        answer = self.desk.run(
            self.store.acquire_permits(ENDPOINT, "holder", permits=wanted, tokens=tokens, bytes=size, now=now)
        )
        granted = answer.permits if isinstance(answer, Granted) else 0
        assert min(wanted, least) <= granted <= min(wanted, most)
        if isinstance(answer, Granted):
            calls = {number: Call(now, tokens, size) for number in range(1, granted + 1)}
            record.blocks.append(Block(answer.block_id, now + LEASE, calls))

    @precondition(lambda self: self.record.blocks)
    @rule(block=picks, chosen=ends)
    def settle(self, block: int, chosen: list[tuple[int, str, int | None]]) -> None:
        """Numbers twice in a call, settled before, never granted: each counts once, or not at all."""
        known = self.record.blocks[-1 - block % len(self.record.blocks)]
        settlements = [
            PermitSettlement(number=pick % (len(known.calls) + 2), outcome=outcome, tokens=spent, bytes=spent)  # type: ignore[arg-type]
            for pick, outcome, spent in chosen
        ]
        first = {settlement.number: settlement for settlement in reversed(settlements)}
        due = sorted(n for n in first if n in known.calls and known.calls[n].open and not known.collected)
        settled = self.desk.run(self.store.settle_permits(known.id, list(first.values()), now=self.record.now))
        assert sorted(settled) == due
        for number in due:
            self._end(known.calls[number], first[number])

    def _end(self, call: Call, told: PermitSettlement) -> None:
        call.open = False
        if told.tokens is not None:
            call.tokens = told.tokens
        if told.outcome != "unsent":
            self.record.sent += 1
            self.record.bytes += call.bytes if told.bytes is None else told.bytes

    @rule()
    def settle_a_stranger(self) -> None:
        told = [PermitSettlement(number=1, outcome="completed", tokens=5)]
        assert self.desk.run(self.store.settle_permits(BlockId(uuid4()), told, now=self.record.now)) == []

    @precondition(lambda self: self.record.blocks)
    @rule(chosen=st.lists(picks, min_size=1, max_size=4), holder=st.sampled_from(["holder", "holder", "thief"]))
    def renew(self, chosen: list[int], holder: str) -> None:
        blocks = [self.record.blocks[-1 - pick % len(self.record.blocks)] for pick in chosen]
        leased = self.desk.run(self.store.renew_permits(holder, [block.id for block in blocks], now=self.record.now))
        still = [block for block in blocks if self._is_held(block) and holder == "holder"]
        assert leased == {block.id for block in still}
        for block in still:
            block.lease_until = self.record.now + LEASE

    def _is_held(self, block: Block) -> bool:
        is_out = any(call.open for call in block.calls.values()) and not block.collected
        return is_out and block.lease_until > self.record.now

    @rule()
    def care(self) -> None:
        """What silent holders had is booked as reserved."""
        self.desk.run(self.desk.service.fetchval("select livewell.task_budget_care($1)", self.record.now))
        for block in self.record.blocks:
            if block.lease_until <= self.record.now and not block.collected:
                block.collected = True
                for call in block.calls.values():
                    if call.open:
                        self._end(call, PermitSettlement(number=1, outcome="failed"))

    @rule(seconds=waits)
    def wait(self, seconds: float) -> None:
        self.record.now += timedelta(seconds=seconds)

    @invariant()
    def what_is_out_is_what_was_not_settled(self) -> None:
        rows = self.desk.run(self.desk.owner.fetch(_OPEN))
        found = {row["id"]: sorted(row["open"]) for row in rows}
        out = {
            block.id: [number for number, call in block.calls.items() if call.open]
            for block in self.record.blocks
            if not block.collected
        }
        assert found == {block: numbers for block, numbers in out.items() if numbers}

    @invariant()
    def what_is_booked_is_what_was_spent(self) -> None:
        row = self.desk.run(self.desk.owner.fetchrow(_BOOKED))
        assert row is not None
        assert (row["requests"], row["bytes"]) == (self.record.sent, self.record.bytes)

    @invariant()
    def nothing_is_negative(self) -> None:
        assert self.desk.run(self.desk.owner.fetchval(_LOWEST)) >= 0

    def teardown(self) -> None:
        """Holders that fall silent leave nothing behind."""
        self.record.now += LEASE
        self.care()
        assert self.desk.run(self.desk.owner.fetch(_OPEN)) == []


async def _declare(owner_url: str) -> None:
    async with await Database.open(DatabaseOptions(url=owner_url)) as owner:
        limits = {"requests_per_minute": PER_MINUTE, "requests_per_hour": PER_HOUR, "tokens_per_minute": TOKENS}
        await declare(owner, concurrent=TOGETHER, breaker_failures=None, **limits)
        await owner.execute(
            "update livewell_private.provider set quota_bytes = $1, quota_use = 1, pace = 'none' where name = 'stage'",
            QUOTA,
        )


@pytest.mark.hypothesis
@pytest.mark.timeout(900)  # a failing history is shrunk for some minutes
def test_no_history_of_permits_goes_over_or_leaks(database_url: str, owner_url: str) -> None:
    """In every window of every limit, never more than it allows, hardly less; nothing negative, nothing left behind."""
    asyncio.run(_declare(owner_url))
    loop = asyncio.new_event_loop()
    try:
        service, owner = (loop.run_until_complete(asyncpg.connect(url)) for url in (database_url, owner_url))
        desk = Desk(loop, service, owner)
        run_state_machine_as_test(partial(PermitMachine, desk), settings=effort(150, steps=40))  # type: ignore[arg-type]
        desk.run(service.close())
        desk.run(owner.close())
    finally:
        loop.close()
