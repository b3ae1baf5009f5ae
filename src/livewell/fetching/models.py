"""Models: what one row of an answer must be, to the last field.

A `Model` is strict: nothing is converted, nothing unknown is taken, nothing may be missing. Fields that are declared in
`livewell.toml` become one; so does a JSON Schema that says no more than fields do. What holds for a value is part of
its type, so that a value out of bounds is refused by the same parse as one of the wrong shape.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated, Any, ClassVar
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from livewell.fetching.errors import UnsoundFetch
from livewell.fetching.shapes import Shape, Steps
from livewell.registry import FieldDeclaration, path_text, value_steps

_EARLIEST, _LATEST = -62_135_596_800, 253_402_300_799  # years 1 to 9999
_BOUNDS = {"above": "gt", "below": "lt", "at_least": "ge", "at_most": "le"}
_LENGTHS = ("min_length", "max_length", "pattern")


class Model(BaseModel):
    """A row of an answer, strictly: a missing, renamed, retyped or unknown field refuses it."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, validate_default=True, protected_namespaces=()
    )


@dataclass(frozen=True, slots=True)
class Marks:
    """What a field is beside its value."""

    source_time: bool = False
    volatile: bool = False


def bounded(*, source_time: bool = False, volatile: bool = False, **bounds: Any) -> Any:
    """A field with bounds (`gt`, `ge`, `lt`, `le`, `min_length`, `max_length`, `pattern`, `alias`); it has no default.

    `source_time` is when the source says its data is from. `volatile` may differ while the data is the same.
    """
    return Field(json_schema_extra={"livewell": {"source_time": source_time, "volatile": volatile}}, **bounds)


def marks_of(field: FieldInfo) -> Marks:
    """What `bounded` said of a field."""
    extra = field.json_schema_extra
    said = extra.get("livewell") if isinstance(extra, dict) else None
    if not isinstance(said, dict):
        return Marks()
    return Marks(source_time=bool(said["source_time"]), volatile=bool(said["volatile"]))


def model_from(name: str, fields: Mapping[str, FieldDeclaration], *, extra: str = "refuse") -> type[Model]:
    """The model that declared fields make."""
    if not fields:
        raise UnsoundFetch(f"type {name} has no fields", fix="declare fields.x, or name a model")

    class Declared(Model):
        model_config = ConfigDict(extra="ignore" if extra == "ignore" else "forbid")

    class Nested(Declared):
        sources: ClassVar[Mapping[str, Steps]] = {column: field.steps(column) for column, field in fields.items()}
        shape: ClassVar[Shape] = Shape(list(sources.values()))

        @model_validator(mode="before")
        @classmethod
        def _lay_flat(cls, row: Any) -> Any:
            return cls.shape.flat(row) if isinstance(row, dict) else row

    nested = any(len(steps) > 1 for steps in Nested.sources.values())
    try:
        made: dict[str, Any] = {
            column: _field(field, _alias(field, column, nested)) for column, field in fields.items()
        }
        return create_model(f"{name.title()}Row", __base__=Nested if nested else Declared, **made)
    except Exception as error:
        raise UnsoundFetch(f"the fields of type {name} make no model: {error}") from error


def source_steps(model: type[BaseModel], name: str) -> Steps:
    """Where a field is in a row of an answer; what is no field of the model is a path itself."""
    if name in model.model_fields:
        sources: Mapping[str, Steps] = getattr(model, "sources", {})
        return sources.get(name, [alias_of(model, name)])
    try:
        return value_steps(name)
    except ValueError as error:
        raise UnsoundFetch(f"key {name!r} is no field of {model.__name__}, and no path: {error}") from error


def alias_of(model: type[BaseModel], name: str) -> str:
    """What the parse calls a field of a model."""
    field = model.model_fields[name]
    alias = field.validation_alias or field.alias
    return alias if isinstance(alias, str) else name


def loosened(model: type[BaseModel]) -> type[BaseModel]:
    """The same model, which ignores what it does not know: where the type says so."""

    class Loosened(model):  # type: ignore[valid-type, misc]  # the model is known at run time only
        model_config = ConfigDict(extra="ignore")

    return Loosened


def _alias(field: FieldDeclaration, column: str, nested: bool) -> str | None:  # noqa: FBT001 - private
    """The name of a value in a row: its member or, in a row that was laid flat, its path."""
    steps = field.steps(column)
    return path_text(steps) if nested else None if field.source is None else str(steps[0])


def _field(field: FieldDeclaration, alias: str | None) -> tuple[Any, Any]:
    bounds: dict[str, Any] = {_BOUNDS[word]: value for word in _BOUNDS if (value := getattr(field, word)) is not None}
    bounds |= {word: value for word in _LENGTHS if (value := getattr(field, word)) is not None}
    annotation = _annotation(field)
    inner = Annotated[annotation, Field(**bounds)] if bounds else annotation
    options: dict[str, Any] = {"default": None} if field.missing else {}
    if alias is not None:
        options["validation_alias"] = alias
    return (
        inner | None if field.optional or field.missing else inner,
        bounded(source_time=field.source_time, volatile=field.volatile, **options),
    )


