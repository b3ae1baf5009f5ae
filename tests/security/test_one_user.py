"""One user takes it all: what a login that watches a thousand junk keys can do to everybody else, tried as it would be.

Each attack comes by the public functions, as `livewell_user` with claims; each guard is taken away once, and the attack
then succeeds.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

import pytest
import pytest_asyncio

from livewell.kernel import Database, LivewellError, NotPermitted
from livewell.testing import make_endpoint, make_type
from tests.contracts.guards import take_away

SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
JUNK = [f"JUNK{n}" for n in range(1000)]
ROOT = UUID(int=11)
CLAIM = (
    "select job_id, lease_token, payload::text as payload from livewell.claim_jobs('w', '{refresh}', 100, p_now => $1)"
)


async def ask(owner: Database, user: str, statement: str, *args: object, **claims: object) -> Any:
    """Call as a user who is signed in, with rights on no table."""
    async with owner.transaction() as transaction:
        await transaction.execute("set local role livewell_user")
        await transaction.execute(
            "select set_config('request.jwt.claims', $1, true)", json.dumps({"sub": user, **claims})
        )
        return await transaction.fetchval(statement, *args)


async def watch(owner: Database, user: str, keys: Sequence[str], *, session: int = 0, **claims: object) -> int:
    items = json.dumps([{"type": "quote", "key": key} for key in keys])
    statement = "select livewell.watch($1, $2::text::jsonb)"
    return int(await ask(owner, user, statement, uuid5(ROOT, f"{user} {session}"), items, **claims))


async def decision(owner: Database, key: str) -> str:
    return str(await owner.fetchval("select decision from livewell_private.item where key = $1", key))


async def clock(owner: Database) -> datetime:
    now: datetime = await owner.fetchval("select clock_timestamp()")
    return now


async def run(owner: Database, seconds: int, since: datetime) -> list[str]:
    """Let checker and worker go on for some seconds: the keys that were fetched. The provider has no junk."""
    fetched: list[str] = []
    for second in range(seconds):
        now = since + second * SECOND
        await owner.execute("select livewell_private.task_check($1)", now)
        for job in await owner.fetch(CLAIM, now):
            payload = json.loads(job["payload"])
            fetched.append(payload["key"])
            junk = payload["key"].startswith("JUNK")
            await owner.execute(
                "select livewell_private.end_refreshes("
                " array[(null, $1::bigint, $2::text, null, null, 100, null,"
                " null)::livewell_private.ended_refresh], $3)",
                payload["item"],
                "gone" if junk else "fetched",
                now,
            )
            if not junk:
                await owner.execute(
                    "insert into livewell_private.record (data_type, key, value, fetched_at) values ('quote',"
                    " $1, '1', $2)"
                    " on conflict (data_type, key) do update set fetched_at = excluded.fetched_at",
                    payload["key"],
                    now,
                )
            await owner.execute(
                "select livewell.finish_jobs(array[$1::bigint], array[$2::uuid], '{completed}', '[{}]', $3)",
                job["job_id"],
                job["lease_token"],
                now,
            )
    return fetched


@pytest_asyncio.fixture
async def stage(owner: Database) -> Database:
    """One type at an endpoint that takes 30 calls a minute, and lets a thousand wait."""
    await make_endpoint(owner, "sim/quote", requests_per_minute=30, depth_limit=1000)
    await make_type(owner, "quote", ttl=timedelta(minutes=5))
    return owner


HONEST = {f"h{n}": f"REAL{n}" for n in range(10)}


async def _junk_does_not_keep_others_out(stage: Database) -> None:
    await watch(stage, "junk", JUNK)
    for user, key in HONEST.items():
        await watch(stage, user, [key])
        assert await decision(stage, key) == "queued"
    fetched = await run(stage, 20, await clock(stage))
    assert set(HONEST.values()) <= set(fetched)


async def test_a_thousand_junk_keys_keep_nobody_out(stage: Database) -> None:
    """Who comes after a user with a thousand junk keys is queued at once and fetched first."""
    await _junk_does_not_keep_others_out(stage)


async def _it_waits_in_turn(stage: Database) -> None:
    """What everybody asks for first is ahead of what anybody asks for second, whoever came first."""
    await watch(stage, "junk", JUNK)
    await watch(stage, "ada", ["REAL1", "REAL2"])
    rows = await stage.fetch(
        "select payload ->> 'key' as key, priority from livewell_private.job_live order by priority desc,"
        " due_at, id limit 4"
    )
    assert [(row["key"], row["priority"]) for row in rows] == [
        ("JUNK0", 1000),
        ("REAL1", 1000),
        ("JUNK1", 500),
        ("REAL2", 500),
    ]
    assert (
        await stage.fetchval("select count(*) from livewell_private.job_live where payload ->> 'asked_by' = 'junk'")
        == 50
    )


async def test_the_first_of_everybody_goes_before_the_second_of_anybody(stage: Database) -> None:
    """Each further refresh that a user has waiting has half the priority of the one before."""
    await _it_waits_in_turn(stage)


async def _leaving_and_coming_back_gains_nothing(stage: Database) -> None:
    """What the checker had queued is raised for who asks, and then waits in that user's name."""
    await stage.execute("select livewell.set_setting('freshness.asked_per_user', '1')")
    await watch(stage, "junk", JUNK[:10])
    now = await clock(stage)
    await stage.execute("select livewell_private.task_check($1)", now)
    await stage.execute("select livewell.claim_jobs('w', '{refresh}', 1, p_now => $1)", now)
    for session in range(1, 4):
        await watch(stage, "junk", [JUNK[session]], session=session)
    top = "select count(*) from livewell_private.job_live where priority > 500 and state = 'pending'"
    assert await stage.fetchval(top) == 1


