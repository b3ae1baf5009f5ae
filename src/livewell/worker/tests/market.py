"""A pretend provider and types fetched from it, for tests of refreshes from end to end."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from pydantic_core import from_json, to_json

from livewell import Livewell
from livewell.kernel import Database
from livewell.simulator import Simulator
from livewell.testing import make_endpoint, make_type, until

QUOTE_FIELDS = {
    "symbol": {"type": "string"},
    "price": {"type": "number", "above": 0, "below": 1_000_000_000},
    "volume": {"type": "integer", "at_least": 0},
    "at": {"type": "epoch", "from": "timestamp", "source_time": True},
}
QUOTE_CALL = {"path": "/quote/{keys}", "items": "$[*]", "key": "symbol"}


@dataclass(frozen=True, kw_only=True)
class Market:
    """What a test of refreshes holds in its hand."""

    app: Livewell
    owner: Database
    simulator: Simulator
    session: UUID

    async def declare(self, name: str = "quote", **fields: Any) -> None:
        """A type fetched without code; its fields are those of a quote unless given."""
        told = {"fetch_call": QUOTE_CALL, "fields": QUOTE_FIELDS, "extra": "ignore", **fields}
        for field in ("fetch_call", "fields"):
            told[field] = None if told[field] is None else to_json(told[field]).decode()
        await make_type(self.owner, name, endpoint="sim/all", **told)

    async def look_at(self, keys: Sequence[str], data_type: str = "quote") -> None:
        """Somebody looks at these, from now on."""
        await self.app.presence.subscribe(self.session, [(data_type, key) for key in keys])

    async def item(self, key: str, data_type: str = "quote") -> dict[str, Any]:
        row = await self.owner.fetchrow(
            "select * from livewell_private.item where data_type = $1 and key = $2", data_type, key
        )
        return dict(row or {})

    async def outcome(self, key: str, data_type: str = "quote") -> str:
        """How the last fetch of an item ended, once one has."""

        async def has_ended() -> bool:
            return (await self.item(key, data_type)).get("last_outcome") is not None

        await until(has_ended, f"{data_type} {key} was fetched")
        return str((await self.item(key, data_type))["last_outcome"])

    async def value(self, key: str, data_type: str = "quote") -> Any:
        """What is stored of an item, None when nothing is."""
        asked = "select value::text from livewell_private.record where data_type = $1 and key = $2"
        text = await self.owner.fetchval(asked, data_type, key)
        return None if text is None else from_json(text)

    async def job(self, key: str, data_type: str = "quote") -> dict[str, Any]:
        """The last refresh of an item."""
        asked = "select * from livewell.jobs where dedupe_key = $1 order by id desc limit 1"
        row = await self.owner.fetchrow(asked, f"refresh/{data_type}/{key}")
        return dict(row or {})


@asynccontextmanager
async def market(app: Livewell, owner: Database, simulator: Simulator) -> AsyncIterator[Market]:
    """An application that may call a pretend provider, which nothing limits."""
    await make_endpoint(owner, "sim/all", call_timeout=timedelta(seconds=1), serial_keys=False)
    await owner.execute(
        "update livewell_private.provider set base_url = $1, allow_private = true where name = 'sim'",
        f"{simulator.url}/api/v3",
    )
    async with app:
        yield Market(app=app, owner=owner, simulator=simulator, session=await app.presence.open("anna"))
