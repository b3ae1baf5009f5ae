"""What refreshes of a fault run are about: a provider in the harness's process, two types, somebody who looks at them.

The provider's data changes when it is told to, its limits are by the real clock. What was stored, learned, told, booked
and left behind is read here, for a test to judge.
"""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic_core import from_json

from livewell.fetching import CHANGES_CHANNEL, read_notice
from livewell.kernel import DatabaseOptions, connect
from livewell.presence import Presence
from livewell.registry import RegistryStore
from livewell.simulator import Limit, RealClock, Simulator, SimulatorOptions, symbol_names
from livewell.testing import grant_table, make_endpoint, until
from tests.faults.load import Run
from tests.faults.refreshes import PROFILE, PROFILE_FIELDS, QUOTE, TTL

KEYS = symbol_names(3)
TYPES = (QUOTE, PROFILE)
# More than two rounds take, and one more attempt of each key when a worker dies in the second.
PER_MINUTE = 6 * len(KEYS)
EXPECTED_BYTES = 20_000

_BEGIN = datetime(2026, 11, 16, 12, tzinfo=UTC)
_TABLE = """
create table public.quotes (
    symbol text primary key, price numeric not null, volume bigint, source_at timestamptz not null,
    first_seen_at timestamptz not null, fetched_at timestamptz not null
)
"""
_QUOTE_FIELDS: dict[str, Any] = {
    "endpoint": "sim/quote",
    "read_rule": "signed_in",
    "ttl": TTL,
    "extra": "ignore",
    "keys_per_request": 20,
    "table_name": "public.quotes",
    "key_column": "symbol",
    "time_column": "fetched_at",
    "source_time_column": "source_at",
    "source_rule": "not_older",
    "fetch_call": {"path": "/quote/{keys}", "key": "symbol"},
    "fields": {
        "symbol": {"type": "string"},
        "price": {"type": "number", "above": 0},
        "volume": {"type": "integer", "at_least": 0},
        "source_at": {"type": "epoch", "from": "timestamp", "source_time": True},
    },
}
_TWO_HOURS_PASS = (
    "update public.quotes set fetched_at = fetched_at - interval '2 hours' where symbol <> $1",
    "update livewell_private.record set fetched_at = fetched_at - interval '2 hours' where key <> $1",
    (
        "update livewell_private.item set fetched_at = fetched_at - interval '2 hours', due_at = clock_timestamp()"
        " where key <> $1"
    ),
)


class TurnedClock(RealClock):
    """A world that stands still until it is turned on by a year, so that everything in it has changed."""

    def __init__(self) -> None:
        self._now = _BEGIN - timedelta(days=800)

    def turn(self) -> None:
        self._now += timedelta(days=365)

    def world(self) -> float:
        return self._now.timestamp()


