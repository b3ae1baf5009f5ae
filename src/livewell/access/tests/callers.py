"""Users who call functions themselves, for tests."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from livewell.kernel import Connection, Database


@asynccontextmanager
async def as_user(
    owner: Database, user: str | None, role: str = "livewell_user", **claims: Any
) -> AsyncIterator[Connection]:
    """A transaction of somebody who has rights on no table."""
    async with owner.transaction() as connection:
        await connection.execute(f"set local role {role}")
        said = {**claims} if user is None else {"sub": user, **claims}
        await connection.execute("select set_config('request.jwt.claims', $1, true)", json.dumps(said))
        yield connection


async def call(owner: Database, user: str | None, function: str, *arguments: Any, **claims: Any) -> Any:
    """A function of Livewell's, called by a user."""
    places = ", ".join(f"${n}" for n in range(1, len(arguments) + 1))
    async with as_user(owner, user, **claims) as connection:
        return await connection.fetchval(f"select livewell.{function}({places})", *arguments)
