"""What ordinary users call: for themselves, by their claims, and within limits."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest

from livewell.access import NotReadable, NotSignedIn
from livewell.freshness import InvalidKey
from livewell.kernel import Connection, Database, NotPermitted
from livewell.presence import InvalidPresence, NotYourSession, TooMany
from livewell.presence.tests.surface import PresenceSql
from livewell.testing import make_type


@asynccontextmanager
async def signed_in(owner: Database, claims: Any) -> AsyncIterator[Connection]:
    """A transaction of an ordinary user, who has rights on no table."""
    async with owner.transaction() as transaction:
        await transaction.execute("set local role livewell_user")
        await transaction.execute("select set_config('request.jwt.claims', $1, true)", claims)
        yield transaction


async def call(owner: Database, user: str, function: str, *arguments: Any) -> Any:
    places = ", ".join(f"${n}" for n in range(1, len(arguments) + 1))
    async with signed_in(owner, json.dumps({"sub": user})) as transaction:
        return await transaction.fetchval(f"select livewell.{function}({places})", *arguments)


def items(*keys: str) -> str:
    return json.dumps([{"type": "quote", "key": key} for key in keys])


async def test_a_user_watches_renews_and_leaves(presence: PresenceSql, owner: Database) -> None:
    """One call opens the session and subscribes; a heartbeat keeps it; all of it is idempotent."""
    session = uuid4()
    assert await call(owner, "anna", "watch", session, items("A", "B")) == 2
    assert await call(owner, "anna", "watch", session, items("A", "C")) == 1
    assert await presence.viewers() == {"A": 1, "B": 1, "C": 1}
    assert await call(owner, "anna", "keep_watching", session) is True
    assert await call(owner, "anna", "unwatch", session, items("A", "Z")) == 1
    assert await call(owner, "anna", "stop_watching", session) is True
    assert await call(owner, "anna", "stop_watching", session) is False
    assert await call(owner, "anna", "keep_watching", session) is False
    assert await presence.viewers() == {}


async def test_nobody_touches_the_session_of_another(presence: PresenceSql, owner: Database) -> None:
    """Whatever a user asks of a session of somebody else is refused, and changes nothing."""
    session = uuid4()
    await call(owner, "anna", "watch", session, items("A"))
    for function, arguments in (
        ("watch", [items("B")]),
        ("unwatch", [items("A")]),
        ("keep_watching", []),
        ("stop_watching", []),
    ):
        with pytest.raises(NotYourSession):
            await call(owner, "eve", function, session, *arguments)
    assert await presence.viewers() == {"A": 1}


@pytest.mark.parametrize("claims", ["", "{}", '{"sub": ""}', '{"sub": null}', "no json", '{"user": "anna"}'])
async def test_without_claims_there_is_no_user(presence: PresenceSql, owner: Database, claims: str) -> None:
    """Identity is the verified subject, never a parameter; the empty text that poolers leave behind is nobody."""
    del presence
    with pytest.raises(NotSignedIn):
        async with signed_in(owner, claims) as transaction:
            await transaction.fetchval("select livewell.watch(gen_random_uuid(), '[]')")


@pytest.mark.parametrize("wrong", ['{"type": "quote"}', "[1]", '[{"type": "quote"}]', '[{"type": 1, "key": "A"}]'])
async def test_items_that_are_none_are_refused(presence: PresenceSql, owner: Database, wrong: str) -> None:
    """Nothing of the call is done: the session is not opened either."""
    del presence
    with pytest.raises(InvalidPresence):
        await call(owner, "anna", "watch", uuid4(), wrong)
    with pytest.raises(InvalidKey):
        await call(owner, "anna", "watch", uuid4(), items("A", "two words"))
    assert await owner.fetchval("select count(*) from livewell_private.session") == 0


async def test_a_user_has_limits(presence: PresenceSql, owner: Database, database: Database) -> None:
    """Too many items or sessions refuse the whole call with the fact, and leave what was there."""
    await database.execute("select livewell.set_setting('presence.items_per_session', '2')")
    await database.execute("select livewell.set_setting('presence.sessions_per_user', '1')")
    session = uuid4()
    assert await call(owner, "anna", "watch", session, items("A")) == 1
    for asked in (items("B", "C"), items("A", "B", "C")):
        with pytest.raises(TooMany):
            await call(owner, "anna", "watch", session, asked)
    with pytest.raises(TooMany):
        await call(owner, "anna", "watch", uuid4(), items("A"))
    assert await presence.viewers() == {"A": 1}


async def test_a_user_sees_only_sessions_of_the_own(presence: PresenceSql, owner: Database) -> None:
    """The view shows the caller's, and the tables and the views of the service show nothing."""
    del presence
    session = uuid4()
    await call(owner, "anna", "watch", session, items("A", "B"))
    await call(owner, "bert", "watch", uuid4(), items("A"))
    async with signed_in(owner, '{"sub": "anna"}') as transaction:
        rows = await transaction.fetch("select id, items from livewell.my_sessions")
    assert [tuple(row) for row in rows] == [(session, 2)]
    for table in ("session", "subscription", "viewer", "sessions", "viewers"):
        with pytest.raises(NotPermitted):
            async with signed_in(owner, '{"sub": "anna"}') as transaction:
                await transaction.fetch(f"select from livewell_private.{table}")


async def test_the_service_has_no_identity_to_borrow(presence: PresenceSql, database: Database) -> None:
    """What users call is theirs alone; a program names its users in the functions made for it."""
    del presence
    with pytest.raises(NotPermitted):
        await database.fetchval("select livewell.watch(gen_random_uuid(), '[]')")


async def test_the_rule_of_a_type_says_who_looks(presence: PresenceSql, owner: Database) -> None:
    """Looking spends: what a user may not read it neither watches nor has checked, and no item comes of it."""
    await make_type(owner, "secret", read_rule="nobody")
    await make_type(owner, "account", read_rule="claim", read_claim="tenant", read_equals="key")
    for data_type in ("secret", "account"):
        asked = json.dumps([{"type": "quote", "key": "A"}, {"type": data_type, "key": "blue"}])
        with pytest.raises(NotReadable):
            await call(owner, "anna", "watch", uuid4(), asked)
        with pytest.raises(NotReadable):
            await call(owner, "anna", "check_on_subscribe", [data_type], "blue")
    assert await owner.fetchval("select count(*) from livewell_private.item") == 0
    assert await presence.viewers() == {}
    async with signed_in(owner, json.dumps({"sub": "anna", "tenant": "blue"})) as transaction:
        asked = json.dumps([{"type": "account", "key": "blue"}])
        assert await transaction.fetchval("select livewell.watch($1, $2)", uuid4(), asked) == 1
