"""How what users ask for is shared: nobody's second before everybody's first, so many wait, and depth is left over."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from livewell.freshness.tests.surface import NOON, SECOND, Freshness
from livewell.kernel import Database
from livewell.testing import effort, make_endpoint, make_type

USERS = ["anna", "bert", "carl", "dora"]
MOST = 8
CHECK = "select item_id, decision from livewell_private.check_items($1, 1000, 'subscribe', $2, $3)"
WAITING = "select count(*) from livewell_private.job_live where state = 'pending'"


async def _begin(owner: Database, depth: int | None = None) -> None:
    await owner.execute(
        "truncate livewell_private.job, livewell_private.item, livewell_private.data_type restart identity cascade"
    )
    await owner.execute("delete from livewell_private.limit_use where name = 'sim/note'")
    await owner.execute("delete from livewell_private.endpoint where name = 'sim/note'")
    await owner.execute("select livewell.set_setting('freshness.asked_per_user', $1)", str(MOST))
    await make_endpoint(owner, "sim/note", depth_limit=depth)
    await make_type(owner, "note")


async def _served(owner: Database) -> list[str]:
    """In whose name refreshes are claimed, one after the other, until none is left."""
    served: list[str] = []
    for second in range(1000):
        now = NOON + timedelta(hours=1) + second * SECOND
        row = await owner.fetchrow(
            "select payload ->> 'asked_by' as who from livewell.claim_jobs('w', '{refresh}', 1, p_now => $1)", now
        )
        if row is None:
            break
        served.append(row["who"])
    return served


@effort(120)
@given(asks=st.lists(st.tuples(st.sampled_from(USERS), st.integers(1, 6)), min_size=1, max_size=12))
async def test_everybody_is_served_in_turn(owner: Database, freshness: Freshness, asks: list[tuple[str, int]]) -> None:
    """In whatever order and number users ask: while somebody waits, nobody is two ahead of them, and none waits on."""
    await _begin(owner)
    asked = dict.fromkeys(USERS, 0)
    for turn, (user, many) in enumerate(asks):
        ids = await freshness.items("note", [f"{user}-{turn}-{n}" for n in range(many)])
        found = await owner.fetch(CHECK, ids, NOON + turn * SECOND, [user] * many)
        queued = sum(row["decision"] == "queued" for row in found)
        assert queued == min(many, MOST - asked[user])
        assert {row["decision"] for row in found} <= {"queued", "waiting"}
        asked[user] += queued
    served = dict.fromkeys(USERS, 0)
    for who in await _served(owner):
        served[who] += 1
        behind = [served[user] for user in USERS if served[user] < asked[user]]
        assert all(served[who] <= least + 1 for least in behind)
    assert served == asked


@effort(120)
@given(
    asks=st.lists(st.tuples(st.sampled_from(USERS), st.sampled_from("ABCDEFGH")), min_size=1, max_size=30),
)
async def test_what_several_ask_for_is_nobodys_junk(
    owner: Database, freshness: Freshness, asks: list[tuple[str, str]]
) -> None:
    """Whoever asks first has it first: also what another, with many waiting, had asked for before."""
    await _begin(owner)
    for turn, (user, key) in enumerate(asks):
        mine = "select count(*) from livewell_private.job_live where payload ->> 'asked_by' = $1"
        first = await owner.fetchval(mine, user) == 0
        [item] = await freshness.items("note", [key])
        await owner.fetch(CHECK, [item], NOON + turn * SECOND, [user])
        if first:
            assert (
                await owner.fetchval("select priority from livewell_private.job_live where payload ->> 'key' = $1", key)
                == 1000
            )
    rows = await owner.fetch(
        "select payload ->> 'asked_by' as who, count(*) as jobs from livewell_private.job_live group by 1"
    )
    assert all(row["jobs"] <= MOST for row in rows)


@effort(120)
@given(
    depth=st.integers(4, 60),
    steps=st.lists(st.tuples(st.sampled_from(["ask", "tick"]), st.integers(1, 40)), min_size=1, max_size=10),
    counted=st.booleans(),
)
async def test_one_user_never_fills_the_depth(
    owner: Database, freshness: Freshness, depth: int, steps: list[tuple[str, int]], *, counted: bool
) -> None:
    """By asking and by the checker, in any order: a quarter of the depth is left, and somebody else finds room."""
    await _begin(owner, depth)
    made = 0
    for turn, (step, many) in enumerate(steps):
        now = NOON + 10 * turn * SECOND
        if step == "tick":
            await freshness.tick(now)
            continue
        ids = await freshness.items("note", [f"K{made + n}" for n in range(many)], now)
        made += many
        await owner.fetchval(
            "select livewell_private.change_viewers($1, $2, $3, $4)", ids, [1] * many, now, [0 if counted else 1] * many
        )
        await owner.fetch(CHECK, ids, now, ["junk"] * many)
    assert await owner.fetchval(WAITING) <= -(-3 * depth // 4) + 1
    [other] = await freshness.items("note", ["OTHER"])
    found = await owner.fetch(CHECK, [other], NOON, ["ada"])
    assert [row["decision"] for row in found] == ["queued"]


async def test_a_page_does_not_fill_up_by_the_second(owner: Database, freshness: Freshness) -> None:
    """Under `value` too, who asks gets a quarter of a minute's requests at once, where nothing waits, and no more."""
    await _begin(owner)
    await owner.execute("update livewell_private.endpoint set requests_per_minute = 20 where name = 'sim/note'")
    await owner.execute(
        "update livewell_private.provider set quota_bytes = 1000000000, pace = 'none' where name = 'sim'"
    )
    ids = await freshness.items("note", [f"K{number}" for number in range(8)])
    found = await owner.fetch(CHECK, ids, NOON, ["anna"] * 8)
    assert [row["decision"] for row in found].count("queued") == 5
    others = await freshness.items("note", ["A", "B"])
    found = await owner.fetch(CHECK, others, NOON, ["bert"] * 2)
    assert [row["decision"] for row in found].count("queued") <= 1
