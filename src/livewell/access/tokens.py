"""Tokens: signed claims of an issuer, verified here and nowhere else.

A token is looked at in this order, and the first thing that is wrong ends it: its size, its shape, whether its issuer
counts, whether it is signed as that issuer signs, then times, audience and subject. Which algorithm is used is said by
the issuer's declaration: what the token says must be the same and chooses nothing. Its key id is looked up among the
issuer's keys and is nothing else.
"""

import json
import math
import re
from base64 import urlsafe_b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import jwt
from jwt import PyJWTError

from livewell.access.errors import ExpiredCredential, InvalidCredential, KeysUnavailable
from livewell.access.key_sets import KeySets, PublicKey
from livewell.access.types import Algorithm, Issuer, Principal, Scope, canonical
from livewell.budgets import KeyRing, KeyUnreadable

LARGEST_TOKEN = 8192
SHORTEST_SECRET = 32
_LONGEST_ID = 200
_LONGEST_NAME = 200
_ANONYMOUS = "anon:"
_DEEPEST = 20
# Header, claims and signature; whatever else somebody sends is looked at no further.
_SHAPE = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")

Claims: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class _Opened:
    """A token as it is written, before anything of it is believed."""

    algorithm: object
    key_id: object
    issuer: object


def issuer_named_in(token: str) -> _Opened:
    """What a token says of itself; nothing of it is believed yet."""
    if len(token) > LARGEST_TOKEN or _SHAPE.fullmatch(token) is None:
        raise _refused(f"it is no token of at most {LARGEST_TOKEN} characters")
    header, claims = _parts(token)
    if not header.keys().isdisjoint({"crit", "b64"}):
        raise _refused("it asks for what is not understood here")
    return _Opened(algorithm=header.get("alg"), key_id=header.get("kid"), issuer=claims.get("iss"))


async def verified(token: str, issuer: Issuer, ring: KeyRing, key_sets: KeySets, now: datetime) -> Principal:
    """Whoever a token of this issuer is of; raises what is wrong with it."""
    opened = issuer_named_in(token)
    if opened.algorithm != issuer.algorithm.value:
        raise _refused("it is not signed as its issuer signs")
    key = await _key(issuer, opened.key_id, ring, key_sets)
    try:
        found = jwt.PyJWS(algorithms=[issuer.algorithm.value]).decode_complete(
            token, key, algorithms=[issuer.algorithm.value]
        )
    except (PyJWTError, ValueError, TypeError):
        raise _refused("its signature is not the issuer's") from None
    return principal_of(_object(found["payload"]), issuer, now)


def principal_of(claims: Claims, issuer: Issuer, now: datetime) -> Principal:
    """Whoever these claims are of, which were signed; raises what is wrong with them."""
    if claims.get("iss") != issuer.issuer:
        raise _refused("it is of another issuer")
    audience = claims.get("aud")
    if issuer.audience not in (audience if isinstance(audience, list) else [audience]):
        raise _refused("it is for another audience")
    expires_at = _times(claims, issuer.leeway, now)
    user = user_of(claims)
    tenant = claims.get(issuer.tenant_claim)
    if tenant is not None and not (isinstance(tenant, str) and _is_name(tenant)):
        raise _refused("its tenant is no text of 1 to 200 visible characters")
    # A tenant goes by one name, whatever the issuer calls it: nothing else of a token can be taken for it.
    kept = {name: said for name, said in claims.items() if name != "tenant"}
    known = kept if tenant is None else {**kept, "tenant": tenant}
    try:
        canonical(known)
    except (ValueError, RecursionError):
        raise _refused("it has claims that no database can hold") from None
    return Principal(
        user=user,
        scopes=_scopes(claims, issuer),
        tenant=tenant,
        claims=known,
        expires_at=expires_at,
        access_key=None,
        role=issuer.role,
    )