def _annotation(field: FieldDeclaration) -> Any:
    found = _TIMES[field.type](field) if field.type in _TIMES else _PLAIN[field.type]
    return found if field.one_of is None else Annotated[found, AfterValidator(_one_of(field.one_of))]


def _one_of(allowed: Sequence[Any]) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if value not in allowed:
            raise PydanticCustomError("literal_error", "Input should be one of those declared")
        return value

    return check


def _epoch(unit: int) -> Callable[[FieldDeclaration], Any]:
    def read(value: object) -> datetime:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise PydanticCustomError("epoch_type", "Input should be a number of seconds since 1970")
        if not _EARLIEST <= value / unit <= _LATEST:
            raise PydanticCustomError("epoch_range", "Input should be a time between the years 1 and 9999")
        return datetime.fromtimestamp(value / unit, UTC)

    return lambda _: Annotated[datetime, BeforeValidator(read)]


def _datetime(field: FieldDeclaration) -> Any:
    zone = ZoneInfo(field.zone) if field.zone is not None else None

    def read(value: object) -> datetime:
        if not isinstance(value, str):
            raise PydanticCustomError("datetime_type", "Input should be a time in text")
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            raise PydanticCustomError("datetime_parsing", "Input should be a time as ISO 8601 writes it") from None
        if len(value) <= len("2026-01-01"):
            raise PydanticCustomError("datetime_parsing", "Input should be a time, not a date")
        if found.tzinfo is None and zone is None:
            raise PydanticCustomError("datetime_zone", "Input should name its zone, or the field should: zone")
        try:
            return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)
        except OverflowError:
            raise PydanticCustomError(
                "datetime_parsing", "Input should be a time between the years 1 and 9999"
            ) from None

    return Annotated[datetime, BeforeValidator(read)]


def _date(_: FieldDeclaration) -> Any:
    def read(value: object) -> date:
        if not isinstance(value, str) or len(value) != len("2026-01-01"):
            raise PydanticCustomError("date_type", "Input should be a date as 2026-01-31")
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise PydanticCustomError("date_parsing", "Input should be a date as 2026-01-31") from None

    return Annotated[date, BeforeValidator(read)]


_PLAIN: Mapping[str, Any] = {"string": str, "number": float, "integer": int, "boolean": bool, "json": Any}
_TIMES: Mapping[str, Callable[[FieldDeclaration], Any]] = {
    "epoch": _epoch(1),
    "epoch_ms": _epoch(1000),
    "datetime": _datetime,
    "date": _date,
}


class JsonSchemaReader:
    """Reads the part of JSON Schema that says what fields say: an object, its properties, their bounds."""

    _TYPES: ClassVar[Mapping[str, str]] = {
        "string": "string",
        "number": "number",
        "integer": "integer",
        "boolean": "boolean",
        "object": "json",
        "array": "json",
    }
    _WORDS: ClassVar[Mapping[str, str]] = {
        "exclusiveMinimum": "above",
        "exclusiveMaximum": "below",
        "minimum": "at_least",
        "maximum": "at_most",
        "minLength": "min_length",
        "maxLength": "max_length",
        "pattern": "pattern",
        "enum": "one_of",
    }
    _SILENT: ClassVar[frozenset[str]] = frozenset(
        {"type", "format", "title", "description", "examples", "x-source-time"}
    )

    def fields(self, schema: Mapping[str, Any]) -> dict[str, FieldDeclaration]:
        """The fields of an object's schema; `UnsoundFetch` for what they cannot say."""
        properties = schema.get("properties")
        if schema.get("type") != "object" or not isinstance(properties, Mapping) or not properties:
            raise UnsoundFetch("a JSON Schema of a model describes an object and its properties")
        required = set(schema.get("required", ()))
        return {name: self._field(name, schema, name in required) for name, schema in properties.items()}

    def _field(self, name: str, schema: Any, is_required: bool) -> FieldDeclaration:  # noqa: FBT001 - private
        if not isinstance(schema, Mapping) or "type" not in schema:
            raise UnsoundFetch(f"property {name} of the JSON Schema has no type")
        if strange := set(schema) - self._SILENT - set(self._WORDS):
            raise UnsoundFetch(f"property {name} of the JSON Schema says {min(strange)}, which fields cannot")
        types = [schema["type"]] if isinstance(schema["type"], str) else list(schema["type"])
        kinds = [kind for kind in types if kind != "null"]
        if len(kinds) != 1 or kinds[0] not in self._TYPES:
            raise UnsoundFetch(f"property {name} of the JSON Schema should have one type, beside null")
        said = {ours: schema[word] for word, ours in self._WORDS.items() if word in schema}
        kind = {"date-time": "datetime", "date": "date"}.get(schema.get("format", ""), self._TYPES[kinds[0]])
        try:
            return FieldDeclaration.model_validate(
                {
                    **said,
                    "type": kind,
                    "optional": "null" in types,
                    "missing": not is_required,
                    "source_time": bool(schema.get("x-source-time")),
                }
            )
        except ValueError as error:
            raise UnsoundFetch(f"property {name} of the JSON Schema: {error}") from error
