"""Clients that move between gateways, come right back, or leave at once: what each gateway keeps, and what it loses."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from livewell.kernel import Database, DatabaseOptions, DatabaseUnavailable
from livewell.presence import GatewayKeeper, Item, OpenOutcome, PresenceStore
from livewell.presence.tests.surface import PresenceSql, session_id
from livewell.testing import TcpProxy, effort, idle_in_transaction, until, wait_long

A, B, C = (Item("quote", key) for key in "ABC")
MOMENT = timedelta(milliseconds=30)
LATER = timedelta(seconds=30)
CUT_OFF = "update livewell_private.gateway set last_seen = clock_timestamp() - interval '1 minute' where name = $1"
SWEEP = "select livewell_private.task_presence_sweep(clock_timestamp())"
WAITS = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
Keepers = Callable[..., GatewayKeeper]


@pytest.fixture
def keepers(presence: PresenceSql, database: Database) -> Keepers:
    """Gateways, each with a list of what it lost."""
    del presence

    def keeper(lost: list[UUID] | None = None) -> GatewayKeeper:
        return GatewayKeeper(PresenceStore(database), label="web", on_lost=None if lost is None else lost.append)

    return keeper


async def test_a_resumed_session_is_lost_to_the_other(presence: PresenceSql, owner: Database, keepers: Keepers) -> None:
    """The old gateway is told by its next round, once; its late close and its late calls change nothing."""
    lost: list[UUID] = []
    old, new, one, two = keepers(lost), keepers(), uuid4(), uuid4()
    await old.open([(one, "anna"), (two, "bert")])
    await old.subscribe([(one, A), (one, B), (two, A)])
    resumed = await new.resume(one, "anna", [A, C])
    assert resumed.outcome is OpenOutcome.OPEN
    assert [(answer.outcome, answer.version) for answer in resumed.items] == [("already", 0), ("subscribed", 0)]
    await old.run_once()
    await old.run_once()
    assert (lost, old.sessions, new.sessions) == ([one], 1, 1)
    await old.close([one])
    await old.unsubscribe([(one, A)])
    assert await presence.viewers() == {"A": 2, "C": 1}
    await new.stop()
    assert await presence.viewers() == {"A": 1}


async def test_a_call_finds_out_as_well(presence: PresenceSql, keepers: Keepers) -> None:
    """Who subscribes in a session that was resumed elsewhere is told gone; the gateway keeps its name and the rest."""
    lost: list[UUID] = []
    old, new, one, two = keepers(lost), keepers(), uuid4(), uuid4()
    await old.open([(one, "anna"), (two, "bert")])
    await new.resume(one, "anna", [A])
    name = old.gateway
    assert [answer.outcome for answer in await old.subscribe([(one, B), (two, B)])] == ["gone", "subscribed"]
    assert (lost, old.gateway) == ([one], name)
    assert await presence.viewers() == {"A": 1, "B": 1}


async def test_a_gateway_that_was_cut_off_takes_nothing_back(
    presence: PresenceSql, owner: Database, keepers: Keepers
) -> None:
    """What another has meanwhile is lost; everything else is back under a new name."""
    lost: list[UUID] = []
    old, new, one, two = keepers(lost), keepers(), uuid4(), uuid4()
    await old.open([(one, "anna"), (two, "bert")])
    await old.subscribe([(one, A), (two, A)])
    await owner.execute(CUT_OFF, old.gateway)
    await owner.execute(SWEEP)
    assert (await new.resume(one, "anna", [B])).outcome is OpenOutcome.OPENED
    await old.run_once()
    assert (lost, old.sessions) == ([one], 1)
    assert await presence.viewers() == {"A": 1, "B": 1}
    assert await presence.is_exact()


async def test_a_session_of_another_user_is_not_kept(presence: PresenceSql, keepers: Keepers) -> None:
    """Taken: nothing is kept here, and nothing was done there."""
    old, new, one = keepers(), keepers(), uuid4()
    await old.open([(one, "anna")])
    await old.subscribe([(one, A)])
    resumed = await new.resume(one, "eve", [B])
    assert (resumed.outcome, resumed.items, new.sessions) == (OpenOutcome.TAKEN, [], 0)
    await old.run_once()
    assert (old.sessions, await presence.viewers()) == (1, {"A": 1})


async def test_what_a_close_did_not_reach_is_closed_by_a_round(
    presence: PresenceSql, database_url: str, tcp_proxy: TcpProxy
) -> None:
    """A connection that broke while somebody left leaves nobody behind."""
    async with await Database.open(DatabaseOptions(url=tcp_proxy.through(database_url))) as database:
        keeper, one, two = GatewayKeeper(PresenceStore(database)), uuid4(), uuid4()
        await keeper.open([(one, "anna"), (two, "bert")])
        await keeper.subscribe([(one, A), (two, A)])
        tcp_proxy.cut_before("close_sessions")
        with pytest.raises(DatabaseUnavailable):
            await keeper.close([one])
        assert await presence.viewers() == {"A": 2}
        await keeper.run_once()
        assert (await presence.viewers(), keeper.sessions) == ({"A": 1}, 1)


async def test_what_was_left_is_let_go_by_a_round(presence: PresenceSql, keepers: Keepers, owner_url: str) -> None:
    """An item that somebody held while its session was resumed without it is let go of when it is free."""
    old, new, one = keepers(), keepers(), uuid4()
    await old.open([(one, "anna")])
    await old.subscribe([(one, A)])
    async with idle_in_transaction(owner_url, "update livewell_private.item set viewers = viewers where key = 'A'"):
        assert (await new.resume(one, "anna", [B])).left == [A]
    await new.run_once()
    assert await presence.viewers() == {"B": 1}


async def test_who_looks_away_from_what_was_busy_is_not_brought_back(
    presence: PresenceSql, owner: Database, keepers: Keepers, owner_url: str
) -> None:
    """A round that asks again for what was busy comes before or after who looks away, never across."""
    keeper, one = keepers(), uuid4()
    await keeper.open([(one, "anna")])
    await keeper.subscribe([(one, A)])
    await keeper.unsubscribe([(one, A)])
    async with idle_in_transaction(owner_url, "update livewell_private.item set viewers = viewers where key = 'A'"):
        assert [answer.outcome for answer in await keeper.subscribe([(one, A)])] == ["busy"]
    async with owner.transaction() as other:
        await other.execute("lock table livewell_private.item in access exclusive mode")
        asking = asyncio.create_task(keeper.run_once())
        await until(lambda: owner.fetchval(WAITS), "it is asked for again")
        leaving = asyncio.create_task(keeper.unsubscribe([(one, A)]))
        await asyncio.wait([leaving], timeout=0.1)
        assert await owner.fetchval(WAITS) == 1
    await asyncio.gather(asking, leaving)
    assert await presence.viewers() == {}


async def test_who_comes_back_to_what_was_to_be_let_go_stays(
    presence: PresenceSql, owner: Database, keepers: Keepers, owner_url: str
) -> None:
    """A round lets nothing go to which somebody is coming back at this moment."""
    keeper, one = keepers(), uuid4()
    await keeper.open([(one, "anna")])
    await keeper.subscribe([(one, A)])
    async with idle_in_transaction(owner_url, "update livewell_private.item set viewers = viewers where key = 'A'"):
        await keeper.unsubscribe([(one, A)])
    await wait_long(owner, "lock_live_sessions")
    async with owner.transaction() as other:
        await other.execute("select from livewell_private.session for update")
        coming = asyncio.create_task(keeper.subscribe([(one, A)]))
        await until(lambda: owner.fetchval(WAITS), "it is coming back")
        await keeper.run_once()
    assert [answer.outcome for answer in await coming] == ["already"]
    await keeper.run_once()
    assert await presence.viewers() == {"A": 1}


async def test_a_resume_notices_that_its_gateway_is_gone(
    presence: PresenceSql, owner: Database, keepers: Keepers
) -> None:
    """Everything comes back under a new name first, then the session is resumed there."""
    keeper, one, two = keepers(), uuid4(), uuid4()
    await keeper.open([(one, "anna")])
    await keeper.subscribe([(one, A)])
    await owner.execute(CUT_OFF, keeper.gateway)
    assert (await keeper.resume(two, "bert", [A])).outcome is OpenOutcome.OPENED
    assert await presence.viewers() == {"A": 2}
    await keeper.run_once()
    assert keeper.sessions == 2


async def test_a_gateway_given_up_while_somebody_comes(
    presence: PresenceSql, owner: Database, keepers: Keepers
) -> None:
    """Who is resumed under a name that is given up meanwhile is resumed again under the new one."""
    keeper, one, two = keepers(), uuid4(), uuid4()
    await wait_long(owner, "lock_items")
    await keeper.open([(two, "bert")])
    await keeper.subscribe([(two, A)])
    await keeper.unsubscribe([(two, A)])
    async with owner.transaction() as other:
        await other.execute("select from livewell_private.item for update")
        coming = asyncio.create_task(keeper.resume(one, "anna", [A]))
        await until(lambda: owner.fetchval(WAITS), "it is coming")
        await owner.execute(CUT_OFF, keeper.gateway)
        await keeper.run_once()
    await coming
    await owner.execute(SWEEP)
    await keeper.run_once()
    rows = await owner.fetch("select gateway from livewell_private.session")
    assert [row["gateway"] for row in rows] == [keeper.gateway] * 2
    assert (keeper.sessions, await presence.viewers()) == (2, {"A": 1})


async def test_who_lingers_looks_on_for_a_moment(presence: PresenceSql, keepers: Keepers) -> None:
    """Who unsubscribes lingers and then leaves; who subscribes again meanwhile has never left."""
    keeper, one = keepers(), uuid4()
    await keeper.open([(one, "anna")])
    await keeper.subscribe([(one, A), (one, B), (one, C)])
    await keeper.unsubscribe([(one, A), (one, B)], linger=MOMENT)
    assert await presence.viewers() == {"A": 1, "B": 1, "C": 1}
    assert [answer.outcome for answer in await keeper.subscribe([(one, A)])] == ["already"]
    await keeper.unsubscribe([(one, C)], linger=MOMENT)
    await until(lambda: _is(presence, {"A": 1}), "what nobody came back to is left")
    await keeper.unsubscribe([(one, A)], linger=MOMENT)
    await keeper.resume(one, "anna", [A, B])
    await keeper.unsubscribe([(one, B)], linger=MOMENT)
    await until(lambda: _is(presence, {"A": 1}), "who resumes has come back, too")
    await keeper.run_once()
    assert await presence.viewers() == {"A": 1}


async def test_who_leaves_for_good_does_not_linger(presence: PresenceSql, keepers: Keepers) -> None:
    """A clean close is at once, whatever lingers; so is the end of the gateway."""
    keeper, one, two = keepers(), uuid4(), uuid4()
    await keeper.open([(one, "anna"), (two, "bert")])
    await keeper.subscribe([(one, A), (two, A)])
    await keeper.unsubscribe([(one, A), (two, A)], linger=LATER)
    await keeper.close([one])
    assert await presence.viewers() == {"A": 1}
    await keeper.stop()
    assert await presence.viewers() == {}


async def test_a_session_that_lingers_may_come_back(presence: PresenceSql, keepers: Keepers) -> None:
    """A connection that broke is closed after a moment, unless its client resumes the session before."""
    keeper, one, two = keepers(), uuid4(), uuid4()
    await keeper.open([(one, "anna"), (two, "bert")])
    await keeper.subscribe([(one, A), (two, A)])
    await keeper.close([one], linger=MOMENT)
    assert (await keeper.resume(one, "anna", [A])).outcome is OpenOutcome.OPEN
    await keeper.close([two], linger=MOMENT)
    await until(lambda: _is(presence, {"A": 1}), "who did not come back is gone")
    assert keeper.sessions == 1


async def test_who_comes_back_while_leaving_stays(presence: PresenceSql, owner: Database, keepers: Keepers) -> None:
    """A leave that is under way is over before the same pair is subscribed again: the last word is the client's."""
    keeper, one = keepers(), uuid4()
    await keeper.open([(one, "anna")])
    await keeper.subscribe([(one, A)])
    async with owner.transaction() as other:
        await other.execute("lock table livewell_private.session in access exclusive mode")
        leaving = asyncio.create_task(keeper.unsubscribe([(one, A)]))
        await until(lambda: owner.fetchval(WAITS), "it is leaving")
        coming = asyncio.create_task(keeper.subscribe([(one, A)]))
        await asyncio.wait([coming], timeout=0.1)
        assert await owner.fetchval(WAITS) == 1
    await asyncio.gather(leaving, coming)
    assert [answer.outcome for answer in coming.result()] == ["subscribed"]
    assert await presence.viewers() == {"A": 1}


