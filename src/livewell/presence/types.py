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
    """What became of a session that was to be opened; a new one looks at nothing, one that was open at what it did.

    Elsewhere: it is open at another gateway, or at none, and stays there; `resume` would take it.
    """

    OPENED = "opened"
    OPEN = "open"
    ELSEWHERE = "elsewhere"
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Subscribed:
    """What became of a subscription, and what its item is known by; None where there is no item yet."""

    outcome: SubscribeOutcome
    item_id: int | None
    version: int | None
    fetched_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Resumed:
    """What became of a session that was to be resumed.

    Of the items of its list, in their order, when it was. `left` it still looks at, beyond the list, because somebody
    else holds it.
    """

    outcome: OpenOutcome
    items: list[Subscribed]
    left: list[Item]


class UnsubscribeOutcome(StrEnum):
    """What became of the end of a subscription."""

    UNSUBSCRIBED = "unsubscribed"
    NOT_THERE = "not_there"
    BUSY = "busy"


@dataclass(frozen=True, kw_only=True)
class GatewayPace:
    """How often a gateway renews its sessions, and how long who comes dwells before anything is spent on it."""

    renew_every: timedelta
    dwell: timedelta


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
