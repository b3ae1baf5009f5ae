"""Logins for middle tiers: what `livewell access login` makes is only what it says; nobody else's role is touched."""

import secrets
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from livewell.kernel import (
    Database,
    DatabaseOptions,
    InvalidLogin,
    LoginNotOurs,
    LoginRole,
    make_login,
)
from livewell.testing import Address, OwnServer, connected
from tests.acceptance.command import Cli

PASSWORD = "correct horse battery"
NewName = Callable[[str], str]

_ROLE = "select r.*, shobj_description(oid, 'pg_authid') as mark from pg_roles as r where rolname = $1"
_MEMBER_OF = "select array_agg(roleid::regrole::text) from pg_auth_members where member = quote_ident($1)::regrole"
_SETTINGS = "select setconfig from pg_db_role_setting where setrole = quote_ident($1)::regrole and setdatabase = 0"


@pytest_asyncio.fixture
async def named(owner: Database) -> AsyncIterator[NewName]:
    """Names of this test's own, whose roles go with it: roles belong to the whole server."""
    given: list[str] = []

    def new(text: str = "shop") -> str:
        given.append(f"{text}{secrets.token_hex(4)}")
        return given[-1]

    yield new
    for name in given:
        (quoted,) = await owner.fetch("select quote_ident($1)", name)
        await owner.execute(f"drop role if exists {quoted[0]}")


@pytest.mark.parametrize(
    ("chosen", "role"), [("user", "livewell_user"), ("anon", "livewell_anon"), ("service", "livewell_service")]
)
async def test_a_login_is_only_what_it_says(
    owner_cli: Cli, owner: Database, named: NewName, chosen: str, role: str
) -> None:
    """A member of that role and of nothing else, with its time limits and its limit of connections set on itself."""
    name = named("shop")
    ran = await owner_cli("access", "login", name, "--as", chosen, "--connections", 7, "--lock", "2s", "--json")
    assert {**ran.json, "password": len(ran.json["password"])} == {
        "login": name,
        "member_of": role,
        "made": True,
        "password": 32,
    }
    (found,) = await owner.fetch(_ROLE, name)
    assert found["rolcanlogin"]
    assert found["rolconnlimit"] == 7
    more = ("rolsuper", "rolcreaterole", "rolcreatedb", "rolreplication", "rolbypassrls")
    assert not any(found[right] for right in more)
    assert await owner.fetchval(_MEMBER_OF, name) == [role]
    assert sorted(await owner.fetchval(_SETTINGS, name)) == [
        "idle_in_transaction_session_timeout=60000ms",
        "lock_timeout=2000ms",
        "statement_timeout=30000ms",
    ]
    stored = await owner.fetchval("select rolpassword from pg_authid where rolname = $1", name)
    assert stored.startswith("SCRAM-SHA-256$4096:")
    listed = {login["name"]: login for login in (await owner_cli("access", "list", "--json")).json}
    assert listed[name]["member_of"] == [role]
    assert listed[name]["made_here"]