async def test_who_dwells_asks_when_it_has_stayed(presence: PresenceSql, owner: Database, keepers: Keepers) -> None:
    """After its dwell what a client still looks at is refreshed ahead of all else, and nothing of what it left."""
    keeper, one = keepers(), uuid4()
    await keeper.resume(one, "anna", [A, B], dwell=MOMENT)
    await keeper.subscribe([(one, C)], dwell=MOMENT)
    await keeper.unsubscribe([(one, A)])
    await keeper.unsubscribe([(one, B)], linger=LATER)
    assert await owner.fetchval("select count(*) from livewell.jobs") == 0
    waiting = "select array_agg((payload ->> 'key', priority)::text) from livewell.jobs where state = 'pending'"
    await until(lambda: owner.fetchval(waiting), "something is asked for")
    assert await owner.fetchval(waiting) == ["(C,1000)"]
    await keeper.stop()


async def _is(presence: PresenceSql, viewers: dict[str, int]) -> bool:
    return await presence.viewers() == viewers


CLIENTS = {1: "anna", 2: "anna", 3: "bert"}
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["move", "move", "look", "away", "leave", "late close", "cut off", "sweep", "round", "round"]),
        st.sampled_from(sorted(CLIENTS)),
        st.integers(0, 1),
        st.lists(st.sampled_from([A, B, C]), max_size=3),
    ),
    max_size=25,
)


