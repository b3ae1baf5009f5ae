"""Who came in, whose tokens count, and what viewers are told apart by."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

USER_ROLE, ANON_ROLE = "livewell_user", "livewell_anon"


class Scope(StrEnum):
    """What whoever came in may do: run things, steer them, look at how they stand, or see data as a user."""

    SERVICE = "service"
    OPERATOR = "operator"
    OBSERVER = "observer"
    USER = "user"


@dataclass(frozen=True, kw_only=True)
class Principal:
    """Whoever came in, by a credential that was verified, or by none.

    The user is who `livewell.current_user_id()` would say it is; an anonymous visitor is none. Reads run as the role.
    """

    user: str | None
    scopes: frozenset[Scope]
    tenant: str | None
    claims: Mapping[str, Any]
    expires_at: datetime | None
    access_key: str | None
    role: str


ANONYMOUS = Principal(
    user=None, scopes=frozenset(), tenant=None, claims={}, expires_at=None, access_key=None, role=ANON_ROLE
)


class Algorithm(StrEnum):
    """How the tokens of an issuer are signed: one, and never another."""

    HS256 = "HS256"
    RS256 = "RS256"
    ES256 = "ES256"
    EDDSA = "EdDSA"


@dataclass(frozen=True, kw_only=True)
class Issuer:
    """Whose tokens count, and where what they are verified with is found."""

    name: str
    issuer: str
    audience: str
    algorithm: Algorithm
    secret: str | None
    jwks: str | None
    tenant_claim: str
    role: str
    scopes_claim: str | None
    scopes: Mapping[str, Scope]
    leeway: timedelta
    enabled: bool


@dataclass(frozen=True, kw_only=True)
class AccessKey:
    """An access key, without what would open anything."""

    id: str
    name: str
    scopes: Sequence[str]
    user_id: str | None
    tenant: str | None
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used: datetime | None
    created_at: datetime
    created_by: str


class AdmittedKey(NamedTuple):
    """What an access key came to: admitted with what it may, unknown, revoked or expired."""

    outcome: str
    id: str | None
    scopes: Sequence[str] | None
    user_id: str | None
    tenant: str | None
    expires_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class TypeReading:
    """How a type is read for viewers; claims None: all but those that are about the token itself."""

    rule: str
    claims: Sequence[str] | None
    revision: datetime
    keys_at_once: int
    rows_per_key: int


@dataclass(frozen=True)
class ReadClass:
    """Viewers whom the database cannot tell apart: the role and the claims their reads are given, and nothing else.

    The digest is of these, the rule and the revision of the type: what was read under another is another thing.
    """

    role: str
    claims: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What belongs to somebody and is shared, and with how many users it is."""

    id: str
    kind: str
    owner: str
    tenant: str | None
    created_at: datetime
    shares: int


@dataclass(frozen=True, kw_only=True)
class Share:
    """The right of a user to read or write another's subject."""

    subject: str
    user_id: str
    rights: str
    shared_by: str
    since: datetime


class ReadItem(NamedTuple):
    """What a class reads of a key: JSON text, or None where nothing is stored or it may not see it."""

    value: str | None
    visible: bool


def canonical(claims: Mapping[str, Any]) -> str:
    """Claims as the one text that equal claims have. ValueError for what no JSON of the database holds."""
    text = json.dumps(claims, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    text.encode()
    if "\\u0000" in text:
        raise ValueError("a character that is none")
    return text
