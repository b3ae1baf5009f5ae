"""Viewers and what they look at, for tests."""

from datetime import UTC, datetime
from typing import Any

from livewell.access import ANONYMOUS, Principal, Scope
from livewell.kernel import Database
from livewell.testing import grant_table, make_type


def viewer(user: str, *, role: str = "livewell_user", **claims: Any) -> Principal:
    """A user who came with a token of these claims."""
    return Principal(
        user=user,
        scopes=frozenset({Scope.USER}),
        tenant=claims.get("tenant"),
        claims={"sub": user, **claims},
        expires_at=datetime(2100, 1, 1, tzinfo=UTC),
        access_key=None,
        role=role,
    )


NOBODY = ANONYMOUS
ADA, BOB = viewer("ada", tenant="red"), viewer("bob", tenant="blue")


async def make_notes(owner: Database) -> dict[str, Any]:
    """A user's table of notes, each of an owner and a tenant, one row for each key."""
    await owner.execute(
        "create table public.notes (id text primary key, fetched_at timestamptz, owner text, tenant text, body text)"
    )
    await owner.execute(
        "insert into public.notes values ('a', now(), 'ada', 'red', 'of ada'), ('b', now(), 'bob', 'blue', 'of bob')"
    )
    await grant_table(owner, "public.notes")
    return {"table_name": "public.notes", "key_column": "id", "time_column": "fetched_at"}


async def make_private_notes(owner: Database, using: str = "owner = livewell.current_user_id()") -> None:
    """The type `note` over a table whose row-level security says who sees a row."""
    table = await make_notes(owner)
    await owner.execute("alter table public.notes enable row level security")
    await owner.execute("create policy livewell on public.notes to livewell_reader, livewell_writer using (true)")
    await owner.execute("grant select on public.notes to livewell_user, livewell_anon")
    await owner.execute(f"create policy own on public.notes for select to livewell_user, livewell_anon using ({using})")
    await make_type(owner, "note", read_rule="rls", **table)


async def put_record(owner: Database, data_type: str, key: str, value: str) -> None:
    await owner.execute(
        "insert into livewell_private.record (data_type, key, value, fetched_at)"
        " values ($1, $2, $3::text::jsonb, now())"
        " on conflict (data_type, key) do update set value = excluded.value",
        data_type,
        key,
        value,
    )
