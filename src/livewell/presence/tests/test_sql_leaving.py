"""A refresh that nobody waits for any more is not sent ahead of what somebody waits for, however calls cross."""

import asyncio
import json
import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import hypothesis.strategies as st
from hypothesis import example, given

from livewell.kernel import Connection, Database, DatabaseOptions, connect
from livewell.presence.tests.surface import GONE_AFTER, MINUTE, NOON, SECOND, PresenceSql, session_id
from livewell.testing import effort, make_type, until, wait_long

ON_SUBSCRIBE = 1000
REASON = "nobody looks at it any more"
Claimed = tuple[int, Any]


async def _waiting(owner: Database) -> dict[str, tuple[int, str]]:
    """Priority and cause of the refreshes that wait, by key."""
    rows = await owner.fetch(
        "select payload ->> 'key' as key, priority, payload ->> 'cause' as cause from livewell.jobs"
        " where state = 'pending'"
    )
    return {row["key"]: (row["priority"], row["cause"]) for row in rows}


async def _claim(caller: "Database | Connection", now: datetime, most: int = 100) -> list[Claimed]:
    rows = await caller.fetch("select * from livewell.claim_jobs('w', '{refresh}', $1, p_now => $2)", most, now)
    return [(row["job_id"], row["lease_token"]) for row in rows]


async def _finish(caller: "Database | Connection", claimed: Sequence[Claimed], outcome: str, now: datetime) -> None:
    await caller.execute(
        "select livewell.finish_jobs($1, $2, $3, null, $4)",
        [job[0] for job in claimed],
        [job[1] for job in claimed],
        [outcome] * len(claimed),
        now,
    )


async def test_the_refresh_of_who_left_is_dropped(presence: PresenceSql, owner: Database) -> None:
    """When the last viewer leaves before it is sent, it is cancelled and says why; what others wait for stays."""
    await presence.open((1, "anna"), (2, "bert"))
    await presence.subscribe((1, "A"), (1, "B"), (2, "B"))
    assert await _waiting(owner) == {"A": (ON_SUBSCRIBE, "subscribe"), "B": (ON_SUBSCRIBE, "subscribe")}
    await presence.unsubscribe((1, "A"), (1, "B"), now=NOON + SECOND)
    assert set(await _waiting(owner)) == {"B"}
    job = await owner.fetchrow("select state, reason from livewell.jobs where payload ->> 'key' = 'A'")
    assert tuple(job or ()) == ("cancelled", REASON)


async def test_what_a_fetch_came_to_outlasts_its_viewers(presence: PresenceSql, owner: Database) -> None:
    """That nobody looks is no news of the source: the item keeps the reason of its last fetch."""
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"))
    await owner.execute("update livewell_private.item set last_outcome = 'failed', last_reason = 'HTTP 500'")
    await presence.unsubscribe((1, "A"))
    assert await _waiting(owner) == {}
    item = await owner.fetchrow("select last_outcome, last_reason from livewell_private.item")
    assert tuple(item or ()) == ("failed", "HTTP 500")


async def test_who_comes_back_is_served_again(presence: PresenceSql, owner: Database) -> None:
    """A refresh that was dropped is queued anew for the next viewer, first as ever."""
    await presence.open((1, "anna"))
    for _ in range(3):
        await presence.subscribe((1, "A"))
        assert await _waiting(owner) == {"A": (ON_SUBSCRIBE, "subscribe")}
        await presence.unsubscribe((1, "A"))
        assert await _waiting(owner) == {}


async def test_it_goes_with_a_session_that_vanished(presence: PresenceSql, owner: Database) -> None:
    """Whichever way the last viewer goes: closed, swept, or with its gateway."""
    await presence.open((1, "anna"))
    await presence.open((2, "bert"), gateway="g")
    await presence.open((3, "carl"))
    await presence.subscribe((1, "A"), (2, "B"), (3, "C"))
    await presence.close(1)
    assert set(await _waiting(owner)) == {"B", "C"}
    await presence.close_gateway("g")
    assert set(await _waiting(owner)) == {"C"}
    await owner.execute("select livewell_private.task_presence_sweep($1)", NOON + GONE_AFTER + SECOND)
    assert await _waiting(owner) == {}


