"""One user takes it all: what a login that watches a thousand junk keys can do to everybody else, tried as it would be.

Each attack comes by the public functions, as `livewell_user` with claims; each guard is taken away once, and the attack
then succeeds.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

import pytest
import pytest_asyncio

from livewell.kernel import Database, LivewellError, NotPermitted
from livewell.testing import make_endpoint, make_type
from tests.contracts.guards import take_away

SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
JUNK = [f"JUNK{n}" for n in range(1000)]
ROOT = UUID(int=11)
CLAIM = "select job_id, lease_token, payload::text as payload from livewell.claim_jobs('w', '{refresh}', 100, p_now => $1)"


async def ask(owner: Database, user: str, statement: str, *args: object, **claims: object) -> Any:
    """Call as a user who is signed in, with rights on no table."""
    async with owner.transaction() as transaction:
        await transaction.execute("set local role livewell_user")
        await transaction.execute(
            "select set_config('request.jwt.claims', $1, true)", json.dumps({"sub": user, **claims})
        )
        return await transaction.fetchval(statement, *args)


async def watch(owner: Database, user: str, keys: Sequence[str], *, session: int = 0, **claims: object) -> int:
    items = json.dumps([{"type": "quote", "key": key} for key in keys])
    statement = "select livewell.watch($1, $2::text::jsonb)"
    return int(await ask(owner, user, statement, uuid5(ROOT, f"{user} {session}"), items, **claims))


async def decision(owner: Database, key: str) -> str:
    return str(await owner.fetchval("select decision from livewell.item where key = $1", key))


async def clock(owner: Database) -> datetime:
    now: datetime = await owner.fetchval("select clock_timestamp()")
    return now


async def run(owner: Database, seconds: int, since: datetime) -> list[str]:
    """Let checker and worker go on for some seconds: the keys that were fetched. The provider has no junk."""
    fetched: list[str] = []
    for second in range(seconds):
        now = since + second * SECOND
        await owner.execute("select livewell.task_check($1)", now)
        for job in await owner.fetch(CLAIM, now):
            payload = json.loads(job["payload"])
            fetched.append(payload["key"])
            junk = payload["key"].startswith("JUNK")
            await owner.execute(
                "select livewell.learn_items(array[$1::bigint], array[$2], '{NULL}', '{100}', $3)",
                payload["item"],
                "gone" if junk else "fetched",
                now,
            )
            if not junk:
                await owner.execute(
                    "insert into livewell.record (data_type, key, value, fetched_at) values ('quote', $1, '1', $2)"
                    " on conflict (data_type, key) do update set fetched_at = excluded.fetched_at",
                    payload["key"],
                    now,
                )
            await owner.execute(
                "select livewell.finish_jobs(array[$1::bigint], array[$2::uuid], '{completed}', '[{}]', $3)",
                job["job_id"],
                job["lease_token"],
                now,
            )
    return fetched


@pytest_asyncio.fixture
async def stage(owner: Database) -> Database:
    """One type at an endpoint that takes 30 calls a minute, and lets a thousand wait."""
    await make_endpoint(owner, "sim/quote", requests_per_minute=30, depth_limit=1000)
    await make_type(owner, "quote", ttl=timedelta(minutes=5))
    return owner


HONEST = {f"h{n}": f"REAL{n}" for n in range(10)}


async def _junk_does_not_keep_others_out(stage: Database) -> None:
    await watch(stage, "junk", JUNK)
    for user, key in HONEST.items():
        await watch(stage, user, [key])
        assert await decision(stage, key) == "queued"
    fetched = await run(stage, 20, await clock(stage))
    assert set(HONEST.values()) <= set(fetched)


async def test_a_thousand_junk_keys_keep_nobody_out(stage: Database) -> None:
    """Who comes after a user with a thousand junk keys is queued at once and fetched first."""
    await _junk_does_not_keep_others_out(stage)
