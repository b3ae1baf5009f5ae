"""Data types for tests, written as rows: also wrong ones, which `livewell apply` would refuse."""

from datetime import timedelta
from typing import Any

from livewell.kernel import Database
from livewell.testing.endpoints import make_endpoint


async def make_type(owner: Database, name: str, *, endpoint: str | None = None, **fields: Any) -> None:
    """Make a data type with these fields of its table, and its endpoint if that is new.

    Unless they say otherwise, its TTL is a minute and users may look at it.
    """
    endpoint = endpoint or f"sim/{name}"
    if not await owner.fetchval("select exists (select from livewell_private.endpoint where name = $1)", endpoint):
        await make_endpoint(owner, endpoint)
    columns = {"endpoint": endpoint, "ttl": timedelta(minutes=1), "read_rule": "signed_in", **fields}
    values = ", ".join(f"${n}" for n in range(2, len(columns) + 2))
    await owner.execute(
        f"insert into livewell_private.data_type (name, {', '.join(columns)}) values ($1, {values})",
        name,
        *columns.values(),
    )


async def make_table(
    owner: Database,
    table: str,
    *,
    key_column: str = "symbol",
    time_column: str = "fetched_at",
    ttl_column: str | None = None,
) -> dict[str, Any]:
    """Make a user's table that Livewell may read and write, for `make_type(…, **fields)`; answers with its fields."""
    override = f", {ttl_column} interval" if ttl_column else ""
    await owner.execute(
        f"create table {table} ({key_column} text not null, {time_column} timestamptz, value jsonb{override})"
    )
    await owner.execute(f"create index on {table} ({key_column}, {time_column} desc)")
    await grant_table(owner, table)
    fields = {"table_name": table, "key_column": key_column, "time_column": time_column}
    return {**fields, "ttl_column": ttl_column} if ttl_column else fields


async def grant_table(owner: Database, table: str) -> None:
    """Let Livewell read and write a user's table, as its owner would."""
    await owner.execute(f"grant select on {table} to livewell_reader")
    await owner.execute(f"grant insert, update on {table} to livewell_writer")
