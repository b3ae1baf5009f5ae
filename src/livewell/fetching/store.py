"""Storing as Python calls it: one method per named query, no decisions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, assert_never

from pydantic_core import from_json, to_json

from livewell.fetching.types import (
    Column,
    Condition,
    EndedFetch,
    Fetched,
    FetchFailed,
    FetchOutcome,
    FetchThrottled,
    Gone,
    Put,
    Refused,
    Rehearsed,
    Stored,
    StoredItem,
    TableColumn,
    TableColumns,
    Unchanged,
)
from livewell.kernel import Caller, Connection, Queries
from livewell.registry import Finding

QUERIES = Queries.of("livewell.fetching")
# Told at the commit of what was stored, of items that are watched: `[[item, version], …]`; `[]` says "compare all".
CHANGES_CHANNEL = "livewell_changes"


class FetchStore:
    """Stores over a pool, a line, or the caller's own connection."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def store_fetches(self, ended: Sequence[EndedFetch]) -> list[Stored]:
        """End refreshes: store, learn, finish and settle, all of it or nothing."""
        batch = to_json([_told(fetch) for fetch in ended], inf_nan_mode="strings").decode()
        return list(map(Stored._make, await self._caller.fetch(QUERIES["store_fetches"], batch)))

    async def store_puts(self, data_type: str, judged: Sequence[tuple[str | None, FetchOutcome]]) -> list[Put]:
        """Store what was put, key by key, as it was judged; what was refused already is only counted."""
        batch = to_json([_told_put(*put) for put in judged], inf_nan_mode="strings").decode()
        return list(map(Put._make, await self._caller.fetch(QUERIES["store_puts"], data_type, batch)))

    async def changed(self, data_type: str, keys: Sequence[str]) -> dict[str, str]:
        """Say that keys were written by the application; for each `changed`, `unknown` or `busy`."""
        rows = await self._caller.fetch(QUERIES["changed"], data_type, keys)
        return {row["key"]: row["outcome"] for row in rows}

    async def rehearse_fetches(self, ended: Sequence[EndedFetch]) -> list[Rehearsed]:
        """What storing would make of refreshes, whose jobs and items need not be there; nothing is stored."""
        batch = to_json([_told(fetch) for fetch in ended], inf_nan_mode="strings").decode()
        return list(map(Rehearsed._make, await self._caller.fetch(QUERIES["rehearse_fetches"], batch)))

    async def fetch_conditions(self, item_ids: Sequence[int]) -> dict[int, Condition]:
        """What conditional requests may say, by item; items of which nothing is known are left out."""
        rows = await self._caller.fetch(QUERIES["fetch_conditions"], item_ids)
        return {row[0]: Condition._make(row) for row in rows}

    async def table_columns(self, schema: str, table: str, key_column: str | None) -> TableColumns | None:
        """The columns of a type's table as a read shows them, and whether a key has one row; none without a table."""
        row = await self._caller.fetchrow(QUERIES["table_columns"], schema, table, key_column)
        if row is None or row["columns"] is None:
            return None
        columns = [TableColumn(**column) for column in from_json(row["columns"])]
        return TableColumns(columns=columns, one_row=row["one_row"])

    async def read_items(self, data_type: str, keys: Sequence[str], *, now: datetime | None = None) -> list[StoredItem]:
        """What is stored of keys of a type, in their order."""
        rows = await self._caller.fetch(QUERIES["read_items"], data_type, keys, now)
        return [
            StoredItem(type=data_type, **{**row, "value": None if row["value"] is None else from_json(row["value"])})
            for row in rows
        ]

    async def watched_items(self, data_type: str, keys: Sequence[str]) -> dict[int, str]:
        """The keys of a type that somebody looks at, by item."""
        return {
            row["item_id"]: row["key"] for row in await self._caller.fetch(QUERIES["watched_items"], data_type, keys)
        }

    async def named_items(self, item_ids: Sequence[int]) -> dict[int, tuple[str, str]]:
        """The type and key of items, as long as somebody looks at them."""
        rows = await self._caller.fetch(QUERIES["named_items"], item_ids)
        return {row["item_id"]: (row["data_type"], row["key"]) for row in rows}

    async def notices_are_quiet(self) -> bool:
        """Whether nothing is notified now, because the server's queue is filling up."""
        return bool(await self._caller.fetchval(QUERIES["notices_are_quiet"]))

    async def check_storage(self, data_type: str, columns: Mapping[str, Column]) -> list[Finding]:
        """Where the table of a type and the columns of its model disagree."""
        told = to_json(
            {name: {"type": column.type, "nullable": column.nullable} for name, column in columns.items()}
        ).decode()
        rows = await self._caller.fetch(QUERIES["check_storage"], data_type, told)
        return [Finding(data_type=data_type, **row) for row in rows]


def _told(ended: EndedFetch) -> dict[str, Any]:
    told: dict[str, Any] = {
        "job": ended.job_id,
        "token": ended.lease_token,
        "item": ended.item_id,
        "type": ended.data_type,
        "key": ended.key,
        "outcome": ended.outcome.word,
        **_told_of(ended.outcome),
    }
    spent = {"bytes": ended.bytes, "tokens": ended.tokens, "rate": ended.rate}
    told.update((name, value) for name, value in spent.items() if value is not None)
    if ended.warnings:
        told["warnings"] = [{"code": code, "message": message} for code, message in ended.warnings]
    return told if ended.sent else {**told, "sent": False}


def _told_put(key: str | None, outcome: FetchOutcome) -> dict[str, Any]:
    return {"key": key, "rows": [], **(_told_content(outcome) if isinstance(outcome, Fetched) else _told_of(outcome))}


def _told_content(fetched: Fetched) -> dict[str, Any]:
    told = {
        "rows": fetched.rows,
        "many": fetched.many,
        "source_time": fetched.source_time,
        "hash": fetched.content_hash.hex(),
    }
    return {**told, "volatile": fetched.volatile} if fetched.volatile else told


def _told_of(outcome: FetchOutcome) -> dict[str, Any]:
    match outcome:
        case Fetched():
            return {
                **_told_content(outcome),
                "etag": outcome.etag,
                "last_modified": outcome.last_modified,
            }
        case Unchanged():
            return {"reason": outcome.why, "etag": outcome.etag, "last_modified": outcome.last_modified}
        case Refused():
            return {"reason": outcome.reason, "message": outcome.message}
        case FetchThrottled():
            return {"seconds": outcome.seconds, "message": outcome.message, "reason": outcome.reason}
        case FetchFailed():
            return {"reason": outcome.reason, "message": outcome.message, "status": outcome.status}
        case Gone():
            return {"message": outcome.message}
        case _:
            assert_never(outcome)
