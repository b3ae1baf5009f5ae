"""What the audit log holds, and what is said about it."""

import re
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from livewell.audit.errors import UnknownHead

_HEAD = re.compile(r"(?P<number>\d{1,18}):(?P<hash>[0-9a-f]{64})")


@dataclass(frozen=True, kw_only=True)
class NewEntry:
    """What was done (a past-tense event), by whom, to what and why. Without an actor, the login is named."""

    event: str
    table_name: str | None = None
    record_id: str | None = None
    operation: str | None = None
    old: Any = None
    new: Any = None
    reason: str | None = None
    actor: str | None = None
    subject: str | None = None
    job_id: int | None = None
    detail: Any = None

    def given(self) -> dict[str, Any]:
        """The fields that say something."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Entry(NewEntry):
    """An entry as it stands in the log, with the transaction and the login that wrote it; older ones have no login."""

    id: int
    at: datetime
    xid: int
    login: str | None = None


@dataclass(frozen=True, kw_only=True)
class EntryFilter:
    """Which entries: all that fit everything given, newest first, `limit` of them before the id `before`."""

    event: str | None = None
    actor: str | None = None
    subject: str | None = None
    job_id: int | None = None
    table_name: str | None = None
    record_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None
    limit: int = 100


@dataclass(frozen=True, kw_only=True)
class Head:
    """The number and hash of a seal. Kept elsewhere, it proves later that nothing up to it was cut or rewritten."""

    number: int
    hash: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the written form, `12:9f86…`."""
        match = _HEAD.fullmatch(text.strip().lower())
        if match is None:
            raise UnknownHead(
                f"{text!r} is not a head", fix="a head is written NUMBER:HASH, as `audit export` shows it"
            )
        return cls(number=int(match["number"]), hash=match["hash"])

    def __str__(self) -> str:
        return f"{self.number}:{self.hash}"


BEGINNING = Head(number=0, hash="00" * 32)


@dataclass(frozen=True, kw_only=True)
class AuditState:
    """Where the chain ends, and the tail that is not in it yet.

    `missing_ids` are numbers drawn above the last seal that have no entry: writes rolled back or still open, or a tail
    that was cut. Only a head kept elsewhere can tell which.
    """

    head: Head
    sealed_at: datetime | None
    sealed_entries: int
    high_water: int
    unsealed_entries: int
    oldest_unsealed_at: datetime | None
    missing_ids: int


class Problem(StrEnum):
    """What verification can find."""

    ENTRY_EDITED = "entry_edited"
    ENTRY_DELETED = "entry_deleted"
    ENTRY_REORDERED = "entry_reordered"
    ENTRY_INSERTED = "entry_inserted"
    SEAL_ALTERED = "seal_altered"
    SEAL_MISSING = "seal_missing"
    CHAIN_BROKEN = "chain_broken"
    TAIL_CUT = "tail_cut"
    HISTORY_REWRITTEN = "history_rewritten"
    GUARD_MISSING = "guard_missing"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that is wrong, with the seal and the entry it was found at."""

    problem: Problem
    seal: int | None = None
    entry_id: int | None = None
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What was verified and what was found; `truncated` when there was more than is listed."""

    head: Head
    expected: Head | None
    entries: int
    unsealed_entries: int
    missing_ids: int
    findings: tuple[Finding, ...]
    truncated: bool = False

    @property
    def intact(self) -> bool:
        return not self.findings


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How many entries have been verified or exported, of how many."""

    done: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """One more seal was put at the end of the chain."""

    head: Head
    entries: int


@dataclass(frozen=True, kw_only=True)
class NothingToSeal:
    """Every entry that is committed is sealed."""

    head: Head


@dataclass(frozen=True, kw_only=True)
class SealerBusy:
    """Another sealer is at work at this moment; it will do."""


SealOutcome = Sealed | NothingToSeal | SealerBusy
