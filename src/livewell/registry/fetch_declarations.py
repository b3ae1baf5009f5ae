"""`fetch` and `fields` of `[type.x]`: how a type is fetched, and what its answers hold, declared without code.

They are kept with the type as they were written, so that every process compiles the same fetcher from them.
"""

import re
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from livewell.registry.json_paths import path_text, row_steps, value_steps

FieldType = Literal["string", "number", "integer", "boolean", "date", "datetime", "epoch", "epoch_ms", "json"]
Number = Annotated[int | float, Field(allow_inf_nan=False)]
TIMES = frozenset({"date", "datetime", "epoch", "epoch_ms"})
_NUMBERS = frozenset({"number", "integer"})
_HOLES = re.compile(r"\{([^{}]*)\}")
_OURS = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "accept-encoding", "te", "upgrade", "cookie"}
    | {"if-none-match", "if-modified-since", "range", "expect", "trailer", "proxy-authorization"}
)


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"should be a regular expression: {error}") from error
    return text


def _zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ValueError, KeyError, OSError) as error:
        raise ValueError('should be a name of the time zone database, as "Europe/Berlin" or "UTC"') from error
    return text


def _header_name(text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}", text) is None or text.lower() in _OURS:
        raise ValueError("should be the name of a header that is not the client's own")
    return text


def _header_value(text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise ValueError("should be one line of plain characters")
    return text


def _path_to_rows(text: str) -> str:
    row_steps(text)
    return text


def _path_to_value(text: str) -> str:
    value_steps(text)
    return text


RowPath = Annotated[str, AfterValidator(_path_to_rows)]
ValuePath = Annotated[str, AfterValidator(_path_to_value)]
HeaderName = Annotated[str, AfterValidator(_header_name)]
HeaderValue = Annotated[str, AfterValidator(_header_value)]
Column = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True)


class FieldDeclaration(_Table):
    """`fields.x`: one field of an answer's rows, and what it may hold. It must be there unless `missing` is said."""

    type: FieldType
    source: ValuePath | None = Field(default=None, alias="from")
    above: Number | None = None
    below: Number | None = None
    at_least: Number | None = None
    at_most: Number | None = None
    min_length: Annotated[int, Field(ge=0)] | None = None
    max_length: Annotated[int, Field(ge=0)] | None = None
    pattern: Annotated[str, AfterValidator(_pattern)] | None = None
    one_of: Annotated[list[str | int | float], Field(min_length=1)] | None = None
    zone: Annotated[str, AfterValidator(_zone)] | None = None
    optional: bool = False
    missing: bool = False
    volatile: bool = False
    source_time: bool = False
    rule: Literal["newer", "not_older"] | None = None

    @model_validator(mode="after")
    def _says_what_its_type_can(self) -> Self:
        said = self.model_fields_set
        if said & {"above", "below", "at_least", "at_most"} and self.type not in _NUMBERS:
            raise ValueError("above, below, at_least and at_most are for number and integer")
        if said & {"min_length", "max_length", "pattern"} and self.type != "string":
            raise ValueError("min_length, max_length and pattern are for string")
        if self.source_time and self.type not in TIMES:
            raise ValueError("source_time is for date, datetime, epoch and epoch_ms")
        if self.one_of is not None and self.type not in {"string", "number", "integer"}:
            raise ValueError("one_of is for string, number and integer")
        if self.rule is not None and not self.source_time:
            raise ValueError("rule goes with source_time")
        if self.zone is not None and self.type != "datetime":
            raise ValueError("zone is for datetime: the zone of times that name none")
        if self.source_time and (self.optional or self.missing):
            raise ValueError("a source time that may be missing tells nothing")
        return self

    def steps(self, column: str) -> list[str | int]:
        """Where it is in a row: as `from` says, else the member that is called like the column."""
        return [column] if self.source is None else value_steps(self.source)


def _apart(fields: dict[str, FieldDeclaration]) -> dict[str, FieldDeclaration]:
    """Refuse fields of which one is inside another, or that take a value for an object and for a list."""
    by_path = {tuple(field.steps(column)): column for column, field in fields.items()}
    kinds: dict[tuple[str | int, ...], tuple[type, str]] = {}
    for path, column in by_path.items():
        for depth in range(1, len(path)):
            outer, kind = path[:depth], type(path[depth])
            if outer in by_path:
                raise ValueError(f"{column} is inside {by_path[outer]}: leave one of them out")
            known, other = kinds.setdefault(outer, (kind, column))
            if known is not kind:
                raise ValueError(f"{path_text(outer)} is an object for one of {other} and {column}, else a list")
    return fields


Fields = Annotated[dict[Column, FieldDeclaration], AfterValidator(_apart)]


class PageDeclaration(_Table):
    """`fetch.page`: answers in pages, counted from `first`, or led on by what a page says is `next`."""

    parameter: Annotated[str, Field(min_length=1, max_length=100)]
    first: Annotated[int, Field(ge=0)] = 1
    next: RowPath | None = None
    most: Annotated[int, Field(ge=1, le=100)] = 10


class FetchDeclaration(_Table):
    """`fetch`: the call that gets a type, and where the rows of its answer are."""

    path: str
    items: RowPath = "$[*]"
    key: ValuePath | None = None
    query: dict[Annotated[str, Field(min_length=1, max_length=100)], str] = {}
    headers: dict[HeaderName, HeaderValue] = {}
    page: PageDeclaration | None = None
    keys_per_request: Annotated[int, Field(ge=1, le=1000)] | None = None
    separator: Annotated[str, Field(pattern=r"^[!-~]{1,3}$")] = ","
    rows: Literal["one", "many"] = "one"
    absent: Literal["refuse", "gone"] = "refuse"
    content_type: str | None = None

    @model_validator(mode="after")
    def _asks_for_a_key(self) -> Self:
        if re.fullmatch(r"(/[^/\s?#\\]*)+", self.path) is None or re.search(r"/\.{1,2}(/|$)", self.path):
            raise ValueError('path should begin with "/", without query, fragment, ".." and empty parts')
        holes = {hole for text in (self.path, *self.query.values()) for hole in _HOLES.findall(text)}
        if strange := holes - {"key", "keys"}:
            raise ValueError(f"{{{min(strange)}}} is neither {{key}} nor {{keys}}")
        if len(holes) != 1:
            raise ValueError("path or query should have {key}, or {keys} where several go into one request")
        if (self.keys_per_request or 1) > 1 and (holes != {"keys"} or self.key is None):
            raise ValueError("several keys per request need {keys}, and key: the field that says whose a row is")
        if self.page is not None and (self.keys_per_request or 1) > 1:
            raise ValueError("pages are those of one key: leave out page or keys_per_request")
        return self


def fetch_columns(fetch: FetchDeclaration | None, fields: dict[str, FieldDeclaration]) -> dict[str, Any]:
    """What was written, as the columns of a type take it."""
    columns: dict[str, Any] = {}
    if fetch is not None:
        columns["fetch_call"] = fetch.model_dump(mode="json", by_alias=True, exclude_unset=True)
        if fetch.keys_per_request is not None:
            columns["keys_per_request"] = columns["fetch_call"].pop("keys_per_request")
    if fields:
        columns["fields"] = {
            name: field.model_dump(mode="json", by_alias=True, exclude_unset=True) for name, field in fields.items()
        }
        if rule := next((field.rule for field in fields.values() if field.rule is not None), None):
            columns["source_rule"] = rule
    return columns