def user_of(claims: Claims) -> str:
    """Who claims are of, as `livewell.current_user_id()` says it."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not _is_name(subject):
        raise _refused("its subject is no text of 1 to 200 visible characters")
    if claims.get("is_anonymous") is True:
        user = _ANONYMOUS + subject
        if len(user) > _LONGEST_NAME:
            raise _refused("its subject is too long for an anonymous user")
        return user
    if subject.startswith(_ANONYMOUS):
        raise _refused("its subject is named as only anonymous users are")
    return subject


def signed(claims: Claims, issuer: Issuer, ring: KeyRing) -> str:
    """A token of an issuer whose secret this machine has, for development."""
    if issuer.algorithm is not Algorithm.HS256:
        raise KeysUnavailable(
            f"issuer {issuer.name} signs with a private key that only it has",
            fix="have it make the token, or declare an issuer with algorithm HS256 for development",
        )
    return jwt.encode(dict(claims), _secret(issuer, ring), algorithm=Algorithm.HS256.value)


async def _key(issuer: Issuer, key_id: object, ring: KeyRing, key_sets: KeySets) -> PublicKey | bytes:
    if issuer.secret is not None:
        return _secret(issuer, ring)
    if key_id is not None and not (isinstance(key_id, str) and len(key_id) <= _LONGEST_ID):
        raise _refused("the id of its key is none")
    found = await key_sets.find(issuer.jwks or "", issuer.algorithm, key_id)
    if found is None:
        raise _refused("its issuer has no such key")
    return found


def _secret(issuer: Issuer, ring: KeyRing) -> bytes:
    try:
        secret = ring.read(issuer.secret or "").reveal().encode()
    except KeyUnreadable as fact:
        raise KeysUnavailable(f"issuer {issuer.name}: {fact.message}", fix=fact.fix) from fact
    if len(secret) < SHORTEST_SECRET:
        raise KeysUnavailable(
            f"the secret of issuer {issuer.name} is shorter than {SHORTEST_SECRET} bytes, and might be guessed",
            fix="make a longer one: openssl rand -base64 48",
        )
    return secret


def _parts(token: str) -> tuple[Claims, Claims]:
    try:
        header, claims = (urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in token.split(".")[:2])
    except ValueError:
        raise _refused("it is not written as a token is") from None
    return _object(header), _object(claims)


def _object(content: bytes) -> dict[str, Any]:
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        raise _refused("it is not written as a token is") from None
    if not isinstance(said, dict) or _depth(said) > _DEEPEST:
        raise _refused("it is not written as a token is")
    return said


def _depth(said: object, depth: int = 0) -> int:
    if depth > _DEEPEST or not isinstance(said, dict | list):
        return depth
    inner: Sequence[object] = list(said.values()) if isinstance(said, dict) else said
    return max((_depth(value, depth + 1) for value in inner), default=depth)


def _times(claims: Claims, leeway: timedelta, now: datetime) -> datetime:
    """When it expires; it has begun, and has not ended."""
    expires_at = _time(claims, "exp")
    if expires_at is None:
        raise _refused("it never expires: exp is missing")
    if expires_at + leeway <= now:
        raise ExpiredCredential("the token has expired", fix="get a new one from its issuer")
    for name in ("nbf", "iat"):
        begins = _time(claims, name)
        if begins is not None and begins - leeway > now:
            raise _refused("it is not valid yet")
    return expires_at


def _time(claims: Claims, name: str) -> datetime | None:
    said = claims.get(name)
    if said is None:
        return None
    if isinstance(said, bool) or not isinstance(said, int | float) or not math.isfinite(said):
        raise _refused(f"{name} is no time")
    try:
        return datetime.fromtimestamp(said, UTC)
    except (OverflowError, OSError, ValueError):
        raise _refused(f"{name} is no time") from None


def _scopes(claims: Claims, issuer: Issuer) -> frozenset[Scope]:
    """A user always, and what the issuer's declaration makes of what the claim has."""
    said = claims.get(issuer.scopes_claim) if issuer.scopes_claim else None
    words = said.split() if isinstance(said, str) else said if isinstance(said, list) else []
    meant = {issuer.scopes[word] for word in words if isinstance(word, str) and word in issuer.scopes}
    return frozenset({Scope.USER, *meant})


def _is_name(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_NAME and text.isprintable()


def _refused(reason: str) -> InvalidCredential:
    return InvalidCredential(f"the token is refused: {reason}", fix="get one from an issuer that is declared here")
