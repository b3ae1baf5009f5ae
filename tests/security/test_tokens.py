"""Tokens and access keys that were made to get in: each is refused, cheaply, and nothing of it is repeated anywhere."""

import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from livewell.access import (
    AccessError,
    AccessStore,
    Doorkeeper,
    ExpiredCredential,
    InvalidCredential,
    InvalidIssuer,
    KeysUnavailable,
    Scope,
    new_access_key,
)
from livewell.access.tests.issuing import (
    EC,
    NOW,
    RSA,
    SECRET,
    claims,
    declare,
    public_keys,
    serving,
    token,
    written,
)
from livewell.budgets import KeySources
from livewell.kernel import Database
from livewell.testing import captured_logs

LARGEST_TOKEN, LARGEST_KEY_SET = 8192, 256 * 1024
AT = int(NOW.timestamp())
PEM = RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
HS, RS = {"alg": "HS256", "typ": "JWT"}, {"alg": "RS256", "kid": "one"}


def _by_hand(header: dict[str, Any], said: Any, secret: bytes) -> str:
    """Signed with a shared secret, whatever its header says: no library would."""
    begun = written(header, said).rpartition(".")[0]
    return f"{begun}.{urlsafe_b64encode(hmac.digest(secret, begun.encode(), sha256)).rstrip(b'=').decode()}"


def _signed(said: Any = None, **more: Any) -> str:
    """As the issuer signs, whatever it says."""
    return _by_hand(HS, claims(**more) if said is None else said, SECRET.encode())


@pytest_asyncio.fixture
async def door(database: Database, owner: Database, tmp_path: Path) -> AsyncIterator[Doorkeeper]:
    """Two issuers: one signs with a secret, the other with an RSA key."""
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "keys.json").write_text(json.dumps(public_keys(one=RSA)))
    await declare(owner, secret=f"file:{tmp_path}/secret")
    await declare(owner, "rsa", issuer="rsa", algorithm="RS256", jwks=f"file:{tmp_path}/keys.json")
    yield Doorkeeper(database, sources=KeySources(folders=(tmp_path,)), now=lambda: NOW)


FORGED = {
    "none": written({"alg": "none"}, claims(), b""),
    "None": written({"alg": "None"}, claims(), b""),
    "no algorithm": written({"typ": "JWT"}, claims()),
    "algorithm is a list": written({"alg": ["HS256"]}, claims()),
    "another algorithm of the secret": token(algorithm="HS512"),
    "another secret": token("another secret of which nobody should think, ever"),
    "no signature": token().rpartition(".")[0] + ".",
    "claims changed": ".".join((token().split(".")[0], token(sub="eve").split(".")[1], token().split(".")[2])),
    "key confusion": _by_hand({"alg": "HS256", "kid": "one"}, claims(iss="rsa"), PEM),
    "key confusion, as RSA": _by_hand(RS, claims(iss="rsa"), PEM),
    "secret of the other issuer": token(iss="rsa"),
    "key of the other issuer": token(RSA, "RS256", {"kid": "one"}),
    "elliptic for RSA": token(EC, "ES256", {"kid": "one"}, iss="rsa"),
    "another key under the same id": token(
        rsa.generate_private_key(public_exponent=65537, key_size=2048), "RS256", {"kid": "one"}, iss="rsa"
    ),
    "key in the token": written({**RS, "jwk": public_keys(x=RSA)["keys"][0]}, claims(iss="rsa")),
    "address in the token": written({**RS, "jku": "http://127.0.0.1:1/"}, claims(iss="rsa")),
    "critical": _by_hand({**HS, "crit": ["exp"]}, claims(), SECRET.encode()),
    "detached": _by_hand({**HS, "b64": False}, claims(), SECRET.encode()),
}
WRONG = {
    "of another issuer": _signed(iss="https://evil.example"),
    "issuer is a list": _signed(iss=["https://login.example"]),
    "of no issuer": _signed(iss=None),
    "for another audience": _signed(aud="another"),
    "for no audience": _signed(aud=None),
    "audience is an object": _signed(aud={"livewell": True}),
    "for a part of the audience": _signed(aud="livewel"),
    "without an end": _signed(exp=None),
    "end is no number": _signed(exp="tomorrow"),
    "end is true": _signed(exp=True),
    "end is infinite": _signed(json.dumps(claims(exp=0)).replace('"exp": 0', '"exp": 1e999').encode()),
    "end is no number at all": _signed(exp=float("nan")),
    "end is beyond time": _signed(exp=10**30),
    "not valid yet": _signed(nbf=AT + 60),
    "made tomorrow": _signed(iat=AT + 86400),
    "without a subject": _signed(sub=None),
    "subject is a number": _signed(sub=7),
    "subject is empty": _signed(sub=""),
    "subject is long": _signed(sub="x" * 201),
    "subject turns the text": _signed(sub="a\u202eb"),
    "subject pretends to be anonymous": _signed(sub="anon:ada"),
    "tenant is a list": _signed(tenant=["red"]),
    "a claim no database holds": _signed(note="\x00"),
    "a claim that is half a character": _signed(note="\ud800"),
    "a claim that is no number": _signed(note=float("nan")),
    "claims are a list": _signed([claims()]),
    "claims are deep": _signed(json.dumps(claims())[:-1].encode() + b', "x": ' + b"[" * 900 + b"]" * 900 + b"}"),
}
KEY_IDS = {
    "path": "../../../../dev/null",
    "file": "file:///etc/passwd",
    "sql": "' union select 'x' --",
    "huge": "k" * 4000,
    "empty": "",
    "address": "http://127.0.0.1:1/",
}
MALFORMED = {
    "empty": "",
    "word": "token",
    "points": "..",
    "many points": "." * 5000,
    "spaces": " " + token(),
    "line": token() + "\n",
    "no base64": "%%%.%%%.%%%",
    "no JSON": written(b"x", b"y"),
    "deep": written(HS, b"[" * 5000),
    "long number": written(HS, b'{"exp": ' + b"9" * 5000 + b"}"),
    "huge": "a" * (LARGEST_TOKEN + 1),
    "huge and good": token(note="x" * LARGEST_TOKEN),
    "not ASCII": "ä.ö.ü",
    "a key of another shape": "lw_short",
    "a key with more": new_access_key().key.reveal() + "A",
}