class _History:
    """Three clients and two gateways: where each client is and what it looks at, as the clients know it."""

    def __init__(self, owner: Database, database: Database) -> None:
        self.owner = owner
        self.presence = PresenceSql(owner, owner)
        self.lost: list[list[UUID]] = [[], []]
        store = PresenceStore(database)
        self.keepers = [GatewayKeeper(store, label=f"g{at}", on_lost=self.lost[at].append) for at in (0, 1)]
        self.at: dict[int, int] = {}
        self.items: dict[int, set[Item]] = {}

    async def begin(self) -> None:
        tables = ", ".join(
            f"livewell_private.{name}" for name in ("session", "gateway", "subscription", "viewer", "item", "job_live")
        )
        await self.owner.execute(f"truncate {tables} cascade")

    async def step(self, what: str, client: int, gateway: int, items: list[Item]) -> None:
        session, here = session_id(client), self.at.get(client)
        match what:
            case "move":
                resumed = await self.keepers[gateway].resume(session, CLIENTS[client], items)
                assert resumed.outcome in {OpenOutcome.OPENED, OpenOutcome.OPEN}
                self.at[client], self.items[client] = gateway, set(items)
            case "look" if here is not None:
                answers = await self.keepers[here].subscribe([(session, item) for item in items])
                assert {answer.outcome for answer in answers} <= {"subscribed", "already"}
                self.items[client].update(items)
            case "away" if here is not None:
                await self.keepers[here].unsubscribe([(session, item) for item in items])
                self.items[client].difference_update(items)
            case "leave" if here is not None:
                await self.keepers[here].close([session])
                del self.at[client], self.items[client]
            case "late close" if here != gateway:
                await self.keepers[gateway].close([session])
            case "cut off":
                await self.owner.execute(CUT_OFF, self.keepers[gateway].gateway)
            case "sweep":
                await self.owner.execute(SWEEP)
            case "round":
                await self.keepers[gateway].run_once()
            case _:
                return
        assert await self.presence.is_exact()

    async def end(self) -> None:
        """The last sockets of clients that are elsewhere end, everybody renews, and all is as the clients know it."""
        for client in CLIENTS:
            for gateway in {0, 1} - {self.at.get(client)}:
                await self.keepers[gateway].close([session_id(client)])
        for keeper in self.keepers * 2:
            await keeper.run_once()
        await self.owner.execute(SWEEP)
        viewers = defaultdict(set)
        for client, items in self.items.items():
            for item in items:
                viewers[item.key].add(CLIENTS[client])
        assert await self.presence.viewers() == {key: len(users) for key, users in viewers.items()}
        assert await self.presence.is_exact()
        rows = await self.owner.fetch("select id, gateway from livewell_private.session")
        assert {row["id"].int: row["gateway"] for row in rows} == {
            client: self.keepers[gateway].gateway for client, gateway in self.at.items()
        }
        assert [keeper.sessions for keeper in self.keepers] == [list(self.at.values()).count(at) for at in (0, 1)]
        for keeper in self.keepers:
            await keeper.stop()


@effort(60)
@given(steps=STEPS)
@example(steps=[("move", 1, 0, [A]), ("move", 1, 1, [B]), ("late close", 1, 0, [])])
@example(steps=[("move", 1, 0, [A]), ("cut off", 1, 0, []), ("move", 1, 1, [B]), ("round", 1, 0, [])])
@example(steps=[("move", 1, 0, [A]), ("cut off", 1, 0, []), ("sweep", 1, 0, []), ("look", 1, 0, [B])])
async def test_clients_move_between_gateways_in_any_order(
    presence: PresenceSql, owner: Database, database: Database, steps: list[Any]
) -> None:
    """However clients move, leave late, and gateways are cut off and come back: who looks is who the clients say."""
    del presence
    history = _History(owner, database)
    await history.begin()
    for step in steps:
        await history.step(*step)
    await history.end()