async def test_many_sessions_are_one_user(stage: Database) -> None:
    """A user's refreshes are counted over all sessions, and those that the checker had queued with them."""
    await _leaving_and_coming_back_gains_nothing(stage)


async def _depth_is_for_all(stage: Database) -> None:
    await stage.execute("update livewell_private.endpoint set depth_limit = 40")
    now = await clock(stage)
    for session in range(3):
        await watch(stage, "junk", JUNK[session * 300 : session * 300 + 300], session=session)
    for second in range(8):
        await stage.execute("select livewell_private.task_check($1)", now + second * SECOND)
    assert await stage.fetchval("select count(*) from livewell_private.job_live") <= 31
    assert await ask(stage, "ada", "select decision from livewell.check_on_subscribe('{quote}', 'REAL')") == "queued"


async def test_one_user_does_not_fill_an_endpoints_depth(stage: Database) -> None:
    """However many keys and sessions, by subscribing and by the checker together: a quarter is left for others."""
    await _depth_is_for_all(stage)


async def _many_items_do_not_count(stage: Database) -> None:
    await watch(stage, "junk", [f"K{n}" for n in range(1000)])
    await watch(stage, "ada", ["K999"])
    rows = await stage.fetch(
        "select key, viewers, uncounted from livewell_private.item where key in ('K0', 'K500', 'K999')"
    )
    assert {row["key"]: (row["viewers"], row["uncounted"]) for row in rows} == {
        "K0": (1, 0),
        "K500": (1, 1),
        "K999": (2, 1),
    }
    counted = await stage.fetchval("select sum(viewers - uncounted) from livewell_private.item")
    assert counted == 21
    for session in range(1, 4):
        await watch(stage, "junk", [f"K{session}x{n}" for n in range(100)], session=session)
    assert await stage.fetchval("select sum(viewers - uncounted) from livewell_private.item") == counted


async def test_who_looks_at_very_many_counts_for_so_many(stage: Database) -> None:
    """A user counts for the rank of `presence.counted_items` items at once, over all sessions; others in full."""
    await _many_items_do_not_count(stage)


async def _the_anonymous_share(stage: Database) -> None:
    for number in range(30):
        await watch(stage, f"a{number}", ["HOT", f"OWN{number}"], is_anonymous=True)
    row = await stage.fetchrow("select viewers, uncounted from livewell_private.item where key = 'HOT'")
    assert tuple(row or ()) == (30, 20)
    asked = await stage.fetch("select payload ->> 'asked_by' as who, priority from livewell_private.job_live")
    assert {row["who"] for row in asked} == {"anon:"}
    assert sum(row["priority"] > 500 for row in asked) == 1
    await watch(stage, "ada", ["HOT"])
    assert await stage.fetchval("select viewers - uncounted from livewell_private.item where key = 'HOT'") == 11


async def test_the_anonymous_count_as_so_many_and_share_one_allowance(stage: Database) -> None:
    """However many anonymous users there are, an item has at most ten of them, and one of their refreshes is first."""
    await _the_anonymous_share(stage)


async def test_nobody_passes_for_an_anonymous_user(stage: Database) -> None:
    """A name that an anonymous user has is refused to one who is not; the sessions of either are safe."""
    await watch(stage, "x", ["A"], is_anonymous=True)
    with pytest.raises(LivewellError, match="nobody is signed in"):
        await watch(stage, "anon:x", ["B"])
    assert await stage.fetchval("select user_id from livewell_private.session") == "anon:x"


