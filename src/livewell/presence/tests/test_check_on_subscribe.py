"""The check an ordinary user asks for: for itself, within the rules, and not too often."""

import json

import pytest

from livewell.access import NotSignedIn
from livewell.freshness import InvalidKey, UnknownType
from livewell.kernel import Database
from livewell.presence.errors import InvalidPresence, TooMany
from livewell.testing import make_table, make_type


async def check(owner: Database, types: list[str], key: str, *, user: str | None = "u1") -> dict[str, str]:
    """Call as an ordinary user, who has rights on no table."""
    async with owner.transaction() as transaction:
        await transaction.execute("set local role livewell_user")
        await transaction.execute(
            "select set_config('request.jwt.claims', $1, true)", json.dumps({"sub": user}) if user else ""
        )
        rows = await transaction.fetch("select * from livewell.check_on_subscribe($1, $2)", types, key)
    return {row["data_type"]: row["decision"] for row in rows}


async def test_missing_and_stale_go_first(owner: Database) -> None:
    """What is missing or stale is queued before everything else, what is fresh is not; one call for several types."""
    await make_type(owner, "quote", **await make_table(owner, "public.quotes"))
    await make_type(owner, "note")
    await make_type(owner, "profile", **await make_table(owner, "public.profiles"))
    await owner.execute(
        "insert into public.quotes values ('AAPL', now());"
        "insert into public.profiles values ('AAPL', now() - interval '1 hour')"
    )
    assert await check(owner, ["quote", "note", "profile"], "AAPL") == {
        "quote": "fresh",
        "note": "queued",
        "profile": "queued",
    }
    rows = await owner.fetch(
        "select dedupe_key, priority, payload ->> 'cause' as cause from livewell_private.job_live order by 1"
    )
    assert [tuple(row) for row in rows] == [
        ("refresh/note/AAPL", 1000, "subscribe"),
        ("refresh/profile/AAPL", 1000, "subscribe"),
    ]


async def test_nobody(owner: Database) -> None:
    """A call without verified claims is refused."""
    await make_type(owner, "note")
    with pytest.raises(NotSignedIn):
        await check(owner, ["note"], "AAPL", user=None)


async def test_bad_input(owner: Database) -> None:
    """An unknown type, a key that is none, and no type at all are refused, with nothing half-done."""
    await make_type(owner, "note")
    with pytest.raises(UnknownType):
        await check(owner, ["note", "notes"], "AAPL")
    with pytest.raises(InvalidKey):
        await check(owner, ["note"], "A'; drop table livewell_private.item; --")
    with pytest.raises(InvalidPresence):
        await check(owner, [], "AAPL")
    assert await owner.fetchval("select count(*) from livewell_private.item") == 0
    assert await owner.fetchval("select count(*) from livewell_private.job_live") == 0


async def _many_checks(owner: Database) -> None:
    for _ in range(8):
        await check(owner, ["note"], "AAPL")


async def test_not_too_often(owner: Database) -> None:
    """One user has so many checks a minute; another has its own, and the next minute begins anew."""
    await make_type(owner, "note")
    await owner.execute("select livewell.set_setting('presence.checks_per_minute', '3')")
    await owner.execute(
        "insert into livewell_private.user_call values ('u1', date_trunc('minute', now()) - interval '1 minute', 3)"
    )
    # A minute may end between two of them, so that up to six are answered.
    with pytest.raises(TooMany, match="more than 3 calls"):
        await _many_checks(owner)
    await check(owner, ["note"], "AAPL", user="u2")


async def test_quota_and_gate_are_obeyed(owner: Database) -> None:
    """A user's check queues nothing for an endpoint that is closed."""
    await make_type(owner, "note")
    await owner.execute("update livewell_private.endpoint set state = 'maintenance' where name = 'sim/note'")
    assert await check(owner, ["note"], "AAPL") == {"note": "endpoint_closed"}


async def test_nothing_is_the_callers_to_choose(owner: Database) -> None:
    """The function takes types and a key, and neither a user nor a priority nor a time."""
    arguments = await owner.fetchval(
        "select pg_get_function_identity_arguments(oid) from pg_proc where proname = 'check_on_subscribe'"
    )
    assert arguments == "p_types text[], p_key text"
    for role in ("livewell_user", "livewell_anon"):
        assert not await owner.fetchval(
            "select has_function_privilege($1, p.oid, 'execute') from pg_proc as p where p.proname = 'check_items'",
            role,
        )


async def test_watching_counts_too(owner: Database) -> None:
    """Watching and watching again is no way round the limit, and what is refused watches nothing."""
    await make_type(owner, "note")
    await owner.execute("select livewell.set_setting('presence.checks_per_minute', '1')")
    # A minute may end between two of them, so that up to two are answered.
    with pytest.raises(TooMany, match="more than 1 calls"):
        await _watch_often(owner)
    assert await owner.fetchval("select count(*) from livewell_private.subscription") <= 2


async def _watch_often(owner: Database) -> None:
    for number in range(4):
        async with owner.transaction() as transaction:
            await transaction.execute("set local role livewell_user")
            await transaction.execute("select set_config('request.jwt.claims', $1, true)", json.dumps({"sub": "u1"}))
            await transaction.fetchval(
                "select livewell.watch($1, $2::text::jsonb)",
                "6b7f4f0e-0000-4000-8000-000000000001",
                json.dumps([{"type": "note", "key": f"K{number}"}]),
            )
