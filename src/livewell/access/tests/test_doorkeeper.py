"""Who comes in: tokens of declared issuers and access keys; everybody else is anonymous or refused."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from livewell.access import (
    ANONYMOUS,
    AccessStore,
    Doorkeeper,
    ExpiredCredential,
    InvalidCredential,
    KeysUnavailable,
    RevokedCredential,
    Scope,
    new_access_key,
)
from livewell.access.key_sets import AGAIN_AFTER, HELD_FOR
from livewell.access.tests.issuing import EC, ED, NOW, RSA, SECRET, claims, declare, public_keys, serving, token
from livewell.budgets import KeySources
from livewell.kernel import Database, LivewellError


class Clock:
    """A clock that a test winds."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at

    def wind(self, by: timedelta) -> None:
        self.at += by.total_seconds()


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    place = tmp_path / "secret"
    place.write_text(SECRET)
    return place


def doorkeeper(database: Database, folder: Path, clock: Clock | None = None) -> Doorkeeper:
    return Doorkeeper(database, sources=KeySources(folders=(folder,)), now=lambda: NOW, clock=clock or Clock())


async def test_a_token_says_who_comes(database: Database, owner: Database, secret_file: Path) -> None:
    """User, tenant, scopes, claims, end and role are what its issuer's declaration makes of it."""
    await declare(
        owner,
        secret=f"file:{secret_file}",
        tenant_claim="org",
        scopes_claim="scope",
        scopes={"steer": "operator", "look": "observer"},
    )
    door = doorkeeper(database, secret_file.parent)
    found = await door.admit(token(org="red", tenant="forged", scope="steer service other", plan="gold"))
    assert found.user == "ada"
    assert found.tenant == "red"
    assert found.claims["tenant"] == "red"
    assert found.claims["plan"] == "gold"
    assert found.scopes == {Scope.USER, Scope.OPERATOR}
    assert found.role == "livewell_user"
    assert found.expires_at == NOW + timedelta(minutes=5)
    plain = await door.admit(token(tenant="forged", scope=["look", 7]))
    assert (plain.tenant, "tenant" in plain.claims) == (None, False)
    assert plain.scopes == {Scope.USER, Scope.OBSERVER}


async def test_nobody_is_anonymous(database: Database, tmp_path: Path) -> None:
    """Without a credential one is let in as nobody; an empty one is not none."""
    door = doorkeeper(database, tmp_path)
    assert await door.admit(None) is ANONYMOUS
    with pytest.raises(InvalidCredential):
        await door.admit("")


@pytest.mark.parametrize(
    ("said", "user"), [({"sub": "ada"}, "ada"), ({"sub": "x", "is_anonymous": True}, "anon:x"), ({"sub": "ü 1"}, "ü 1")]
)
async def test_a_user_is_who_the_database_says(
    database: Database, owner: Database, secret_file: Path, said: dict[str, Any], user: str
) -> None:
    """The name of the user is that of `livewell.current_user_id()` for the same claims."""
    await declare(owner, secret=f"file:{secret_file}")
    found = await doorkeeper(database, secret_file.parent).admit(token(**said))
    async with owner.transaction() as connection:
        await connection.execute(
            "select set_config('request.jwt.claims', $1, true)", json.dumps(dict(found.claims), ensure_ascii=False)
        )
        assert await connection.fetchval("select livewell.current_user_id()") == found.user == user