async def test_who_is_not_signed_in_asks_for_nothing(stage: Database) -> None:
    """The role `livewell_anon` may call neither: it reads what is public, and sets nothing off."""
    for statement in (
        "select livewell.watch(gen_random_uuid(), '[]')",
        "select * from livewell.check_on_subscribe('{quote}', 'A')",
    ):
        with pytest.raises(NotPermitted):
            await _as_anon(stage, statement)
    assert await stage.fetchval("select count(*) from livewell_private.item") == 0


async def _as_anon(stage: Database, statement: str) -> None:
    async with stage.transaction() as transaction:
        await transaction.execute("set local role livewell_anon")
        await transaction.execute(statement)


async def _only_known_keys(stage: Database) -> None:
    await stage.execute("update livewell_private.data_type set keys_only_known = true")
    await stage.execute("select livewell.import_keys('quote', '{AAPL,MSFT}')")
    assert await watch(stage, "ada", ["AAPL", "MSFT"]) == 2
    for keys in (["JUNK1"], ["AAPL", "JUNK1"]):
        with pytest.raises(LivewellError, match='"JUNK1" is not in the catalogue of type quote') as refused:
            await watch(stage, "junk", keys)
        assert refused.value.code == "registry.unknown_key"
    with pytest.raises(LivewellError, match="not in the catalogue"):
        await ask(stage, "junk", "select decision from livewell.check_on_subscribe('{quote}', 'JUNK2')")
    assert await stage.fetchval("select count(*) from livewell_private.item") == 2
    assert await stage.fetchval("select count(*) from livewell_private.session where user_id = 'junk'") == 0


async def test_a_type_may_take_known_keys_only(stage: Database) -> None:
    """A key that is not in the catalogue is refused with a fact that names it, and nothing is half-done."""
    await _only_known_keys(stage)


async def test_a_key_that_was_watched_before_must_be_known_too(stage: Database) -> None:
    """When a type takes known keys only from now on, junk that is an item already is refused as well."""
    await watch(stage, "junk", ["JUNK1"])
    await stage.execute("update livewell_private.data_type set keys_only_known = true")
    with pytest.raises(LivewellError, match="not in the catalogue"):
        await watch(stage, "ada", ["JUNK1"])


async def test_known_keys_may_be_those_of_a_table(stage: Database) -> None:
    """The catalogue may be a table of the user's; one that cannot be read knows no key."""
    await stage.execute("create table public.symbols (symbol text primary key)")
    await stage.execute("insert into public.symbols values ('AAPL')")
    await stage.execute("grant select on public.symbols to livewell_reader")
    await stage.execute(
        "update livewell_private.data_type"
        " set keys_only_known = true, keys_table = 'public.symbols', keys_key_column = 'symbol'"
    )
    assert await watch(stage, "ada", ["AAPL"]) == 1
    with pytest.raises(LivewellError, match="not in the catalogue"):
        await watch(stage, "ada", ["JUNK1"])
    await stage.execute("drop table public.symbols")
    with pytest.raises(LivewellError, match="the keys of type quote cannot be looked up"):
        await watch(stage, "ada", ["AAPL"], session=1)


async def _gone_is_not_asked_again(stage: Database) -> None:
    now = await clock(stage)
    await watch(stage, "junk", ["JUNK1"])
    assert await run(stage, 2, now + SECOND) == ["JUNK1"]
    await ask(stage, "junk", "select livewell.stop_watching($1)", uuid5(ROOT, "junk 0"))
    for user in ("junk", "ada", "bert"):
        await watch(stage, user, ["JUNK1"], session=1)
        asked = "select decision from livewell.check_on_subscribe('{quote}', 'JUNK1')"
        assert await ask(stage, user, asked) == "refresh_failed"
    assert await run(stage, 5, now + 60 * SECOND) == []
    assert await run(stage, 2, now + HOUR + 10 * SECOND) == ["JUNK1"]
    assert await run(stage, 2, now + 2 * HOUR) == []
    assert await run(stage, 2, now + 3 * HOUR + 20 * SECOND) == ["JUNK1"]


async def test_what_is_gone_is_not_asked_for_again_whoever_watches(stage: Database) -> None:
    """A key that the provider does not have waits an hour, then two, four, …: for everybody, also after all left."""
    await _gone_is_not_asked_again(stage)


async def test_a_changed_declaration_asks_again(stage: Database) -> None:
    """When how a type is fetched has changed, what was gone is asked for at once by who comes, watched or not."""
    now = await clock(stage)
    await watch(stage, "junk", ["JUNK1"])
    assert await run(stage, 2, now + SECOND) == ["JUNK1"]
    await ask(stage, "junk", "select livewell.stop_watching($1)", uuid5(ROOT, "junk 0"))
    await stage.execute(
        "update livewell_private.data_type set model = 'shop.models:Quote', updated_at = clock_timestamp()"
    )
    await watch(stage, "ada", ["JUNK1"])
    assert await decision(stage, "JUNK1") == "queued"


