"""What a refresh came to. Expected outcomes are values: a fetch ends in exactly one of `FetchOutcome`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias
from uuid import UUID

JsonObject: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetched:
    """An answer that holds: every row of the key, as its model has them.

    Whether it is new is found where it is stored: what says the same as the rows that are there, or has their source
    time, is unchanged; `volatile` names the fields that make no difference, the source time among them.
    Where a key may have `many` rows and its type names no table, they are kept as a list, also when there is one.
    """

    word: ClassVar[str] = "fetched"
    rows: Sequence[JsonObject]
    source_time: datetime | None = None
    content_hash: bytes
    volatile: tuple[str, ...] = ()
    many: bool = False
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Unchanged:
    """The provider has what is stored already: a success, which moves the key's timestamp."""

    word: ClassVar[str] = "unchanged"
    why: Literal["not_modified", "same_content", "same_source_time"]
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """An answer that is not believed: `reason` is a short code (`empty`, `schema`, `bounds`, `old_data`, …)."""

    word: ClassVar[str] = "refused"
    reason: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchThrottled:
    """The provider said: too much; again after so many seconds, if it said when. Costs no retry.

    With the reason `no_permit` it was our own budget that allowed no further request of this fetch.
    """

    word: ClassVar[str] = "throttled"
    seconds: float | None = None
    message: str
    reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FetchFailed:
    """No answer, or none to be read: `reason` is a short code (`timeout`, `connect`, `status`, …)."""

    word: ClassVar[str] = "failed"
    reason: str
    message: str
    status: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Gone:
    """The provider does not have the key."""

    word: ClassVar[str] = "gone"
    message: str


FetchOutcome: TypeAlias = Fetched | Unchanged | Refused | FetchThrottled | FetchFailed | Gone


class EndedFetch(NamedTuple):
    """One refresh to be ended: what its job was, what it came to, and what it spent at its endpoint.

    A tuple, because thousands are made a second. `rate` is what the answer said of limits; `sent` is false when nothing
    was sent at all. `warnings` are what was odd about the answer: a short code, and what was seen.
    """

    job_id: int
    lease_token: UUID
    item_id: int
    data_type: str
    key: str
    outcome: FetchOutcome
    bytes: int | None = None
    tokens: int | None = None
    rate: JsonObject | None = None
    sent: bool = True
    warnings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredItem:
    """What is stored of an item at one moment: its row, or the list of its rows where a key may have many.

    `why` says in a few words why it is as it is: `fresh`, or `stale` or `never fetched` and what stands in the way.
    """

    type: str
    key: str
    value: Any
    fetched_at: datetime | None
    age: timedelta | None
    is_stale: bool
    viewers: int
    why: str


class Stored(NamedTuple):
    """What became of one ended refresh: the state of its job.

    It is `lost` where the lease no longer counted, and `busy` where nothing was done because somebody else has the job,
    the item or its rows in an open transaction; the reason says which, and who.
    """

    job_id: int
    state: str
    outcome: str
    reason: str | None


class Put(NamedTuple):
    """What became of one key that was put: `fetched`, `unchanged`, `refused` or, held by somebody, `busy`; and why."""

    key: str | None
    outcome: str
    reason: str | None


class Rehearsed(NamedTuple):
    """What storing would have made of one refresh."""

    key: str
    outcome: str
    reason: str | None
    message: str | None


class Condition(NamedTuple):
    """What a conditional request for an item may say: what its last answer was marked with."""

    item_id: int
    etag: str | None
    last_modified: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """What a model says of a field that is stored: of which type it is, and whether it may be missing."""

    type: Literal["string", "integer", "number", "boolean", "object", "array", "timestamp", "date", "any"]
    nullable: bool = False


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """A column of a user's table, by the name of its type as PostgreSQL writes it."""

    name: str
    type: str
    not_null: bool
    composite: bool


@dataclass(frozen=True, kw_only=True)
class TableColumns:
    """The columns of a type's table, and whether a key has one row in it or a list."""

    columns: Sequence[TableColumn]
    one_row: bool
