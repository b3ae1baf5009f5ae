"""`[type.x]` of `livewell.toml`: a data type as a person declares it.

What a table names is set, what it does not name stays. Empty text sets a field back to its default: `ttl_column = ""`
is none, `table = ""` is Livewell's own table.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from livewell.kernel import Column, DeclaredTable, FieldGroup, PositiveDuration, Size
from livewell.registry.errors import InvalidType, UnknownTypeField
from livewell.registry.fetch_declarations import FetchDeclaration, Fields, fetch_columns


class SourceTime(FieldGroup):
    """When the source says its data is from, and which of it is taken."""

    column: str | None = None
    rule: Annotated[Literal["newer", "not_older"] | None, Column("source_rule")] = None


class Keys(FieldGroup):
    """A table of the user's that lists the keys of a type, and whether only those of the catalogue may be watched."""

    table: str | None = None
    column: Annotated[str | None, Column("keys_key_column")] = None
    active: Annotated[str | None, Column("keys_active_column")] = None
    exchange: Annotated[str | None, Column("keys_exchange_column")] = None
    only_known: bool | None = None


class ClaimRule(BaseModel):
    """`read = { claim = "tenant", equals = "key" }`: a claim must equal the key, a column of the row, or a value."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    claim: str
    equals: str


class FunctionRule(BaseModel):
    """`read = { function = "public.may_read" }`: a function of the user's says which keys may be read."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    function: str


def _read_rule(value: object) -> object:
    """The rule that was written, told in one sentence when it is none."""
    match value:
        case None | "nobody" | "signed_in" | "public" | "rls" | ClaimRule() | FunctionRule():
            return value
        case {"claim": str(claim), "equals": str(equals), **rest} if not rest:
            return ClaimRule(claim=claim, equals=equals)
        case {"function": str(function), **rest} if not rest:
            return FunctionRule(function=function)
    raise ValueError(
        'should be "nobody", "signed_in", "public" or "rls", { claim = "…", equals = "…" } or { function = "…" }'
    )


ReadRule: TypeAlias = Literal["nobody", "signed_in", "public", "rls"] | ClaimRule | FunctionRule


class TypeDeclaration(DeclaredTable):
    """`[type.x]`. `endpoint` and `ttl` are asked for when the type is new; there is no default TTL."""

    description: str | None = None
    endpoint: str | None = None
    ttl: PositiveDuration | None = None
    table: Annotated[str | None, Column("table_name")] = None
    key_column: str | None = None
    time_column: str | None = None
    ttl_column: str | None = None
    staleness: str | None = None
    gate: str | None = None
    strategy: Literal["on_demand", "scheduled", "both"] | None = None
    cron: str | None = None
    time_zone: str | None = None
    floor: Annotated[int | None, Field(ge=0, le=999), Column("priority_floor")] = None
    bytes: Annotated[Size | None, Column("expected_bytes")] = None
    source_time: SourceTime = SourceTime()
    model: str | None = None
    fetch: Annotated[FetchDeclaration | None, Column("fetch_call")] = None
    fields: Fields = Field(default={})
    extra: Literal["refuse", "ignore"] | None = None
    keys_per_request: Annotated[int | None, Field(ge=1, le=1000)] = None
    value_rule: Literal["contract", "observed"] | None = None
    read: Annotated[ReadRule | None, BeforeValidator(_read_rule), Column("read_rule")] = None
    read_claims: list[str] | None = None
    key_pattern: str | None = None
    keys: Keys = Keys()
    group: Annotated[str | None, Column("queue_group")] = None
    enabled: bool | None = None


TYPE_COLUMNS = TypeDeclaration.columns()


class TypeTables:
    """The tables of data types in a file."""

    word = "type"
    model = TypeDeclaration
    by_name: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, TypeDeclaration])
    unknown_field = UnknownTypeField
    invalid_field = InvalidType


def type_fields(declared: TypeDeclaration) -> dict[str, Any]:
    """The fields that were written, as `livewell.apply_types` takes them."""
    plain = {name: value for name, value in declared.written().items() if name not in {"fetch_call", "fields"}}
    return {**plain, **_read_columns(declared.read), **fetch_columns(declared.fetch, declared.fields)}


def _read_columns(rule: ReadRule | None) -> dict[str, Any]:
    """The columns of a read rule; what another one needed is left to the database to take back."""
    match rule:
        case ClaimRule():
            return {"read_rule": "claim", "read_claim": rule.claim, "read_equals": rule.equals}
        case FunctionRule():
            return {"read_rule": "function", "read_function": rule.function}
    return {}