@dataclass(kw_only=True)
class Stage:
    """The provider and the types of a run, and what has become of them."""

    run: Run
    simulator: Simulator
    clock: TurnedClock
    heard: set[tuple[int, int]] = field(default_factory=set)

    async def told(self) -> Counter[tuple[str, str]]:
        """How many versions of each key were told."""
        names = await self.run.owner.fetch("select id, data_type, key from livewell_private.item")
        known = {row["id"]: (row["data_type"], row["key"]) for row in names}
        return Counter(known[item] for item, _ in self.heard)

    async def watch(self) -> None:
        """Somebody looks at all keys of both types, from now on."""
        presence = Presence(self.run.owner)
        session = await presence.open("anna")
        await presence.subscribe(session, [(data_type, key) for data_type in TYPES for key in KEYS])

    async def time_passes(self) -> None:
        """At the provider everything changes, and here everything is due."""
        self.clock.turn()
        await self.is_due()

    async def is_due(self, *, but_for: str = "") -> None:
        """Everything is due, but for a key."""
        async with self.run.owner.transaction() as connection:
            for statement in _TWO_HOURS_PASS:
                await connection.execute(statement, but_for)

    async def all_fetched(self, again: int = 0) -> None:
        """Wait until everything was fetched, and so often again."""

        async def fetched() -> bool:
            statement = "select count(*) from livewell_private.item where fetched_at is not null and fetches >= $1"
            return bool(await self.run.owner.fetchval(statement, again) == len(TYPES) * len(KEYS))

        await until(fetched, f"everything was fetched, and {again} times again")

    async def stored(self) -> dict[tuple[str, str], tuple[Any, ...]]:
        quotes = await self.run.owner.fetch("select symbol, price, volume, source_at from public.quotes")
        records = await self.run.owner.fetch(
            "select key, value::text from livewell_private.record where data_type = 'profile'"
        )
        profiles = {row["key"]: from_json(row["value"]) for row in records}
        return {
            **{
                (QUOTE, row["symbol"]): (float(row["price"]), row["volume"], row["source_at"].timestamp())
                for row in quotes
            },
            **{
                (PROFILE, key): (profile["name"], profile["ceo"], profile["employees"])
                for key, profile in profiles.items()
            },
        }

    def at_the_provider(self) -> dict[tuple[str, str], tuple[Any, ...]]:
        """What ought to be stored."""
        found: dict[tuple[str, str], tuple[Any, ...]] = {}
        for key in KEYS:
            (quote,), (profile,) = (self.simulator.world.rows(data_type, key) for data_type in TYPES)
            found[QUOTE, key] = (quote["price"], quote["volume"], quote["timestamp"])
            found[PROFILE, key] = (profile["companyName"], profile["ceo"], profile["fullTimeEmployees"])
        return found

    async def learned(self) -> set[tuple[int, int, str]]:
        """How often items were fetched again, how often that found a change, and how the last fetch ended."""
        rows = await self.run.owner.fetch("select fetches, changes, last_outcome from livewell_private.item")
        return {(row["fetches"], row["changes"], row["last_outcome"]) for row in rows}

    async def attempts(self, data_type: str) -> list[list[str]]:
        """The attempts of the refreshes of the second round, each by how it ended."""
        rows = await self.run.owner.fetch(
            "select j.id, j.state, array(select a.outcome from livewell_private.job_attempt as a where a.job_id = j.id"
            " order by a.attempt) as before from livewell_private.job as j"
            " where j.kind = 'refresh.' || $1 and j.payload ->> 'cause' = 'stale' order by j.id",
            data_type,
        )
        return [[*row["before"], row["state"]] for row in rows]

    async def debited(self) -> int:
        """How many requests were debited from the limits of all endpoints within the hour."""
        statement = "select sum(requests_last_hour)::int from livewell.budget_state() where kind = 'endpoint'"
        return int(await self.run.owner.fetchval(statement))

    async def booked(self) -> tuple[int, int]:
        """Requests and bytes as the ledger has them."""
        row = await self.run.owner.fetchrow(
            "select sum(requests)::int, sum(bytes)::int from livewell_private.quota_hour"
        )
        assert row is not None
        return row[0], row[1]

    async def left_behind(self, process: str) -> dict[str, int]:
        """What a dead process may not leave: sessions, leases, permits, what counts as in flight."""
        asked = {
            "sessions": "select count(*) from pg_stat_activity where application_name = $1",
            "leases": "select count(*) from livewell_private.job_live where $1 <> ''",
            "permits": "select count(*) from livewell_private.permit_block where $1 <> ''",
            "calls": "select sum(in_flight)::int from livewell.budget_state() where $1 <> ''",
            "bytes": "select sum(in_flight_bytes)::int from livewell.quota_states() where $1 <> ''",
        }
        return {what: await self.run.owner.fetchval(statement, process) for what, statement in asked.items()}

    async def nothing_is_locked(self) -> None:
        """Every row that a refresh touches can be had at once."""
        async with self.run.owner.transaction() as connection:
            for table in (
                "livewell_private.item",
                "livewell_private.record",
                "public.quotes",
                "livewell_private.limit_use",
            ):
                await connection.execute(f"select from {table} for update nowait")


@asynccontextmanager
async def staged(run: Run, *, per_minute: int = PER_MINUTE) -> AsyncIterator[Stage]:
    """A provider that answers, its types declared, and an ear for what has changed."""
    clock = TurnedClock()
    limits = dict.fromkeys(TYPES, Limit(requests=per_minute))
    async with Simulator(SimulatorOptions(symbols=KEYS, limits=limits), clock=clock) as simulator:
        stage = Stage(run=run, simulator=simulator, clock=clock)
        await _declare(run, simulator.url, per_minute)
        ear = await connect(DatabaseOptions(url=run.url))
        try:
            await ear.add_listener(CHANGES_CHANNEL, lambda *told: _hear(stage, str(told[-1])))
            await stage.watch()
            yield stage
        finally:
            await ear.close()


def _hear(stage: Stage, payload: str) -> None:
    stage.heard.update((read_notice(payload) or {}).items())


async def _declare(run: Run, url: str, per_minute: int) -> None:
    for data_type in TYPES:
        await make_endpoint(
            run.owner,
            f"sim/{data_type}",
            quota_bytes=1_000_000_000,
            serial_keys=False,
            requests_per_minute=per_minute,
            expected_bytes=EXPECTED_BYTES,
        )
    await run.owner.execute(
        "update livewell_private.provider set base_url = $1, allow_private = true, pace = 'none', policy = 'viewers'",
        f"{url}/api/v3",
    )
    await run.owner.execute(_TABLE)
    await grant_table(run.owner, "public.quotes")
    types = {QUOTE: _QUOTE_FIELDS, PROFILE: PROFILE_FIELDS}
    await RegistryStore(run.owner).apply_types(types, plan_only=False, actor="harness")