async def test_a_login_asks_as_its_role_and_no_further(owner_cli: Cli, owner_url: str, named: NewName) -> None:
    """Who comes with it may call what its role may, and has no right on any table."""
    name = named("shop")
    ran = await owner_cli("access", "login", name, "--as", "anon", "--json")
    address = replace(Address.of(owner_url), user=name, password=ran.json["password"])
    async with connected(address.url) as connection:
        assert await connection.fetchval("show lock_timeout") == "5s"
        for refused in (
            "select * from livewell_private.setting",
            "select livewell.claim_jobs('w', '{general}')",
            "create role x",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(refused)


async def test_the_password_opens_and_no_other(own_folder: Path) -> None:
    """Over TCP, where a password is asked, the one it was made with opens: the verifier is as the server's own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = await OwnServer.begin(own_folder, {"fsync": "off"}, listen_port=port)
    async with (
        await Database.open(DatabaseOptions(url=server.owner_url)) as database,
        database.transaction() as connection,
    ):
        assert await make_login(connection, "shop", LoginRole.USER, PASSWORD)
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(f"postgresql://shop:wrong@127.0.0.1:{port}/livewell")
    there = await asyncpg.connect(host="127.0.0.1", port=port, database="livewell", user="shop", password=PASSWORD)
    assert await there.fetchval("select current_user") == "shop"
    await there.close()
    await server.stop()


@pytest.mark.parametrize("text", ['a"b', "a'b", "a b", "Größe", "a;drop role x", "$1", "%I", "a\\", "SELECT"])
async def test_any_name_is_only_a_name(owner: Database, named: NewName, text: str) -> None:
    """What would be SQL elsewhere is a name: exactly that role is there, with its membership."""
    name = named(text)
    async with owner.transaction() as connection:
        assert await make_login(connection, name, LoginRole.USER, PASSWORD)
    assert await owner.fetchval(_MEMBER_OF, name) == ["livewell_user"]


@pytest.mark.parametrize("name", ["", "a" * 64, "ü" * 32, "a\tb", "a\nb", "a\u202eb"])
async def test_what_is_no_name_is_refused(owner: Database, name: str) -> None:
    """Too long, empty, or with characters that cannot be seen: a fact, and nothing is made."""
    async with owner.connection() as connection:
        with pytest.raises(InvalidLogin):
            await make_login(connection, name, LoginRole.USER, PASSWORD)


@pytest.mark.parametrize("name", ["postgres", "livewell_owner", "livewell_user", "livewell_test_service"])
async def test_nobody_elses_role_is_touched(owner: Database, name: str) -> None:
    """A role that it did not make keeps its password, its settings and its memberships."""
    looks = ["select * from pg_authid where rolname = $1", _MEMBER_OF, _SETTINGS]
    before = [await owner.fetch(look, name) for look in looks]
    async with owner.connection() as connection:
        with pytest.raises(LoginNotOurs):
            await make_login(connection, name, LoginRole.USER, PASSWORD)
    assert [await owner.fetch(look, name) for look in looks] == before


async def test_one_that_became_more_is_left_alone(owner_cli: Cli, owner: Database, named: NewName) -> None:
    """A login made here that was given more since is somebody's decision: it is not changed."""
    name = named("shop")
    await owner_cli("access", "login", name)
    await owner.execute(f"alter role {name} createrole")
    assert "[kernel.login_not_ours]" in (await owner_cli("access", "login", name, code=1)).err


async def test_made_again_it_has_a_new_password_and_another_role(
    owner_cli: Cli, owner: Database, named: NewName
) -> None:
    """The same command changes what it made: the old password and the old role are gone."""
    name = named("shop")
    await owner_cli("access", "login", name, "--as", "service")
    password = "select rolpassword from pg_authid where rolname = $1"
    before = await owner.fetchval(password, name)
    ran = await owner_cli("access", "login", name, "--password-file", "-", "--reason", "moved", stdin=f"{PASSWORD}\n")
    assert "changed" in ran.out
    assert "password" not in ran.out
    assert await owner.fetchval(password, name) != before
    assert await owner.fetchval(_MEMBER_OF, name) == ["livewell_user"]
    told = await owner.fetch(
        "select event, reason, new::text from livewell_private.audit_entry where record_id = $1 order by id", name
    )
    assert [(row["event"], row["reason"]) for row in told] == [("login_made", None), ("login_changed", "moved")]
    assert "correct horse" not in str(told)


@pytest.mark.parametrize("text", ["short", "with\ttabs in it", "with\nmore lines", "Größenwahnsinnig"])
async def test_a_password_that_cannot_be_one_is_refused(owner: Database, text: str) -> None:
    """Too short, in several lines, or written differently by different machines: a fact that does not repeat it."""
    async with owner.connection() as connection:
        with pytest.raises(InvalidLogin) as refused:
            await make_login(connection, "shop", LoginRole.USER, text)
    assert text not in str(refused.value)


async def test_who_may_not_make_roles_is_told_what_is_needed(cli: Cli, named: NewName) -> None:
    """The service may not, and the fact says who may."""
    ran = await cli("access", "login", named("shop"), code=1)
    assert "CREATEROLE" in ran.err
    assert "[kernel.not_permitted]" in ran.err
