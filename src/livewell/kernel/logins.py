"""Logins for programs that ask the database themselves: each a member of one of Livewell's roles and of nothing else.

They are made with the rights of who asks for them, because the owner of the schema may make no roles. A login carries a
mark of where it comes from, and only such a one is changed. Its time limits are hygiene: whoever logs in may reset
them.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from livewell.kernel.connection import Connection
from livewell.kernel.database import Caller
from livewell.kernel.errors import LivewellError, NotPermitted
from livewell.kernel.queries import QUERIES

_LONGEST_NAME = 63
_SHORTEST_PASSWORD = 12
# As PostgreSQL itself makes verifiers.
_ROUNDS = 4096
_SALT_BYTES = 16


class InvalidLogin(LivewellError):
    """A login cannot be so: its name or its password is none."""

    code = "kernel.invalid_login"


class LoginNotOurs(LivewellError):
    """There is a role of that name that Livewell did not make, or that is more than a login now; it is left alone."""

    code = "kernel.login_not_ours"


class LoginRole(StrEnum):
    """What a login may be a member of."""

    USER = "user"
    ANON = "anon"
    SERVICE = "service"
    # Reads for viewers: as any of them, and as nobody itself.
    READER = "reader"

    @property
    def roles(self) -> tuple[str, ...]:
        return ("livewell_user", "livewell_anon") if self is LoginRole.READER else (f"livewell_{self.value}",)

    @property
    def inherits(self) -> bool:
        """Whether it has the rights of its roles without taking one."""
        return self is not LoginRole.READER


@dataclass(frozen=True, kw_only=True)
class LoginLimits:
    """What is set on the login itself; without a number of connections there is no limit."""

    idle_in_transaction: timedelta = timedelta(minutes=1)
    statement: timedelta = timedelta(seconds=30)
    lock: timedelta = timedelta(seconds=5)
    connections: int | None = None


@dataclass(frozen=True, kw_only=True)
class Login:
    """A login that is a member of a role of Livewell's, and whether it was made here."""

    name: str
    member_of: Sequence[str]
    made_here: bool
    settings: Sequence[str]
    connections: int | None


async def list_logins(caller: Caller) -> list[Login]:
    """Who may log in and is a member of a role of Livewell's, by name."""
    return [Login(**row) for row in await caller.fetch(QUERIES["list_logins"])]


async def make_login(
    connection: Connection,
    name: str,
    role: LoginRole,
    password: str,
    limits: LoginLimits | None = None,
    *,
    more: Sequence[str] = (),
) -> bool:
    """Make a login, or make one that was made here so again; true when it is new. Inside the caller's transaction.

    `more` are roles of viewers that one which reads for them is a member of, too.
    """
    _require_name(name)
    _require_password(password)
    roles = list(dict.fromkeys((*role.roles, *more)))
    (found,) = await connection.fetch(QUERIES["look_at_login"], name, roles)
    if not found["may_make"]:
        raise NotPermitted(
            f"role {found['asker']} may not make a login that is a member of {', '.join(roles)}",
            fix="connect as a superuser, or a role with CREATEROLE, livewell_service and the right to grant them",
        )
    if found["taken"]:
        raise LoginNotOurs(
            f"there is a role {name!r} that was not made by livewell access login",
            fix="choose another name; that role is left as it is",
        )
    chosen = limits or LoginLimits()
    statements = await connection.fetch(
        QUERIES["list_login_statements"],
        name,
        roles,
        _verifier(password),
        -1 if chosen.connections is None else chosen.connections,
        *(_milliseconds(limit) for limit in (chosen.idle_in_transaction, chosen.statement, chosen.lock)),
        role.inherits,
    )
    for row in statements:
        await connection.execute(row["statement"])
    return not found["there"]


def new_password() -> str:
    """One that nobody guesses."""
    return secrets.token_urlsafe(24)


def _require_name(name: str) -> None:
    if not name or len(name.encode()) > _LONGEST_NAME or not name.isprintable():
        raise InvalidLogin(
            f"{name!r} cannot be the name of a login",
            fix=f"1 to {_LONGEST_NAME} bytes, without control characters",
        )


def _require_password(password: str) -> None:
    """Printable ASCII is the same whether or not a client normalizes it."""
    if len(password) < _SHORTEST_PASSWORD or not (password.isascii() and password.isprintable()):
        raise InvalidLogin(
            "that cannot be a password here",
            fix=f"at least {_SHORTEST_PASSWORD} printable ASCII characters in one line, or leave it to be generated",
        )


def _verifier(password: str) -> str:
    """What the server keeps of a password for SCRAM: made here, so that the password is in no statement and no log."""
    salt = secrets.token_bytes(_SALT_BYTES)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ROUNDS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    told = (base64.b64encode(part).decode() for part in (salt, stored, server))
    return "SCRAM-SHA-256${}:{}${}:{}".format(_ROUNDS, *told)


def _milliseconds(limit: timedelta) -> str:
    return f"{int(limit.total_seconds() * 1000)}ms"
