"""A login that leaves a transaction open: whatever it may call first, nothing of ours waits for it, and it is named."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from pydantic_core import to_json

from livewell.kernel import Connection, Database, DatabaseOptions, LivewellError, connect
from livewell.testing import idle_in_transaction, make_type

ANNA, GONE, FRESH = UUID(int=1), UUID(int=2), UUID(int=3)
HELD = '[{"type": "quote", "key": "A"}]'
NEW = '[{"type": "quote", "key": "NEW"}]'
# Not a time for locks: whoever waits for one longer is found out.
PATIENCE = "set statement_timeout = '3s'"


@dataclass(frozen=True, kw_only=True)
class Attack:
    """What a login does in a transaction that it leaves open."""

    statement: str
    user: str = "mallory"
    role: str = "livewell_user"


ATTACKS = {
    "watch": Attack(statement=f"select livewell.watch('{UUID(int=9)}', '{HELD}')"),
    "watch a new key": Attack(statement=f"select livewell.watch('{UUID(int=9)}', '{NEW}')"),
    "watch as another": Attack(statement=f"select livewell.watch('{ANNA}', '{HELD}')", user="anna"),
    "unwatch": Attack(statement=f"select livewell.unwatch('{ANNA}', '{HELD}')", user="anna"),
    "stop watching": Attack(statement=f"select livewell.stop_watching('{ANNA}')", user="anna"),
    "keep watching": Attack(statement=f"select livewell.keep_watching('{ANNA}')", user="anna"),
    "check": Attack(statement="select livewell.check_on_subscribe('{quote}', 'A')"),
    "check a new key": Attack(statement="select livewell.check_on_subscribe('{quote}', 'NEW')"),
    "open a session": Attack(statement=f"select livewell.watch('{FRESH}', '[]')", user="bert"),
    "read": Attack(statement="select livewell.read_items('quote', '{A}')"),
    "read as nobody": Attack(statement="select livewell.read_items('quote', '{A}')", role="livewell_anon"),
}
TASKS = [
    *("check", "freshness_sweep", "freshness_samples", "freshness_figures", "prefetch", "scheduled_refreshes"),
    *("presence_sweep", "presence_recount", "presence_hours", "rescue"),
]


@dataclass(frozen=True, kw_only=True)
class Engine:
    """What of ours runs beside the login, over connections that find out who waits."""

    owner: Connection
    service: Connection
    held: Sequence[dict[str, Any]]

    async def store(self) -> dict[str, str]:
        """Store what was fetched; the states by key."""
        ended = to_json([{**job, "outcome": "fetched", "rows": [{"price": 1}], "hash": "00"} for job in self.held])
        rows = await self.service.fetch("select * from livewell.store_fetches($1::text::jsonb)", ended.decode())
        states = {row["job_id"]: row["state"] for row in rows}
        return {job["key"]: states[job["job"]] for job in self.held}

    async def gateway(self) -> list[str]:
        """A batch for three users, two of whom the login may have in its hands."""
        for statement in ("select livewell.open_sessions($1, $2, 'g')", "select livewell.open_sessions($1, $2)"):
            await self.service.fetchval(statement, [ANNA, GONE, FRESH], ["anna", "gone", "bert"])
        sessions, keys = [ANNA, GONE, FRESH, GONE, GONE], ["A", "D", "A", "A", "NEW"]
        asked = (sessions, ["quote"] * len(keys), keys)
        answer = list(await self.service.fetchval("select outcomes from livewell.subscribe($1, $2, $3)", *asked))
        await self.service.fetchval("select livewell.renew_sessions($1)", [ANNA, GONE, FRESH])
        for session, user in ((ANNA, "anna"), (GONE, "gone"), (FRESH, "bert")):
            resumed = "select r.items from livewell.resume('h', $1, $2, '{quote,quote}', '{A,E}') as r"
            items = await self.service.fetchval(resumed, session, user)
            await self.service.fetchval("select livewell.ask_for_items($1, $2)", [session] * len(items), items)
        await self.service.fetchval("select livewell.unsubscribe($1, $2, $3)", *asked)
        await self.service.fetchval("select livewell.close_sessions($1)", [ANNA, GONE, FRESH])
        for gateway in ("g", "h"):
            await self.service.fetchval("select livewell.close_gateway($1)", gateway)
        return answer

    async def everything(self) -> None:
        """Nothing of it waits, and what the login does not hold is done."""
        assert (await self.store())["C"] == "completed"
        for task in TASKS:
            run = await self.owner.fetchval("select run from livewell_private.task where name = $1", task)
            await self.owner.execute(f"select {run}(clock_timestamp())")
        assert (await self.gateway())[1] == "subscribed"
        await self.owner.execute("update livewell_private.data_type set ttl = ttl * 2")
        claimed = await self.service.fetch("select * from livewell.claim_jobs('w', '{refresh}', 10)")
        ids, tokens = [row["job_id"] for row in claimed], [row["lease_token"] for row in claimed]
        await self.service.execute("select livewell.finish_jobs($1, $2)", ids, tokens)
        # Leases that ran out, and refreshes that failed for good.
        await self.owner.execute("update livewell_private.job_live set retries = 0")
        await self.owner.execute("select livewell.rescue_jobs(100, clock_timestamp() + interval '1 day')")
        await self.owner.execute("select livewell_private.task_presence_sweep(clock_timestamp() + interval '1 day')")


@pytest_asyncio.fixture
async def engine(owner: Database, owner_url: str, database_url: str) -> AsyncIterator[Engine]:
    """Anna looks at A and B, another at C; their refreshes were fetched and are about to be stored."""
    await make_type(owner, "quote", read_rule="public")
    async with _found_out(owner_url) as mine, _found_out(database_url) as service:
        await service.fetchval("select livewell.open_sessions($1, '{anna,gone}')", [ANNA, GONE])
        asked = ([ANNA, ANNA, GONE], ["quote"] * 3, ["A", "B", "C"])
        await service.fetchval("select outcomes from livewell.subscribe($1, $2, $3)", *asked)
        rows = await service.fetch(
            "select job_id as job, lease_token as token, (payload ->> 'item')::bigint as item,"
            " payload ->> 'type' as type, payload ->> 'key' as key from livewell.claim_jobs('w', '{refresh}', 10)"
        )
        assert {row["key"] for row in rows} == {"A", "B", "C"}
        yield Engine(owner=mine, service=service, held=[dict(row) for row in rows])


@asynccontextmanager
async def _found_out(url: str) -> AsyncIterator[Connection]:
    connection = await connect(DatabaseOptions(url=url))
    try:
        await connection.execute(PATIENCE)
        yield connection
    finally:
        await connection.close()


@pytest.mark.parametrize("name", ATTACKS)
async def test_nothing_waits_for_an_idle_transaction(engine: Engine, owner_url: str, name: str) -> None:
    """Whatever a user or nobody called and left open: store, tasks, gateways, claims and rescues go on."""
    attack = ATTACKS[name]
    async with idle_in_transaction(owner_url, attack.statement, role=attack.role, user=attack.user):
        await engine.everything()


async def test_the_login_is_named(engine: Engine, owner: Database, owner_url: str) -> None:
    """Who keeps a key from being stored is in the warnings: process, login, application."""
    attack = ATTACKS["watch"]
    async with idle_in_transaction(owner_url, attack.statement, role=attack.role, user=attack.user) as stranger:
        assert await engine.store() == {"A": "busy", "B": "completed", "C": "completed"}
        who = await stranger.fetchrow("select pg_backend_pid() as pid, session_user as login")
    assert who is not None
    message = await owner.fetchval("select message from livewell.warnings where code = 'freshness.item_held'")
    assert f"pid {who['pid']}, login {who['login']}, application stranger" in message


async def test_a_user_takes_no_lock_that_others_can_name(owner_url: str, engine: Engine) -> None:
    """No function for users takes an advisory lock: its key is anybody's to take first."""
    for attack in ATTACKS.values():
        async with idle_in_transaction(owner_url, attack.statement, role=attack.role, user=attack.user) as stranger:
            held = "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"
            assert await stranger.fetchval(held) == 0
    assert engine.held


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("lock_free_fetches", "watch"),
        ("lock_items", "unwatch"),
        ("lock_live_sessions", "keep watching"),
        ("lock_sessions", "keep watching"),
        ("add_items", "watch a new key"),
        ("add_sessions", "open a session"),
    ],
)
async def test_nothing_waits_needs_its_guards(
    engine: Engine, owner: Database, owner_url: str, function: str, name: str
) -> None:
    """Without the bound on waiting in one function the attack succeeds: something of ours waits for the login."""
    await owner.execute(f"alter function livewell_private.{function} set lock_timeout = 0")
    attack = ATTACKS[name]
    async with idle_in_transaction(owner_url, attack.statement, role=attack.role, user=attack.user):
        with pytest.raises(LivewellError, match="statement timeout"):
            await engine.everything()
