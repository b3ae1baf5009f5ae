"""Others who are there at the same time: one who leaves a transaction open, and functions that wait for it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from livewell.kernel import Database
from livewell.testing.logins import connected


@asynccontextmanager
async def idle_in_transaction(
    url: str, *statements: str, role: str | None = None, user: str | None = None
) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """Somebody who has run statements in a transaction and then does nothing, as a role and a user; none is kept."""
    async with connected(url) as connection:
        await connection.execute("set application_name = 'stranger'")
        await connection.execute("set idle_in_transaction_session_timeout = 0; set lock_timeout = 0")
        transaction = connection.transaction()
        await transaction.start()
        try:
            if role is not None:
                await connection.execute(f"set local role {role}")
            if user is not None:
                claims = json.dumps({"sub": user})
                await connection.execute("select set_config('request.jwt.claims', $1, true)", claims)
            for statement in statements:
                await connection.execute(statement)
            yield connection
        finally:
            await transaction.rollback()


async def wait_long(owner: Database, *functions: str) -> None:
    """Let functions that give up after a moment wait, where a test is about who comes after whom."""
    for function in functions:
        await owner.execute(f"alter function livewell_private.{function} set lock_timeout = '1min'")
