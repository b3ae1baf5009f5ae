"""F23: a stranger is idle in a transaction, on an item, a session, a subscription, a row of the user's own table.

Everything that a login may call or an application may write holds something until it commits. One who never does keeps
one key from being kept fresh, and no other; who it is can be read. Nothing of the stranger's has a timeout.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from livewell.kernel import Database
from livewell.presence import Item, PresenceStore, SubscribeOutcome
from livewell.testing import idle_in_transaction, make_type, until
from tests.faults.beside import beside
from tests.faults.load import Member, Run
from tests.faults.refresh_stage import KEYS, Stage, staged
from tests.faults.refreshes import QUOTE
from tests.faults.size import Size
from tests.faults.steps import GO_ON, Step

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

HELD, OTHER = KEYS[0], KEYS[1]
# Long enough for a batch that set something aside; much shorter than a stranger stays.
SOON = timedelta(seconds=15)
# What was given up while it was held waits for half a minute.
LATER = timedelta(seconds=60)
MANY = 6_000
_WATCHED = f'[{{"type": "quote", "key": "{HELD}"}}]'


@dataclass(frozen=True, kw_only=True)
class Stranger:
    """What somebody does in a transaction before falling silent, and whether a key must wait for it."""

    statement: str
    holds: bool = True
    role: str | None = "livewell_user"
    user: str | None = "mallory"

    @asynccontextmanager
    async def idle(self, url: str, session: UUID) -> AsyncIterator[int]:
        """Be idle in a transaction; the process that is."""
        statement = self.statement.format(session=session, mine=uuid4(), items=_WATCHED)
        async with idle_in_transaction(url, statement, role=self.role, user=self.user) as connection:
            yield int(await connection.fetchval("select pg_backend_pid()"))


STRANGERS = {
    "item": Stranger(statement="select livewell.watch('{mine}', '{items}')"),
    "check": Stranger(statement="select livewell.check_on_subscribe('{{quote}}', '" + HELD + "')"),
    "subscription": Stranger(statement="select livewell.unwatch('{session}', '{items}')", user="anna"),
    "session": Stranger(statement="select livewell.keep_watching('{session}')", user="anna", holds=False),
    "row": Stranger(
        statement=f"update public.quotes set volume = volume where symbol = '{HELD}'", role=None, user=None
    ),
}
GUARDS = {
    "item": ("lock_free_fetches", "lock_items"),
    "subscription": ("lock_free_fetches", "lock_items"),
    "session": ("lock_live_sessions", "lock_sessions"),
    "row": ("store_rows", "lock_keys"),
}


@pytest.mark.parametrize("what", STRANGERS)
async def test_one_idle_transaction_stops_nobody_else(run: Run, owner_url: str, what: str) -> None:
    """Every other key is stored while the stranger stays, the holder is named, and the held key is served after."""
    async with staged(run) as stage:
        await _one_round(stage, owner_url, STRANGERS[what])
        await run.passes()


async def test_a_held_warning_stops_nobody_else(run: Run, owner_url: str) -> None:
    """A warning in a stranger's open transaction makes neither the checker wait nor who would warn of the same."""
    async with staged(run) as stage:
        await run.start_workers(1, program="refresher")
        await stage.all_fetched()
        await make_type(run.owner, "broken")
        await run.owner.execute("update livewell_private.data_type set staleness = 'public.none' where name = 'broken'")
        warns = "select livewell.check_on_subscribe('{broken}', 'X')"
        async with idle_in_transaction(owner_url, warns, role="livewell_user", user="mallory"):
            async with asyncio.timeout(SOON.total_seconds()):
                looking = [(await _annas(run.owner), Item("broken", "Y"))]
                (answer,) = await PresenceStore(run.owner).subscribe(looking)
                assert answer.outcome is SubscribeOutcome.SUBSCRIBED
            await stage.time_passes()
            await until(lambda: _stored(stage), "every key was stored", within=SOON)
        await run.owner.execute("delete from livewell_private.job_live where kind = 'refresh.broken'")
        await run.passes()


