"""Presence as tests call it, with the clock passed in."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from pydantic_core import from_json

from livewell.kernel import Connection, Database
from livewell.testing import make_type

NOON = datetime(2025, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
# Of sessions without a gateway and of presence sources; of other gateways.
GONE_AFTER = 5 * MINUTE
GATEWAY_GONE_AFTER = 45 * SECOND

VIEWERS = "select key, viewers from livewell_private.item where data_type = 'quote' order by key"
TRUE_VIEWERS = """
select i.key, count(distinct s.user_id)::integer as viewers
from livewell_private.item as i
left join (livewell_private.subscription as c join livewell_private.session as s on s.id = c.session_id) on c.item_id
    = i.id
where i.data_type = 'quote'
group by i.key order by i.key
"""
WRONG_SESSIONS = """
select count(*) from (
    select c.item_id, s.user_id, count(*)::integer as sessions
    from livewell_private.subscription as c join livewell_private.session as s on s.id = c.session_id group by 1, 2
) as c
full join (select * from livewell_private.viewer where sessions > 0) as v using (item_id, user_id)
where c.sessions is distinct from v.sessions
"""

WRONG_UNCOUNTED = """
select count(*) from livewell_private.item as i
where i.uncounted <> (
    select count(*) from livewell_private.viewer as v where v.item_id = i.id and v.sessions > 0 and not v.counted
)
"""
OVERCOUNTED = """
select count(*) from (
    select v.user_id from livewell_private.viewer as v where v.sessions > 0 and v.counted group by v.user_id
    having count(*) > livewell.setting_integer('presence.counted_items')
) as o
"""


def session_id(number: int) -> UUID:
    return UUID(int=number)


def _columns(pairs: Sequence[tuple[int, str]]) -> tuple[list[UUID], list[str], list[str]]:
    return [session_id(number) for number, _ in pairs], ["quote"] * len(pairs), [key for _, key in pairs]


@dataclass(frozen=True)
class PresenceSql:
    """The functions of the room, over a pool or a connection; `owner` sees the tables."""

    caller: "Database | Connection"
    owner: "Database | Connection"

    async def quote(self) -> None:
        await make_type(self.owner, "quote")  # type: ignore[arg-type]

    async def open(self, *sessions: tuple[int, str], gateway: str | None = None, now: datetime = NOON) -> list[str]:
        ids, users = [session_id(number) for number, _ in sessions], [user for _, user in sessions]
        statement = "select livewell.open_sessions($1, $2, $3, $4)"
        return list(await self.caller.fetchval(statement, ids, users, gateway, now))

    async def subscribe(
        self,
        *pairs: tuple[int, str],
        now: datetime = NOON,
        gateway: str | None = None,
        dwell: timedelta = timedelta(),
    ) -> list[str]:
        statement = "select s.outcomes from livewell.subscribe($1, $2, $3, $4, $5, $6) as s"
        return list(await self.caller.fetchval(statement, *_columns(pairs), now, gateway, dwell))

    async def unsubscribe(self, *pairs: tuple[int, str], now: datetime = NOON, gateway: str | None = None) -> list[str]:
        statement = "select livewell.unsubscribe($1, $2, $3, $4, $5)"
        return list(await self.caller.fetchval(statement, *_columns(pairs), now, gateway))

    async def resume(
        self, session: int, user: str, *keys: str, gateway: str | None, now: datetime = NOON
    ) -> tuple[str, list[str]]:
        """What became of the session, and of each key."""
        statement = "select r.session_outcome, r.outcomes from livewell.resume($1, $2, $3, $4, $5, $6) as r"
        types = ["quote"] * len(keys)
        (row,) = await self.caller.fetch(statement, gateway, session_id(session), user, types, list(keys), now)
        return row["session_outcome"], list(row["outcomes"])

    async def renew(self, *sessions: int, now: datetime = NOON) -> list[str]:
        ids = [session_id(number) for number in sessions]
        return list(await self.caller.fetchval("select livewell.renew_sessions($1, $2)", ids, now))

    async def close(self, *sessions: int, now: datetime = NOON, gateway: str | None = None) -> int:
        ids = [session_id(number) for number in sessions]
        return int(await self.caller.fetchval("select livewell.close_sessions($1, $2, $3)", ids, now, gateway))

    async def renew_gateway(self, gateway: str, now: datetime = NOON) -> bool:
        return bool(await self.caller.fetchval("select livewell.renew_gateway($1, $2)", gateway, now))

    async def close_gateway(self, gateway: str, now: datetime = NOON) -> int:
        return int(await self.caller.fetchval("select livewell.close_gateway($1, $2)", gateway, now))

    async def task(self, name: str, now: datetime = NOON) -> dict[str, Any]:
        return dict(from_json(await self.owner.fetchval(f"select livewell_private.task_{name}($1)::text", now)))

    async def sweep(self, now: datetime) -> int:
        statement = "select (livewell_private.task_presence_sweep($1) ->> 'swept')::integer"
        return int(await self.owner.fetchval(statement, now))

    async def viewers(self) -> dict[str, int]:
        """Of the items that somebody looks at."""
        return {row["key"]: row["viewers"] for row in await self.owner.fetch(VIEWERS) if row["viewers"]}

    async def is_exact(self) -> bool:
        """Whether every count is what the subscriptions say, and no user counts for more items than allowed."""
        kept, true = await self.owner.fetch(VIEWERS), await self.owner.fetch(TRUE_VIEWERS)
        wrong = [await self.owner.fetchval(statement) for statement in (WRONG_SESSIONS, WRONG_UNCOUNTED, OVERCOUNTED)]
        return kept == true and wrong == [0, 0, 0]

    async def warnings(self) -> dict[str, str]:
        rows = await self.owner.fetch("select code, subject, message from livewell.warnings")
        return {f"{row['code']} {row['subject']}".strip(): row["message"] for row in rows}