async def _new_keys_have_a_part(stage: Database) -> None:
    """Under the policy `value`, and in the forenoon of an attack: ten users with junk, and keys that are stale."""
    await stage.execute("update livewell_private.provider set policy = 'value'")
    await stage.execute("select livewell.set_setting('freshness.horizon', '20 seconds')")
    now = await clock(stage)
    known = [f"REAL{n}" for n in range(200)]
    await stage.execute(
        "insert into livewell_private.record (data_type, key, value, fetched_at)"
        " select 'quote', k, '1', $2 from unnest($1::text[]) as k",
        known,
        now - HOUR,
    )
    for number in range(10):
        await watch(stage, f"ada{number}", known[number * 20 : number * 20 + 20])
    await stage.execute("update livewell_private.item set fetched_at = $1", now - HOUR)
    for number in range(10):
        await watch(stage, f"junk{number}", [f"JUNK{number}x{n}" for n in range(100)])
    fetched = [key for minute in range(3) for key in await run(stage, 1, now + (60 * minute + 5) * SECOND)]
    assert len(fetched) >= 30
    assert sum(key.startswith("JUNK") for key in fetched) <= len(fetched) / 4


async def test_keys_nobody_has_seen_have_a_part_only(stage: Database) -> None:
    """Keys that were never fetched take a quarter of what can start while others wait, and less when they are junk."""
    await _new_keys_have_a_part(stage)


async def _the_checker_reaches_others(stage: Database) -> None:
    await stage.execute("select livewell.set_setting('freshness.max_items', '100')")
    await watch(stage, "junk", JUNK)
    await watch(stage, "ada", ["REAL"])
    now = await clock(stage)
    await stage.execute("update livewell_private.item set due_at = $1, decided_at = null", now - HOUR)
    await stage.execute("update livewell_private.item set due_at = $1 where key = 'REAL'", now)
    await stage.execute("select livewell_private.task_check($1)", now)
    assert await stage.fetchval("select decided_at from livewell_private.item where key = 'REAL'") == now


async def test_the_checker_is_not_kept_busy(stage: Database) -> None:
    """However much junk is due, what others look at is looked at first."""
    await _the_checker_reaches_others(stage)


Attack = Callable[[Database], Awaitable[None]]
GUARDS: list[tuple[str, str, str, Attack]] = [
    ("decide_items", "p_priority >> least(coalesce(d.turn - 1, 0), 30)::integer", "p_priority", _it_waits_in_turn),
    (
        "share_headroom",
        "coalesce(j.turn > least(v_per_user, ceil(j.depth_limit / 4.0)), false)",
        "false",
        _it_waits_in_turn,
    ),
    ("share_headroom", "when r.rank > r.depth - r.kept then 'waiting'", "", _depth_is_for_all),
    ("share_headroom", "j.soon is not null and j.is_new", "false", _new_keys_have_a_part),
    (
        "queue_refreshes",
        "if v_raised is not null then",
        "if false then",
        _leaving_and_coming_back_gains_nothing,
    ),
    ("change_viewers", "'subscribe', p_now, a.askers", "'subscribe', p_now", _junk_does_not_keep_others_out),
    ("check_due", "and (i.viewers > i.uncounted) = v_counted", "", _the_checker_reaches_others),
    (
        "subscribe",
        "livewell_private.counted_subscriptions(v_new.items, v_new.users)",
        "array_fill(true, array[cardinality(v_new.items)])",
        _many_items_do_not_count,
    ),
    (
        "counted_subscriptions",
        "(not n.anonymous or n.anonymous_turn + v.viewers <= v_anonymous)",
        "true",
        _the_anonymous_share,
    ),
    (
        "askers_of",
        "case when livewell_private.is_anonymous(u.user_id) then 'anon:' else u.user_id end",
        "u.user_id",
        _the_anonymous_share,
    ),
    ("make_items", "perform livewell_private.refuse_unknown_keys(p_types, p_keys);", "", _only_known_keys),
    ("end_refreshes", "when t.outcome in ('gone', 'dead') then i.failed_refreshes + 1", "", _gone_is_not_asked_again),
]


@pytest.mark.parametrize(("function", "guard", "instead", "attack"), GUARDS)
async def test_one_user_is_held_by_its_guards(
    stage: Database, function: str, guard: str, instead: str, attack: Attack
) -> None:
    """Without a guard its attack succeeds."""
    await take_away(stage, function, guard, instead)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        await attack(stage)
