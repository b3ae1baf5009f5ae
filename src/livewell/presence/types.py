"""The records of presence, and what its batches answer.

Busy is what somebody else holds in a transaction that stays open: it is not waited for, and asked for again later.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID


class Item(NamedTuple):
    """What a user looks at: a data type and a key."""

    type: str
    key: str


class OpenOutcome(StrEnum):
    """What became of a session that was to be opened; a new one looks at nothing, one that was open at what it did."""

    OPENED = "opened"
    OPEN = "open"
    TAKEN = "taken"
    TOO_MANY = "too_many"
    BUSY = "busy"


class SubscribeOutcome(StrEnum):
    """What became of a subscription."""

    SUBSCRIBED = "subscribed"
    ALREADY = "already"
    GONE = "gone"
    TOO_MANY = "too_many"
    BUSY = "busy"


class UnsubscribeOutcome(StrEnum):
    """What became of the end of a subscription."""

    UNSUBSCRIBED = "unsubscribed"
    NOT_THERE = "not_there"
    BUSY = "busy"


@dataclass(frozen=True, kw_only=True)
class Session:
    """One connection of a user."""

    id: UUID
    user_id: str
    gateway: str | None
    last_seen: datetime
    created_at: datetime
    items: int


@dataclass(frozen=True, kw_only=True)
class WatchedItem:
    """An item that somebody looks at."""

    item_id: int
    data_type: str
    key: str
    viewers: int
    viewers_average: float
    watched_since: datetime | None
    due_at: datetime


@dataclass(frozen=True, kw_only=True)
class PresenceSource:
    """A view, table or function of the user's that says who looks at what, and how reading it went."""

    name: str
    reads: str
    every: timedelta
    enabled: bool
    read_at: datetime | None
    last_ok_at: datetime | None
    silent_since: datetime | None
    last_error: str | None
    rows_read: int
    rows_skipped: int
    users: int


@dataclass(frozen=True, kw_only=True)
class PresenceTotals:
    """How much there is of everything at one moment."""

    sessions: int
    gateways: int
    subscriptions: int
    items: int