async def _let_in(door: Doorkeeper, sent: dict[str, str]) -> list[str]:
    """Which of these were not refused by the fact that says so; any other error is one."""
    found = []
    for what, credential in sent.items():
        try:
            await door.admit(credential)
        except InvalidCredential:
            continue
        found.append(what)
    return found


async def test_a_forged_token_is_refused(door: Doorkeeper) -> None:
    """Unsigned, signed otherwise, signed by another, or with a key it brings itself."""
    assert await _let_in(door, FORGED) == []


async def test_a_signed_token_that_says_what_it_must_not_is_refused(door: Doorkeeper) -> None:
    """Issuer, audience, end, beginning and subject are asked for, and each must be what it is."""
    assert await _let_in(door, WRONG) == []


async def test_a_token_ends_when_it_says_and_leeway_is_small(door: Doorkeeper) -> None:
    """Ten seconds for clocks that differ, and not one more."""
    assert (await door.admit(token(exp=AT - 9))).user == "ada"
    with pytest.raises(ExpiredCredential):
        await door.admit(token(exp=AT - 10))
    assert (await door.admit(token(nbf=AT + 10))).user == "ada"


async def test_the_id_of_a_key_is_only_looked_up(door: Doorkeeper) -> None:
    """A path, an address or SQL is an id like any other: there is no such key."""
    sent = {what: token(RSA, "RS256", {"kid": key_id}, iss="rsa") for what, key_id in KEY_IDS.items()}
    assert await _let_in(door, sent) == []
    for odd in (7, None, ["one"], {"one": 1}):
        with pytest.raises(InvalidCredential):
            await door.admit(written({"alg": "RS256", "kid": odd}, claims(iss="rsa")))


async def test_what_is_no_credential_is_refused(door: Doorkeeper) -> None:
    """Whatever is sent is a fact, never another error."""
    assert await _let_in(door, MALFORMED) == []


