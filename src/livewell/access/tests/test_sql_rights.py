"""What a change of rights tells whoever shows data, and what users learn by the functions they call themselves."""

import json
from typing import Any

import pytest

from livewell.access import AccessStore, NotReadable, Scope, new_access_key
from livewell.access.tests.callers import as_user, call
from livewell.access.tests.issuing import declare
from livewell.access.tests.viewers import make_notes, make_private_notes, put_record
from livewell.kernel import Database, LivewellError
from livewell.registry import UnknownType
from livewell.testing import connected, make_type, until

READ = "select key, value::text, fetched_at, is_stale, viewers, why from livewell.read_items($1, $2)"


async def test_a_change_of_rights_is_told_at_its_commit(owner: Database, owner_url: str) -> None:
    """Shares, rules, issuers, access keys and `rights_changed`: each names what it is about, or nothing for all."""
    heard: list[Any] = []

    async def told() -> bool:
        return len(heard) == 8

    await make_type(owner, "quote", read_rule="public")
    made = new_access_key()
    store = AccessStore(owner)
    async with connected(owner_url) as listener:
        await listener.add_listener("livewell_rights", lambda *said: heard.append(json.loads(str(said[-1]))))
        await call(owner, "ada", "create_subject", "s", "profile")
        await call(owner, "ada", "share", "s", "bob")
        await call(owner, "ada", "unshare", "s", "bob")
        await store.rights_changed()
        await store.rights_changed(user="bob", data_type="quote")
        await owner.execute("update livewell_private.data_type set read_rule = 'signed_in', updated_at = now()")
        await owner.execute("update livewell_private.data_type set ttl = '2 minutes', updated_at = now()")
        await declare(owner, secret="env:X_API_KEY")
        await declare(owner, secret="env:X_API_KEY")
        await store.add_access_key(
            made.id, "x", made.hashed, [Scope.SERVICE], user=None, tenant=None, expires_at=None, reason=None, actor="x"
        )
        await store.revoke_access_key(made.id, reason=None, actor="x")
        await until(told, "all of it was told")
    assert heard == [
        {"user": "ada"},
        {"user": "bob"},
        {"user": "bob"},
        {},
        {"user": "bob", "type": "quote"},
        {"type": "quote"},
        {},
        {"access_key": made.id},
    ]


async def test_rights_are_changed_of_what_there_is(database: Database) -> None:
    """A type that nobody declared, or a user that cannot be, is refused."""
    store = AccessStore(database)
    with pytest.raises(UnknownType):
        await store.rights_changed(data_type="nothing")
    with pytest.raises(LivewellError):
        await store.rights_changed(user="x" * 201)


async def test_users_who_read_themselves_are_let_through_by_the_same_rule(owner: Database) -> None:
    """`read_items` shows what the claims let through; of the rest nothing but that it is not for them."""
    await make_type(
        owner, "note", read_rule="claim", read_claim="tenant", read_equals="column:tenant", **await make_notes(owner)
    )
    await make_type(owner, "account", read_rule="claim", read_claim="tenant", read_equals="key")
    await put_record(owner, "account", "red", "1")
    await put_record(owner, "account", "blue", "2")
    async with as_user(owner, "ada", tenant="red") as connection:
        mine, other, none = await connection.fetch(READ, "note", ["a", "b", "c"])
        assert json.loads(mine["value"])["owner"] == "ada"
        assert tuple(other) == ("b", None, None, True, 0, "not for you")
        assert none["why"].startswith("never fetched")
        red, blue = await connection.fetch(READ, "account", ["red", "blue"])
        assert red["value"] == "1"
        assert tuple(blue) == ("blue", None, None, True, 0, "not for you")
    assert len(await owner.fetch(READ, "note", ["a", "b"])) == 2


async def test_a_table_with_row_level_security_is_not_read_round_it(owner: Database) -> None:
    """Whoever calls `read_items` for such a type is sent to the table; the service reads all."""
    await make_private_notes(owner)
    with pytest.raises(NotReadable, match="row-level security"):
        await call(owner, "ada", "read_items", "note", ["a"])
    with pytest.raises(NotReadable):
        await call(owner, "ada", "read_values", "note", ["a"])
    (row,) = await owner.fetch(READ, "note", ["a"])
    assert row["value"] is not None