@pytest.mark.full
async def test_strangers_come_and_go(run: Run, owner_url: str, size: Size) -> None:
    """Round after round, whatever the stranger holds: what nobody holds is stored each time, and at last everything."""
    async with staged(run, per_minute=MANY) as stage:
        await run.start_workers(2, program="refresher")
        await stage.all_fetched()
        session = await _annas(run.owner)
        for _ in size.lasting():
            stranger = STRANGERS[run.chance.choice(list(STRANGERS))]
            async with stranger.idle(owner_url, session):
                await stage.is_due(but_for=HELD)
                await until(lambda: _fetched(run.owner, but_for=HELD), "every other key was stored", within=SOON)
                await _a_gateway_goes_on(run.owner, session, SOON)
            await stage.is_due()
            await until(lambda: _fetched(run.owner), "every key was stored", within=LATER)
            run.figures["strangers"] = run.figures.get("strangers", 0) + 1
        await run.passes()


@pytest.mark.parametrize("what", GUARDS)
async def test_without_its_guard_a_stranger_stops_the_others(run: Run, owner_url: str, what: str) -> None:
    """When what is held is waited for, as long as it takes, the keys beside it are no longer stored."""
    for function in GUARDS[what]:
        await run.owner.execute(f"alter function livewell_private.{function} set lock_timeout = 0")
    async with staged(run) as stage:
        with pytest.raises((AssertionError, TimeoutError)) as found:
            await _one_round(stage, owner_url, STRANGERS[what], within=timedelta(seconds=3))
    assert "too late" not in str(found.value)


async def _one_round(stage: Stage, url: str, stranger: Stranger, within: timedelta = SOON) -> None:
    """Everything changes at the provider; when what was fetched is about to be stored, the stranger comes."""
    run = stage.run
    (worker,) = await run.start_workers(1, program="refresher", dies_at=Step.INSIDE, dies_of=QUOTE)
    await stage.all_fetched()
    await stage.time_passes()
    await run.seen("reached", by=worker.name)
    session = await _annas(run.owner)
    async with AsyncExitStack() as staying:
        pid = await staying.enter_async_context(stranger.idle(url, session))
        async with beside(_go_on(run, worker)):
            await until(lambda: _stored(stage, (QUOTE, HELD)), "every other key was stored", within=within)
            await _a_gateway_goes_on(run.owner, session, within)
            assert await _stored(stage) is not stranger.holds, "nobody was held up: the stranger came too late"
            await until(lambda: _is_named(run.owner, pid), "the holder is named", within=within)
            await staying.aclose()
            await until(lambda: _stored(stage), "the held key was stored when the stranger had left")


async def _annas(owner: Database) -> UUID:
    """The session of who looks at everything."""
    return UUID(str(await owner.fetchval("select id from livewell_private.session where user_id = 'anna'")))


async def _stored(stage: Stage, *but_for: tuple[str, str]) -> bool:
    """Whether what is stored is what the provider has, but for some items."""
    stored = await stage.stored()
    return all(stored.get(item) == value for item, value in stage.at_the_provider().items() if item not in but_for)


async def _fetched(owner: Database, but_for: str = "") -> bool:
    """Whether everything was fetched since it was due, but for a key."""
    late = (
        "select exists (select from livewell_private.item where fetched_at < now() - interval '1 hour' and key <> $1)"
    )
    return not await owner.fetchval(late, but_for)


async def _a_gateway_goes_on(owner: Database, held: UUID, within: timedelta) -> None:
    """A batch for many users, one of which may be held: the others are subscribed."""
    store, mine = PresenceStore(owner), uuid4()
    async with asyncio.timeout(within.total_seconds()):
        await store.open_sessions([mine], ["bert"], "gateway")
        pairs = [(held, Item(QUOTE, OTHER)), (mine, Item(QUOTE, OTHER)), (mine, Item(QUOTE, HELD))]
        answers = await store.subscribe(pairs)
        assert answers[1].outcome is SubscribeOutcome.SUBSCRIBED
        await store.close_sessions([mine])


async def _is_named(owner: Database, pid: int) -> bool:
    said = "select exists (select from livewell.warnings where code ~ '_held$' and message ~ $1)"
    return bool(await owner.fetchval(said, f"pid {pid}, login .*application stranger"))


async def _go_on(run: Run, worker: Member) -> None:
    """Let the worker store, now and whenever it waits for that."""
    told = 0
    while True:
        reached = len([event for event in run.events("reached") if event.by == worker.name])
        for _ in range(told, reached):
            worker.process.send_signal(GO_ON)
        told = reached
        await asyncio.sleep(0.02)