@pytest.mark.parametrize(("algorithm", "key"), [("RS256", RSA), ("ES256", EC), ("EdDSA", ED)])
async def test_keys_come_from_a_file(
    database: Database, owner: Database, tmp_path: Path, algorithm: str, key: Any
) -> None:
    """Each algorithm with its own kind of key, read again when the file has changed."""
    place = tmp_path / "keys.json"
    place.write_text(json.dumps(public_keys(one=key)))
    await declare(owner, algorithm=algorithm, jwks=f"file:{place}")
    door = doorkeeper(database, tmp_path)
    assert (await door.admit(token(key, algorithm, {"kid": "one"}))).user == "ada"
    assert (await door.admit(token(key, algorithm))).user == "ada"
    with pytest.raises(InvalidCredential, match="no such key"):
        await door.admit(token(key, algorithm, {"kid": "two"}))
    place.write_text(json.dumps(public_keys(two=key, three=key)))
    assert (await door.admit(token(key, algorithm, {"kid": "two"}))).user == "ada"
    with pytest.raises(InvalidCredential, match="no such key"):
        await door.admit(token(key, algorithm))


async def test_an_address_is_asked_seldom(database: Database, owner: Database, tmp_path: Path) -> None:
    """Once in ten minutes, and for an unknown key at most every half minute; held keys count while it is silent."""
    asked = 0
    keys: dict[str, Any] | None = public_keys(one=ED)

    async def answer(_: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        return web.Response(status=500) if keys is None else web.json_response(keys)

    async with serving(answer) as url:
        await declare(owner, algorithm="EdDSA", jwks=url)
        clock = Clock()
        door = doorkeeper(database, tmp_path, clock)
        for _ in range(5):
            assert (await door.admit(token(ED, "EdDSA", {"kid": "one"}))).user == "ada"
        for n in range(20):
            with pytest.raises(InvalidCredential):
                await door.admit(token(ED, "EdDSA", {"kid": f"unknown{n}"}))
        assert asked == 1
        clock.wind(AGAIN_AFTER)
        keys = public_keys(two=ED)
        assert (await door.admit(token(ED, "EdDSA", {"kid": "two"}))).user == "ada"
        with pytest.raises(InvalidCredential):
            await door.admit(token(ED, "EdDSA", {"kid": "one"}))
        assert asked == 2
        clock.wind(HELD_FOR)
        keys = None
        assert (await door.admit(token(ED, "EdDSA", {"kid": "two"}))).user == "ada"
        assert asked == 3


async def test_without_keys_nobody_comes_in_and_it_is_said(database: Database, owner: Database, tmp_path: Path) -> None:
    """Keys that never came, a file that may not be read, a variable that is not set, a secret that is short."""
    (tmp_path / "short").write_text("too short")
    await declare(owner, "silent", issuer="silent", algorithm="ES256", jwks="http://127.0.0.1:9/keys.json")
    await declare(owner, "outside", issuer="outside", algorithm="ES256", jwks="file:/etc/hostname")
    await declare(owner, "unset", issuer="unset", secret="env:UNSET_API_KEY")
    await declare(owner, "short", issuer="short", secret=f"file:{tmp_path}/short")
    door = doorkeeper(database, tmp_path)
    for name, key, algorithm in (
        ("silent", EC, "ES256"),
        ("outside", EC, "ES256"),
        ("unset", SECRET, "HS256"),
        ("short", SECRET, "HS256"),
    ):
        with pytest.raises(KeysUnavailable) as told:
            await door.admit(token(key, algorithm, {"kid": "a"}, iss=name))
        assert "too short" not in str(told.value).replace("shorter", "")


async def test_an_issuer_that_is_disabled_counts_no_more(
    database: Database, owner: Database, secret_file: Path
) -> None:
    """At once when the doorkeeper is told to forget, else within seconds."""
    await declare(owner, secret=f"file:{secret_file}")
    clock = Clock()
    door = doorkeeper(database, secret_file.parent, clock)
    await door.admit(token())
    await declare(owner, enabled=False)
    await door.admit(token())
    clock.wind(timedelta(seconds=5))
    with pytest.raises(InvalidCredential, match="does not count"):
        await door.admit(token())
    await declare(owner, enabled=True)
    door.forget()
    assert (await door.admit(token())).user == "ada"


async def _add(owner: Database, **more: Any) -> tuple[str, str]:
    made = new_access_key()
    said: dict[str, Any] = {"scopes": [Scope.SERVICE], "user": None, "tenant": None, "expires_at": None, **more}
    await AccessStore(owner).add_access_key(
        made.id, "a key", made.hashed, said.pop("scopes"), reason=None, actor="test", **said
    )
    return made.id, made.key.reveal()


async def test_an_access_key_says_who_comes(database: Database, owner: Database, tmp_path: Path) -> None:
    """What it was made with: scopes, user, tenant and end; the hour of its use is kept."""
    door = doorkeeper(database, tmp_path)
    key_id, key = await _add(owner)
    found = await door.admit(key)
    assert found.scopes == {Scope.SERVICE}
    assert (found.user, found.role, found.access_key, dict(found.claims)) == (None, "livewell_anon", key_id, {})
    _, key = await _add(owner, scopes=[Scope.USER, Scope.OBSERVER], user="ada", tenant="red")
    found = await door.admit(key)
    assert (found.user, found.tenant, found.role) == ("ada", "red", "livewell_user")
    assert found.claims == {"sub": "ada", "tenant": "red"}
    listed = {listed_key.id: listed_key for listed_key in await AccessStore(database).list_access_keys()}
    used = listed[key_id].last_used
    assert used is not None
    assert (used.minute, used.second, used.microsecond) == (0, 0, 0)


async def test_a_revoked_key_opens_nothing_from_then_on(database: Database, owner: Database, tmp_path: Path) -> None:
    """The next call is refused, with nothing to wait for; a second revocation changes nothing, and both are audited."""
    door = doorkeeper(database, tmp_path)
    key_id, key = await _add(owner)
    await door.admit(key)
    assert await AccessStore(owner).revoke_access_key(key_id, reason="lost", actor="test")
    with pytest.raises(RevokedCredential):
        await door.admit(key)
    assert not await AccessStore(owner).revoke_access_key(key_id, reason="lost", actor="test")
    told = await owner.fetch(
        "select event, reason from livewell_private.audit_entry where record_id = $1 order by id", key_id
    )
    assert [tuple(row) for row in told] == [("access_key_added", None), ("access_key_revoked", "lost")]


async def test_an_expired_key_opens_nothing(database: Database, owner: Database, tmp_path: Path) -> None:
    """From the moment it was made to end at."""
    key_id, key = await _add(owner)
    await owner.execute("update livewell_private.access_key set expires_at = now() where id = $1", key_id)
    with pytest.raises(ExpiredCredential):
        await doorkeeper(database, tmp_path).admit(key)


@pytest.mark.parametrize(
    "wrong",
    [
        {"scopes": []},
        {"scopes": ["root"]},
        {"scopes": ["user"]},
        {"user": "anon:x"},
        {"user": ""},
        {"user": "x" * 201},
        {"user": "a\u202eb"},
        {"tenant": ""},
        {"expires_at": NOW - timedelta(days=36500)},
    ],
)
async def test_a_key_that_cannot_be_is_refused(owner: Database, wrong: dict[str, Any]) -> None:
    """Unknown scopes, a user's without a user, names that are none, an end that has passed: a fact, and no key."""
    with pytest.raises(LivewellError, match="access"):
        await _add(owner, **wrong)
    assert await owner.fetchval("select count(*) from livewell_private.access_key") == 0


async def test_only_the_owner_makes_keys_and_issuers(database: Database) -> None:
    """The service admits by them; it makes and revokes none."""
    made = new_access_key()
    store = AccessStore(database)
    with pytest.raises(LivewellError, match="permission denied"):
        await store.add_access_key(
            made.id, "x", made.hashed, [Scope.SERVICE], user=None, tenant=None, expires_at=None, reason=None, actor="x"
        )
    with pytest.raises(LivewellError, match="permission denied"):
        await store.revoke_access_key(made.id, reason=None, actor="x")
    with pytest.raises(LivewellError, match="permission denied"):
        await store.apply_issuers({"app": claims()}, plan_only=True, actor="x")