class _Unasked:
    """A database that must not be asked."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the database was asked: {name}")


async def test_what_is_no_credential_costs_the_database_nothing() -> None:
    """Its size and shape are looked at first."""
    unasked: Any = _Unasked()
    assert await _let_in(Doorkeeper(unasked, sources=KeySources()), MALFORMED) == []


async def test_a_guessed_access_key_costs_one_look_at_an_index(door: Doorkeeper, owner: Database) -> None:
    """It is found by the hash of all of it, so that no answer says how near a guess was; nothing is written."""
    made = new_access_key()
    await AccessStore(owner).add_access_key(
        made.id, "x", made.hashed, [Scope.SERVICE], user=None, tenant=None, expires_at=None, reason=None, actor="x"
    )
    right = made.key.reveal()
    wrong = [right[:-1] + ("A" if right[-1] != "A" else "B"), right[:3] + "A" * 43, new_access_key().key.reveal()]
    told = set()
    for guess in wrong:
        with pytest.raises(InvalidCredential) as refused:
            await door.admit(guess)
        told.add(str(refused.value))
    assert len(told) == 1
    async with owner.transaction() as connection:
        await connection.execute("set local enable_seqscan = off")
        plan = await connection.fetch(
            "explain (costs off) select from livewell_private.access_key as k where k.hash = '\\x00'"
        )
    assert "access_key_is_known_by_its_hash" in str(plan)
    assert await owner.fetchval("select last_used from livewell_private.access_key") is None


def test_an_access_key_is_256_bits_and_no_two_are_alike() -> None:
    """Random as a whole; what is kept of it is its hash, and what is shown of it is nothing."""
    made = [new_access_key() for _ in range(1000)]
    assert len({key.key.reveal() for key in made}) == len({key.id for key in made}) == 1000
    assert all(len(key.key.reveal()) == 46 and key.hashed == sha256(key.key.reveal().encode()).digest() for key in made)
    assert made[0].key.reveal() not in repr(made[0])


async def _leads_on(_: web.Request) -> web.StreamResponse:
    raise web.HTTPFound("/other")


async def _is_huge(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(LARGEST_KEY_SET // 65536 + 2):
        await response.write(b" " * 65536)
    await response.write(json.dumps(public_keys(one=RSA)).encode())
    return response


async def _is_html(_: web.Request) -> web.StreamResponse:
    return web.Response(text="<html>sign in</html>", content_type="text/html")


@pytest.mark.parametrize("answer", [_leads_on, _is_huge, _is_html], ids=["redirect", "huge", "page"])
async def test_an_address_of_keys_is_believed_little(
    database: Database, owner: Database, answer: Any, tmp_path: Path
) -> None:
    """It is not followed, not read without end, and what is no key set is none."""
    asked: list[str] = []

    async def counted(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        found: web.StreamResponse = await answer(request)
        return found

    async with serving(counted) as url:
        await declare(owner, algorithm="RS256", jwks=url)
        door = Doorkeeper(database, sources=KeySources(folders=(tmp_path,)), now=lambda: NOW)
        for _ in range(3):
            with pytest.raises(KeysUnavailable):
                await door.admit(token(RSA, "RS256", {"kid": "one"}))
    assert asked == ["/keys.json"]


NO_ISSUERS: list[dict[str, Any]] = [
    {"jwks": "http://login.example/keys"},
    {"jwks": "http://127.0.0.1.evil.example/keys"},
    {"jwks": "https://user:secret@login.example/keys"},
    {"jwks": "https://login.example/a b"},
    {"jwks": "ftp://login.example/keys"},
    {"jwks": None, "secret": "env:X_API_KEY"},
    {"secret": "env:X_API_KEY"},
    {"algorithm": "HS256"},
    {"algorithm": "none"},
    {"algorithm": "PS256"},
    {"algorithm": None},
    {"issuer": ""},
    {"audience": None},
    {"role": "livewell_service"},
    {"role": "livewell_owner"},
    {"role": "livewell_reader"},
    {"role": "postgres"},
    {"role": "nobody there"},
    {"leeway": "1 hour"},
    {"scopes": {"a": "root"}, "scopes_claim": "s"},
    {"scopes": {"a": "operator"}},
    {"unknown": 1},
]


async def test_an_issuer_that_would_let_too_much_in_is_refused(owner: Database) -> None:
    """Plain HTTP, two ways to verify, a role that is more than a viewer: a fact, and no issuer."""
    for wrong in NO_ISSUERS:
        said = {"algorithm": "RS256", "jwks": "https://login.example/keys", **wrong}
        with pytest.raises(InvalidIssuer):
            await declare(owner, **said)
        assert await owner.fetchval("select count(*) from livewell_private.issuer") == 0, wrong


async def test_one_issuer_has_one_algorithm(owner: Database) -> None:
    """The same issuer under a second name, signed otherwise, is refused."""
    await declare(owner, secret="env:X_API_KEY")
    with pytest.raises(InvalidIssuer, match="one issuer has one algorithm"):
        await declare(owner, "twin", algorithm="RS256", jwks="https://login.example/keys")


async def test_nothing_of_a_credential_is_repeated(door: Doorkeeper, owner: Database) -> None:
    """Neither in a fact nor in what led to it nor in a line of the log: of tokens, keys and secrets nothing."""
    made = new_access_key()
    secret = made.key.reveal()
    sent = [*FORGED.values(), *WRONG.values(), *MALFORMED.values(), token(exp=AT - 99, note="private-note"), secret]
    said: list[str] = []
    with captured_logs() as lines:
        for credential in sent:
            try:
                await door.admit(credential)
            except AccessError as fact:
                found: BaseException | None = fact
                while found is not None:
                    said.append(f"{found!r} {found} {getattr(found, 'detail', '')} {getattr(found, 'fix', '')}")
                    found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)
    told = " ".join(said) + str(lines)
    parts = {part for credential in sent for part in credential.split(".") if len(part) > 20}
    assert [part for part in parts if part in told] == []
    for private in (SECRET, secret, made.hashed.hex(), "private-note"):
        assert private not in told
