"""The audit log in the database, one method per named statement."""

from collections.abc import Sequence
from dataclasses import astuple
from datetime import datetime
from typing import Any

from pydantic_core import from_json

from livewell.audit.errors import UnknownHead
from livewell.audit.types import (
    AuditState,
    Entry,
    EntryFilter,
    Finding,
    Head,
    NewEntry,
    NothingToSeal,
    Problem,
    Sealed,
    SealerBusy,
    SealOutcome,
)
from livewell.audit.writing import written
from livewell.kernel import Caller, Connection, Queries

QUERIES = Queries.of("livewell.audit")

_JSON = ("old", "new", "detail")


class AuditStore:
    """Reads and writes the log through any caller: a pool, a line, or a connection inside a transaction."""

    def __init__(self, caller: "Caller | Connection") -> None:
        self._caller = caller

    async def write_entries(self, entries: Sequence[NewEntry], *, at: datetime | None = None) -> list[int]:
        """Append a batch; it is there when the transaction it is written in commits."""
        rows = await self._caller.fetch(QUERIES["write_entries"], written(entries), at)
        return [row[0] for row in rows]

    async def list_entries(self, wanted: EntryFilter | None = None) -> list[Entry]:
        """Entries, newest first."""
        rows = await self._caller.fetch(QUERIES["list_entries"], *astuple(wanted or EntryFilter()))
        return [_entry(dict(row)) for row in rows]

    async def read_state(self) -> AuditState:
        """Where the chain ends and what is not in it yet."""
        row = dict((await self._caller.fetch(QUERIES["read_state"]))[0])
        head = Head(number=row.pop("head_number"), hash=row.pop("head_hash").hex())
        return AuditState(head=head, **row)

    async def seal_entries(self, limit: int, *, at: datetime | None = None) -> SealOutcome:
        """Put one more seal at the end of the chain, of at most `limit` entries."""
        row = (await self._caller.fetch(QUERIES["seal_entries"], limit, at))[0]
        if row["outcome"] == "busy":
            return SealerBusy()
        head = Head(number=row["number"], hash=row["hash"].hex())
        return Sealed(head=head, entries=row["entries"]) if row["outcome"] == "sealed" else NothingToSeal(head=head)

    async def next_seals(self, after: int, entries: int) -> int | None:
        """The last seal of the next portion, or None at the end of the chain."""
        number: int | None = await self._caller.fetchval(QUERIES["next_seals"], after, entries)
        return number

    async def verify_seals(self, after: int, upto: int) -> list[Finding]:
        return [_finding(dict(row)) for row in await self._caller.fetch(QUERIES["verify_seals"], after, upto)]

    async def verify_entries(self, after: int, upto: int) -> list[Finding]:
        return [_finding(dict(row)) for row in await self._caller.fetch(QUERIES["verify_entries"], after, upto)]

    async def verify_guards(self) -> list[Finding]:
        return [_finding(dict(row)) for row in await self._caller.fetch(QUERIES["verify_guards"])]

    async def verify_head(self, head: Head) -> list[Finding]:
        return [
            _finding(dict(row))
            for row in await self._caller.fetch(QUERIES["verify_head"], head.number, bytes.fromhex(head.hash))
        ]

    async def export_lines(self, after: int, upto: int) -> list[str]:
        return [row["line"] for row in await self._caller.fetch(QUERIES["export_lines"], after, upto)]

    async def read_head(self, number: int) -> Head:
        """The head of that number; 0 is where every chain begins."""
        row = await self._caller.fetchrow(QUERIES["read_head"], number)
        if row is None:
            raise UnknownHead(f"the audit log has no seal number {number}")
        return Head(number=row["number"], hash=row["hash"].hex())


def _entry(row: dict[str, Any]) -> Entry:
    decoded = {name: None if row[name] is None else from_json(row[name]) for name in _JSON}
    return Entry(**{**row, **decoded})


def _finding(row: dict[str, Any]) -> Finding:
    return Finding(**{**row, "problem": Problem(row["problem"])})
