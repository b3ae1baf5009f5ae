"""Strangers of a run: logins that are members of Livewell's smallest roles, and what they do to hold others up."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

import asyncpg

from livewell.testing import Address

Session: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

# What functions of ours once took, by the names and the salt they took them by.
ONCE_OURS = (
    "livewell.declare_tasks",
    "livewell.budgets",
    "livewell.registry",
    "livewell_private.exchange_rule",
    "livewell.seal_audit",
    "livewell/presence/anna",
)
_SHOWN = (
    "select distinct classid::bigint, objid::bigint, objsubid from pg_locks where locktype = 'advisory' and granted"
)
_MODES = ("access share", "row share", "row exclusive", "share", "access exclusive")
_TAKE = "select pg_try_advisory_lock(hashtextextended($1, $2))"


@asynccontextmanager
async def stranger(owner_url: str, role: str | None = None) -> AsyncIterator[Session]:
    """A session of a login that is a member of one role, or of none."""
    address = Address.of(owner_url)
    name = f"stranger_{role or 'nobody'}"
    owner = await asyncpg.connect(owner_url)
    try:
        if not await owner.fetchval("select exists (select from pg_roles where rolname = $1)", name):
            await owner.execute(f"create role {name} login password '{name}'")
        if role is not None:
            await owner.execute(f"grant {role} to {name}")
    finally:
        await owner.close()
    session = await asyncpg.connect(
        host=address.host, port=address.port, database=address.database, user=name, password=name
    )
    try:
        yield session
    finally:
        await session.close()


async def hold_what_was_ours(session: Session, serial_keys: list[str]) -> None:
    """Every advisory key that functions of ours ever took."""
    for key in ONCE_OURS:
        await session.fetchval(_TAKE, key, 0)
    for key in serial_keys:
        await session.fetchval(_TAKE, key, 7238)
    await session.fetchval("select pg_try_advisory_lock(x'6c697665'::integer, x'77656c6c'::integer)")


async def shown_keys(session: Session) -> set[tuple[int, int, int]]:
    """What anybody can read of the advisory locks of all."""
    return {tuple(row) for row in await session.fetch(_SHOWN)}


async def lock_what_it_may(session: Session) -> set[str]:
    """Try every relation in every mode, and keep what is given; the modes that were."""
    relations = await session.fetch(
        "select format('%I.%I', n.nspname, c.relname) from pg_class as c"
        " join pg_namespace as n on n.oid = c.relnamespace"
        " where n.nspname in ('livewell', 'livewell_private', 'public') and c.relkind in ('r', 'p', 'v')"
    )
    given = set()
    await session.transaction().start()
    for (relation,) in relations:
        for mode in _MODES:
            try:
                async with session.transaction():
                    await session.execute(f"lock table {relation} in {mode} mode nowait")
            except (asyncpg.InsufficientPrivilegeError, asyncpg.WrongObjectTypeError):
                continue
            given.add(mode)
    return given


async def listen_and_idle(session: Session) -> None:
    """Hold the notification queue: listen, and stay in a transaction."""
    await session.execute("listen somewhere")
    await session.execute("begin")
    await session.execute("select 1")
