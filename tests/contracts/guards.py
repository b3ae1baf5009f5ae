"""Taking a guard away: a contract is worth something only if its test fails without what keeps it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from livewell.kernel import Connection, Database, DatabaseOptions, connect

PATIENCE = "set lock_timeout = '500ms'"


async def take_away(owner: Database, function: str, guard: str, instead: str) -> None:
    """Replace a guard in the body of a function of this test's own database."""
    body: str = await owner.fetchval(
        "select pg_get_functiondef(oid) from pg_proc where proname = $1 and pronamespace = any"
        " ('{livewell,livewell_private}'::regnamespace[])",
        function,
    )
    if guard not in body:
        raise LookupError(f"{function} has no guard {guard!r}: the contract's mutation must follow it")
    await owner.execute(body.replace(guard, instead))


@asynccontextmanager
async def session(url: str) -> AsyncIterator[Connection]:
    """A session that does not wait long for a lock, so that waiting shows as a failure."""
    connection = await connect(DatabaseOptions(url=url))
    try:
        await connection.execute(PATIENCE)
        yield connection
    finally:
        await connection.close()
