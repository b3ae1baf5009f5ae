"""The records of the registry."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

JsonObject: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class DataType:
    """A kind of data that is kept fresh, as it is now."""

    name: str
    description: str
    endpoint: str
    queue_group: str
    table_name: str | None
    key_column: str | None
    time_column: str | None
    ttl_column: str | None
    ttl: timedelta
    staleness: str
    gate: str
    strategy: str
    cron: str | None
    time_zone: str
    priority_floor: int
    expected_bytes: int | None
    source_time_column: str | None
    source_rule: str | None
    model: str | None
    keys_per_request: int
    value_rule: str
    key_pattern: str
    keys_table: str | None
    keys_key_column: str | None
    keys_active_column: str | None
    keys_exchange_column: str | None
    keys_only_known: bool
    enabled: bool
    fetch_call: JsonObject | None
    fields: JsonObject | None
    extra: str
    read_rule: str
    read_claim: str | None
    read_equals: str | None
    read_function: str | None
    read_claims: list[str] | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that keeps a type from being kept fresh (`error`), or that somebody should know (`warning`)."""

    data_type: str
    severity: str
    problem: str
    message: str
    fix: str


class TypeKey(NamedTuple):
    """A key of a type's catalogue; only active ones are walked."""

    key: str
    active: bool
    exchange: str | None


class Imported(NamedTuple):
    """What an import did."""

    added: int
    changed: int


class MarketSession(NamedTuple):
    """A time an exchange is open."""

    opens_at: datetime
    closes_at: datetime


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """An exchange: whose keys are its, for which time it is known, whether it is open and when that changes."""

    code: str
    suffixes: list[str]
    known_from: datetime | None
    known_until: datetime | None
    refreshed_at: datetime | None
    open: bool | None
    changes_at: datetime | None
