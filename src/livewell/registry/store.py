"""The registry as Python calls it: one method per named query, no decisions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from pydantic_core import from_json, to_json

from livewell.kernel import Caller, Connection, NotPermitted, PlannedChange, Queries, planned_changes
from livewell.registry.errors import ReadOnlyRegistry
from livewell.registry.types import DataType, Exchange, Finding, Imported, JsonObject, MarketSession, TypeKey

QUERIES = Queries.of("livewell.registry")
# Told with the name of a type whenever one is written.
TYPES_CHANNEL = "livewell_types"


class RegistryStore:
    """Calls the registry over a pool, a line, or the caller's own connection."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def apply_types(
        self, declared: Mapping[str, JsonObject], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        with _for_the_owner():
            rows = await self._caller.fetch(QUERIES["apply_types"], to_json(declared).decode(), plan_only, actor)
        return planned_changes(rows)

    async def change_types(self, declared: Mapping[str, JsonObject], *, actor: str) -> list[PlannedChange]:
        """Write types that can be written, whether or not they can be live: who calls asks that, and undoes it."""
        with _for_the_owner():
            rows = await self._caller.fetch(QUERIES["change_types"], to_json(declared).decode(), actor)
        return planned_changes(rows)

    async def check_declared(self, declared: Mapping[str, JsonObject]) -> list[Finding]:
        """What is wrong with types as they would be."""
        with _for_the_owner():
            rows = await self._caller.fetch(QUERIES["check_declared"], to_json(declared).decode())
        return [Finding(**row) for row in rows]

    async def set_type(self, name: str, changes: JsonObject, *, reason: str | None, actor: str) -> bool:
        with _for_the_owner():
            content = to_json(changes).decode()
            return bool(await self._caller.fetchval(QUERIES["set_type"], name, content, reason, actor))

    async def remove_type(self, name: str, *, force: bool, reason: str | None, actor: str) -> dict[str, int]:
        """Take a type out; answers how many refreshes, items, records and keys went with it."""
        with _for_the_owner():
            return dict(from_json(await self._caller.fetchval(QUERIES["remove_type"], name, force, reason, actor)))

    async def list_types(self, names: Sequence[str] | None = None) -> list[DataType]:
        rows = await self._caller.fetch(QUERIES["list_types"], names)
        return [
            DataType(**{**row, "fetch_call": _read(row["fetch_call"]), "fields": _read(row["fields"])}) for row in rows
        ]

    async def check_types(self, names: Sequence[str] | None = None) -> list[Finding]:
        return [Finding(**row) for row in await self._caller.fetch(QUERIES["check_types"], names)]

    async def list_keys(self, data_type: str, *, after: str | None = None, limit: int = 100) -> list[TypeKey]:
        return [TypeKey(*row) for row in await self._caller.fetch(QUERIES["list_keys"], data_type, after, limit)]

    async def strange_keys(
        self, data_type: str, keys: Sequence[str], exchanges: Sequence[str | None] | None = None
    ) -> list[int]:
        """The positions, from 1, of what are no keys of the type."""
        rows = await self._caller.fetch(QUERIES["strange_keys"], data_type, keys, exchanges)
        return [row["position"] for row in rows]

    async def import_keys(
        self, data_type: str, keys: Sequence[str], exchanges: Sequence[str | None] | None = None, *, actor: str
    ) -> Imported:
        with _for_the_owner():
            row = await self._caller.fetchrow(QUERIES["import_keys"], data_type, keys, exchanges, actor)
        assert row is not None  # noqa: S101 - the function answers with one row always
        return Imported(*row)

    async def set_keys_active(
        self, data_type: str, keys: Sequence[str], *, active: bool, reason: str | None, actor: str
    ) -> int:
        with _for_the_owner():
            return int(await self._caller.fetchval(QUERIES["set_keys_active"], data_type, keys, active, reason, actor))

    async def list_exchanges(self) -> list[Exchange]:
        return [Exchange(**row) for row in await self._caller.fetch(QUERIES["list_exchanges"])]

    async def exchanges_in_use(self) -> list[str]:
        return [row["code"] for row in await self._caller.fetch(QUERIES["exchanges_in_use"])]

    async def put_calendar(
        self, exchange: str, begin: datetime, end: datetime, sessions: Sequence[MarketSession]
    ) -> int:
        """Write what is known of an exchange for a time; answers how many sessions are new or gone."""
        opens, closes = [session.opens_at for session in sessions], [session.closes_at for session in sessions]
        return int(await self._caller.fetchval(QUERIES["put_calendar"], exchange, begin, end, opens, closes))

    async def miss_calendar(self, exchange: str, reason: str) -> None:
        await self._caller.fetchval(QUERIES["miss_calendar"], exchange, reason)

    async def set_exchange_rule(self, suffix: str, exchange: str | None, *, reason: str | None, actor: str) -> bool:
        with _for_the_owner():
            return bool(await self._caller.fetchval(QUERIES["set_exchange_rule"], suffix, exchange, reason, actor))


@contextmanager
def _for_the_owner() -> Iterator[None]:
    """What only the owner may do is refused to others in one clear fact."""
    try:
        yield
    except NotPermitted as error:
        raise ReadOnlyRegistry(
            "this login may not write to the registry of data types",
            fix="use a login that was granted livewell_owner: LIVEWELL_OWNER_URL names its address",
        ) from error


def _read(text: str | None) -> Any:
    return None if text is None else from_json(text)
