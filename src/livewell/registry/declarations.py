"""`[type.x]` of `livewell.toml`: a data type as a person declares it.

What a table names is set, what it does not name stays. Empty text sets a field back to its default: `ttl_column = ""`
is none, `table = ""` is Livewell's own table.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from livewell.kernel import HOW_TO_WRITE, parse_duration, parse_size
from livewell.registry.errors import InvalidType, UnknownTypeField
from livewell.registry.fetch_declarations import FetchDeclaration, Fields, fetch_columns


def _length(value: object) -> object:
    if isinstance(value, int | float):
        raise ValueError(f"{value} has no unit; {HOW_TO_WRITE}")  # noqa: TRY004 - pydantic tells a ValueError
    return parse_duration(value) if isinstance(value, str) else value


def _size(value: object) -> object:
    return parse_size(value) if isinstance(value, str) else value


Length = Annotated[timedelta, Field(gt=timedelta(0)), BeforeValidator(_length)]
Size = Annotated[int, Field(gt=0, lt=2**63), BeforeValidator(_size)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SourceTime(_Table):
    """When the source says its data is from, and which of it is taken."""

    column: str | None = None
    rule: Literal["newer", "not_older"] | None = None


class Keys(_Table):
    """A table of the user's that lists the keys of a type, and whether only those of the catalogue may be watched."""

    table: str | None = None
    column: str | None = None
    active: str | None = None
    exchange: str | None = None
    only_known: bool = False


class TypeDeclaration(_Table):
    """`[type.x]`. `endpoint` and `ttl` are asked for when the type is new; there is no default TTL."""

    description: str = ""
    endpoint: str | None = None
    ttl: Length | None = None
    table: str | None = None
    key_column: str | None = None
    time_column: str | None = None
    ttl_column: str | None = None
    staleness: str = "livewell.is_stale"
    gate: str = "always"
    strategy: Literal["on_demand", "scheduled", "both"] = "on_demand"
    cron: str | None = None
    time_zone: str = "UTC"
    floor: Annotated[int, Field(ge=0, le=999)] = 0
    bytes: Size | None = None
    source_time: SourceTime = SourceTime()
    model: str | None = None
    fetch: FetchDeclaration | None = None
    fields: Fields = {}
    extra: Literal["refuse", "ignore"] = "refuse"
    keys_per_request: Annotated[int, Field(ge=1, le=1000)] = 1
    value_rule: Literal["contract", "observed"] = "observed"
    read: Literal["nobody", "signed_in", "public"] = "nobody"
    key_pattern: str | None = None
    keys: Keys = Keys()
    group: str = "refresh"
    enabled: bool = True


TYPE_COLUMNS = {
    "description": "description",
    "endpoint": "endpoint",
    "ttl": "ttl",
    "table": "table_name",
    "key_column": "key_column",
    "time_column": "time_column",
    "ttl_column": "ttl_column",
    "staleness": "staleness",
    "gate": "gate",
    "strategy": "strategy",
    "cron": "cron",
    "time_zone": "time_zone",
    "floor": "priority_floor",
    "bytes": "expected_bytes",
    "source_time.column": "source_time_column",
    "source_time.rule": "source_rule",
    "model": "model",
    "fetch": "fetch_call",
    "fields": "fields",
    "extra": "extra",
    "keys_per_request": "keys_per_request",
    "value_rule": "value_rule",
    "read": "read_rule",
    "key_pattern": "key_pattern",
    "keys.table": "keys_table",
    "keys.column": "keys_key_column",
    "keys.active": "keys_active_column",
    "keys.exchange": "keys_exchange_column",
    "keys.only_known": "keys_only_known",
    "group": "queue_group",
    "enabled": "enabled",
}


class TypeTables:
    """The tables of data types in a file."""

    word = "type"
    model = TypeDeclaration
    by_name: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, TypeDeclaration])
    unknown_field = UnknownTypeField
    invalid_field = InvalidType


def type_fields(declared: TypeDeclaration) -> dict[str, Any]:
    """The fields that were written, as `livewell.apply_types` takes them."""
    named = {field: value for field, value in _named(declared) if field not in {"fetch", "fields"}}
    plain = {column: named[field] for field, column in TYPE_COLUMNS.items() if field in named}
    return {**plain, **fetch_columns(declared.fetch, declared.fields)}


def _named(table: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for field in table.model_fields_set:
        value = getattr(table, field)
        if isinstance(value, SourceTime | Keys):
            yield from _named(value, f"{prefix}{field}.")
        else:
            yield f"{prefix}{field}", value