async def test_what_a_walk_counts_on_waits_with_scheduled_work(presence: PresenceSql, owner: Database) -> None:
    """A type that is walked keeps the refresh, behind everybody who waits; it is raised again for who comes back."""
    await make_type(owner, "news", cron="0 * * * *", strategy="both")
    await owner.execute("select livewell_private.begin_walks($1)", NOON)
    await presence.open((1, "anna"))
    asked = ([session_id(1)], ["news"], ["A"], NOON)
    await presence.caller.execute("select outcomes from livewell.subscribe($1, $2, $3, $4)", *asked)
    await presence.caller.execute("select livewell.unsubscribe($1, $2, $3, $4)", *asked)
    assert await _waiting(owner) == {"A": (-1, "scheduled")}
    await presence.caller.execute("select outcomes from livewell.subscribe($1, $2, $3, $4)", *asked)
    assert await _waiting(owner) == {"A": (ON_SUBSCRIBE, "scheduled")}


async def test_what_others_asked_for_goes_back_to_its_place(presence: PresenceSql, owner: Database) -> None:
    """A refresh of a walk, a prefetch or a sample that a viewer had raised is where it was when the viewer has left."""
    places = {"scheduled": -1, "prefetch": -2, "sample": 0}
    await presence.open((1, "anna"))
    pairs = [(1, cause) for cause in places]
    for cause, priority in places.items():
        asked = "select livewell_private.check_items(array[item_id], $2, $3, $4)"
        asked += " from livewell_private.make_items('{quote}', array[$1], $4)"
        await owner.execute(asked, cause, min(-1, priority), cause, NOON)
    await presence.subscribe(*pairs)
    raised = {priority for priority, _ in (await _waiting(owner)).values()}
    assert raised == {ON_SUBSCRIBE, ON_SUBSCRIBE // 2, ON_SUBSCRIBE // 4}
    await presence.unsubscribe(*pairs)
    assert await _waiting(owner) == {cause: (priority, cause) for cause, priority in places.items()}


async def test_what_somebody_queued_for_another_cause_stays(presence: PresenceSql, owner: Database) -> None:
    """A program that queued a refresh of its own is somebody who waits."""
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"))
    await owner.execute("""update livewell_private.job_live set payload = payload || '{"cause": "import"}'""")
    await presence.unsubscribe((1, "A"))
    assert await _waiting(owner) == {"A": (ON_SUBSCRIBE, "import")}


async def _fail(owner: Database, claimed: Sequence[Claimed], now: datetime) -> None:
    """The provider answers with a fault."""
    ended = (
        "select livewell.store_fetches(jsonb_agg(j.payload || jsonb_build_object('job', c.id, 'token', c.token,"
        " 'outcome', 'failed', 'reason', 'status', 'message', 'HTTP 500')), $3)"
        " from unnest($1::bigint[], $2::uuid[]) as c (id, token) join livewell.jobs as j on j.id = c.id"
    )
    await owner.execute(ended, [job[0] for job in claimed], [job[1] for job in claimed], now)


async def test_a_refresh_that_failed_is_behind_for_nobody(presence: PresenceSql, owner: Database) -> None:
    """Whoever it was for has left while it was fetched: its next try waits behind everybody who waits."""
    await presence.open((1, "anna"), (2, "bert"))
    await presence.subscribe((1, "A"), (2, "B"))
    claimed = await _claim(owner, NOON)
    await presence.unsubscribe((1, "A"))
    await _fail(owner, claimed, NOON + SECOND)
    assert await _waiting(owner) == {"A": (0, "subscribe"), "B": (ON_SUBSCRIBE, "subscribe")}


async def test_coming_back_does_not_hurry_the_next_try(presence: PresenceSql, owner: Database) -> None:
    """A refresh that failed keeps its failures and its time, however often its viewer leaves and comes back."""
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"))
    await _fail(owner, await _claim(owner, NOON), NOON)
    shown = "select id, failures, due_at, waiting_for from livewell_private.job_live"
    before = await owner.fetch(shown)
    assert before[0]["due_at"] > NOON + 2 * SECOND
    for _ in range(3):
        await presence.unsubscribe((1, "A"), now=NOON + SECOND)
        assert await _waiting(owner) == {"A": (0, "subscribe")}
        await presence.subscribe((1, "A"), now=NOON + 2 * SECOND)
        assert await _waiting(owner) == {"A": (ON_SUBSCRIBE, "subscribe")}
    assert await owner.fetch(shown) == before
    assert await _claim(owner, NOON + 2 * SECOND) == []
    assert len(await _claim(owner, before[0]["due_at"])) == 1


async def _as_user(caller: Connection, statement: str, *arguments: Any) -> Any:
    await caller.execute("set local role livewell_user")
    await caller.execute("select set_config('request.jwt.claims', $1, true)", json.dumps({"sub": "anna"}))
    return await caller.fetchval(statement, *arguments)


async def test_nobody_gets_round_the_wait_after_a_failure(presence: PresenceSql, owner: Database) -> None:
    """After a refresh failed for good neither coming back, nor asking, nor a sweep queues it before its time."""
    now: datetime = await owner.fetchval("select clock_timestamp()")
    await presence.open((1, "anna"), (2, "bert"), now=now)
    await presence.subscribe((1, "A"), now=now)
    await owner.execute("update livewell_private.job_live set retries = 0")
    await _fail(owner, await _claim(owner, now), now)
    due: datetime = await owner.fetchval("select due_at from livewell_private.item")
    assert due > now + 30 * SECOND
    await presence.unsubscribe((1, "A"), now=now)
    await presence.subscribe((1, "A"), now=now + SECOND)
    async with owner.transaction() as transaction:
        asked = "select decision from livewell.check_on_subscribe('{quote}', 'A')"
        assert await _as_user(transaction, asked) == "refresh_failed"
    await owner.execute("select livewell_private.task_freshness_sweep($1)", now + SECOND)
    await owner.execute("select livewell_private.task_check($1)", due - SECOND)
    assert await _waiting(owner) == {}
    assert await owner.fetchval("select due_at from livewell_private.item") == due
    await owner.execute("select livewell_private.task_check($1)", due)
    assert await _waiting(owner) == {"A": (1, "missing")}
    await presence.subscribe((2, "A"), now=due)
    assert await _waiting(owner) == {"A": (ON_SUBSCRIBE, "missing")}


async def test_what_was_let_go_unsent_owes_no_wait(presence: PresenceSql, owner: Database) -> None:
    """Whoever comes back after the wait is over is served at once, also when its new refresh was let go before."""
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"))
    await owner.execute("update livewell_private.job_live set retries = 0")
    await _fail(owner, await _claim(owner, NOON), NOON)
    await presence.unsubscribe((1, "A"))
    due: datetime = await owner.fetchval("select due_at from livewell_private.item")
    for step in range(3):
        await presence.subscribe((1, "A"), now=due + step * SECOND)
        assert await _waiting(owner) == {"A": (ON_SUBSCRIBE, "subscribe")}
        await presence.unsubscribe((1, "A"), now=due + step * SECOND)
        assert await _waiting(owner) == {}


async def test_samples_do_not_wait_for_who_leaves(presence: PresenceSql, owner: Database) -> None:
    """While the leaving of an idle user is not committed, the others are drawn without it."""
    await presence.open((1, "anna"), (2, "bert"))
    await presence.subscribe((1, "A"), (2, "B"))
    await owner.execute("update livewell_private.item set expires_at = $1", NOON + MINUTE)
    async with owner.transaction() as leaving:
        left = await _as_user(
            leaving,
            "select livewell.unwatch($1, $2::text::jsonb)",
            session_id(1),
            json.dumps([{"type": "quote", "key": "A"}]),
        )
        assert left == 1
        async with owner.transaction() as drawing:
            await drawing.execute("set local lock_timeout = '2s'")
            assert await drawing.fetchval("select livewell_private.draw_samples('sim', 10, $1)", NOON) == 1
    drawn = "select i.key from livewell_private.sample as p join livewell_private.item as i on i.id = p.item_id"
    assert [row["key"] for row in await owner.fetch(drawn)] == ["B"]
    assert set(await _waiting(owner)) == {"B"}


async def test_the_sweep_lets_go_what_could_not_be(presence: PresenceSql, owner: Database) -> None:
    """A refresh that was running when its viewer left, and came back unsent, is let go within a minute or so."""
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"))
    claimed = await _claim(owner, NOON)
    await presence.unsubscribe((1, "A"))
    await _finish(owner, claimed, "reset", NOON + SECOND)
    assert set(await _waiting(owner)) == {"A"}
    await owner.execute("select livewell_private.task_freshness_sweep($1)", NOON + 30 * SECOND)
    assert set(await _waiting(owner)) == {"A"}
    await owner.execute("select livewell_private.task_freshness_sweep($1)", NOON + 2 * MINUTE)
    assert await _waiting(owner) == {}


async def test_what_stays_takes_no_place_in_the_sweep(presence: PresenceSql, owner: Database) -> None:
    """However many refreshes of other causes, or that somebody waits for, are in front: what is let go is found."""
    await presence.open((1, "anna"), (2, "bert"))
    await presence.subscribe((1, "A"), (1, "B"), (1, "C"), (2, "D"), (2, "E"))
    claimed = await _claim(owner, NOON)
    await presence.unsubscribe((1, "A"), (1, "B"), (1, "C"))
    await _finish(owner, claimed, "reset", NOON + SECOND)
    await owner.execute(
        """update livewell_private.job_live set priority = 2000, payload = payload || '{"cause": "import"}'"""
        " where payload ->> 'key' in ('A', 'B')"
    )
    await owner.execute("update livewell_private.job_live set priority = 1500 where payload ->> 'key' in ('D', 'E')")
    found = await owner.fetchval("select livewell_private.unwatched_refreshes(1, $1)", NOON + 2 * MINUTE)
    assert found == [await owner.fetchval("select id from livewell_private.item where key = 'C'")]


STEPS = st.lists(
    st.tuples(
        st.sampled_from([*["subscribe", "unsubscribe", "claim", "failed"] * 2, "fetched", "check", "sweep", "later"]),
        st.sampled_from([1, 2]),
        st.sampled_from(["A", "B"]),
    ),
    min_size=3,
    max_size=20,
)


LATER = timedelta(seconds=15)


class _History:
    """Steps in any order against what must be true after each."""

    def __init__(self, owner: Database) -> None:
        self.owner = owner
        self.presence = PresenceSql(owner, owner)
        self.now = NOON
        self.claimed: list[Claimed] = []
        self.not_before: dict[str, datetime] = {}

    async def begin(self) -> None:
        await self.owner.execute(
            "truncate livewell_private.job, livewell_private.item, livewell_private.subscription,"
            " livewell_private.viewer, livewell_private.session,"
            " livewell_private.record restart identity cascade"
        )
        await self.owner.execute("update livewell_private.job_kind set retries = 1 where kind = 'refresh.quote'")
        await self.presence.open((1, "anna"), (2, "bert"))

    async def step(self, what: str, session: int, key: str) -> None:
        self.now += SECOND
        match what:
            case "subscribe":
                await self.presence.subscribe((session, key), now=self.now)
                await self._is_served(key)
            case "unsubscribe":
                await self.presence.unsubscribe((session, key), now=self.now)
            case "claim":
                await self._claim()
            case "later":
                self.now += LATER
                await self.presence.renew(1, 2, now=self.now)
            case "check":
                await self.owner.execute("select livewell_private.task_check($1)", self.now)
            case "sweep":
                await self.owner.execute("select livewell_private.task_presence_sweep($1)", self.now)
            case _ if self.claimed:
                await self._end(self.claimed.pop(0), what)

    async def _claim(self) -> None:
        claimed = await _claim(self.owner, self.now, 1)
        for job, _ in claimed:
            key = await self.owner.fetchval("select payload ->> 'key' from livewell.jobs where id = $1", job)
            assert self.not_before.get(key, self.now) <= self.now
        self.claimed += claimed

    async def _end(self, claimed: Claimed, outcome: str) -> None:
        ended = (
            "select livewell.store_fetches(jsonb_build_array(j.payload || jsonb_build_object("
            "'job', j.id, 'token', $2::uuid, 'outcome', $3::text, 'reason', 'none',"
            """ 'rows', '[{"price": 1}]'::jsonb)), $4)"""
            " from livewell.jobs as j where j.id = $1"
        )
        await self.owner.execute(ended, claimed[0], claimed[1], outcome, self.now)
        row = await self.owner.fetchrow(
            "select i.key, coalesce(l.due_at, i.due_at) as due_at from livewell.jobs as j"
            " join livewell_private.item as i on i.key = j.payload ->> 'key' left join livewell_private.job_live"
            " as l on l.id = j.id"
            " where j.id = $1",
            claimed[0],
        )
        if row is not None:
            self.not_before[row["key"]] = row["due_at"] if outcome == "failed" else self.now

    async def _is_served(self, key: str) -> None:
        """Who subscribes to what is missing has a refresh that runs or goes first, or waits because one failed."""
        if self.not_before.get(key, self.now) > self.now:
            return
        found = await self.owner.fetch(
            "select j.state, j.priority, j.attempt from livewell.jobs as j"
            " where j.payload ->> 'key' = $1 and j.state in ('pending', 'processing')",
            key,
        )
        fresh = await self.owner.fetchval(
            "select expires_at > $2 from livewell_private.item where key = $1", key, self.now
        )
        assert fresh or [row for row in found if row["state"] == "processing" or row["priority"] >= ON_SUBSCRIBE // 2]

    async def holds(self) -> None:
        """Nothing of what nobody looks at waits ahead of scheduled work."""
        rows = await self.owner.fetch(
            "select i.key from livewell_private.item as i join livewell.jobs as j on j.payload ->> 'key' = i.key"
            " where i.viewers = 0 and j.state = 'pending' and j.priority > 0"
        )
        assert [row["key"] for row in rows] == []


def _steps(*names: str) -> list[tuple[str, int, str]]:
    return [(name, 1, "A") for name in names]


@effort(150)
@given(steps=STEPS)
@example(steps=_steps("subscribe", "claim", "failed", "unsubscribe", "subscribe", "claim"))
@example(steps=_steps("subscribe", "claim", "failed", "later", "claim", "failed", "unsubscribe", "subscribe", "claim"))
async def test_nothing_waits_for_nobody_in_any_order(presence: PresenceSql, owner: Database, steps: list[Any]) -> None:
    """In any order: nothing waits for nobody, who comes is served, and what failed is not tried before its time."""
    del presence
    history = _History(owner)
    await history.begin()
    for what, session, key in steps:
        await history.step(what, session, key)
        await history.holds()


async def test_a_claim_does_not_wait_for_who_leaves(presence: PresenceSql, owner: Database) -> None:
    """While the leaving is not committed, a claim passes the refresh over and does not wait; after it there is none."""
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"))
    await wait_long(owner, "lock_items")
    async with owner.transaction() as leaving:
        await PresenceSql(leaving, owner).unsubscribe((1, "A"))
        async with asyncio.timeout(5):
            assert await _claim(owner, NOON) == []
    assert await _claim(owner, NOON) == []


async def test_who_leaves_does_not_wait_for_a_claim(presence: PresenceSql, owner: Database) -> None:
    """A refresh that is being claimed is on its way: leaving neither waits for it nor takes it back."""
    await presence.open((1, "anna"))
    await presence.subscribe((1, "A"))
    async with owner.transaction() as claiming:
        claimed = await _claim(claiming, NOON)
        async with asyncio.timeout(5):
            await presence.unsubscribe((1, "A"))
    assert len(claimed) == 1
    assert await owner.fetchval("select state from livewell.jobs") == "processing"


async def test_who_comes_while_another_leaves_is_served(presence: PresenceSql, owner: Database) -> None:
    """Whoever subscribes while the last viewer is leaving waits for that to be over, and has a refresh of the own."""
    await presence.open((1, "anna"), (2, "bert"))
    await presence.subscribe((1, "A"))
    async with owner.transaction() as leaving:
        await PresenceSql(leaving, owner).unsubscribe((1, "A"))
        coming = asyncio.create_task(presence.subscribe((2, "A")))
        await until(partial(_is_anybody_blocked, owner), "it waits")
    async with asyncio.timeout(10):
        assert await coming == ["subscribed"]
    assert await _waiting(owner) == {"A": (ON_SUBSCRIBE, "subscribe")}


async def _is_anybody_blocked(owner: Database) -> bool:
    waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    return bool(await owner.fetchval(waiting))


RIVALS = 6
CALLS = 40
KEYS = [f"K{n}" for n in range(8)]


async def _rival(connection: Connection, number: int) -> None:
    chance = random.Random(number)
    presence = PresenceSql(connection, connection)
    claimed: list[Claimed] = []
    for step in range(CALLS):
        now = NOON + step * SECOND
        pairs = [(chance.randrange(1, 13), key) for key in chance.sample(KEYS, 4)]
        match chance.randrange(6):
            case 0 | 1:
                await presence.subscribe(*pairs, now=now)
            case 2 | 3:
                await presence.unsubscribe(*pairs, now=now)
            case 4:
                claimed += await _claim(connection, now, 3)
            case _ if claimed:
                await _finish(connection, claimed, chance.choice(["failed", "completed", "reset"]), now)
                claimed = []


async def test_rivals_neither_deadlock_nor_leave_anything(owner: Database, owner_url: str) -> None:
    """Six connections come, leave, claim and finish the same keys: no call fails, and nothing is left waiting."""
    presence = PresenceSql(owner, owner)
    await presence.quote()
    await presence.open(*((n, f"u{n % 5}") for n in range(1, 13)))
    async with AsyncExitStack() as stack:
        connections = []
        for _ in range(RIVALS):
            connection = await connect(DatabaseOptions(url=owner_url))
            stack.push_async_callback(connection.close)
            connections.append(connection)
        await asyncio.gather(*(_rival(connection, number) for number, connection in enumerate(connections)))
    await owner.execute("select livewell.rescue_jobs(1000, $1)", NOON + 10 * MINUTE)
    await presence.close(*range(1, 13), now=NOON + 20 * MINUTE)
    await owner.execute("select livewell_private.task_freshness_sweep($1)", NOON + 20 * MINUTE)
    assert {key: found for key, found in (await _waiting(owner)).items() if found[0] > 0} == {}
