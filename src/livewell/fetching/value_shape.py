"""What the value of a type looks like to who reads it: as JSON Schema, from its table, its fields or its model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from livewell.fetching.errors import UnsoundFetch
from livewell.fetching.sources import fetcher_of, model_of
from livewell.fetching.store import FetchStore
from livewell.fetching.types import TableColumn
from livewell.kernel import Caller, Connection
from livewell.registry import DataType, RegistryStore

# What to_jsonb makes of a column's type; all others become text.
_NUMBERS = {"smallint", "integer", "bigint", "real", "double precision", "numeric"}
_PLAIN = {"boolean": {"type": "boolean"}, "json": {}, "jsonb": {}}


@dataclass(frozen=True, kw_only=True)
class ValueShape:
    """The value of a type as JSON Schema; without one, why nobody can say."""

    data_type: DataType
    schema: dict[str, Any] | None
    unknown_because: str | None = None


async def value_shapes(caller: "Caller | Connection", names: Sequence[str] | None = None) -> list[ValueShape]:
    """What the values of types look like; all types if none is named."""
    return [await _shape(caller, data_type) for data_type in await RegistryStore(caller).list_types(names)]


async def _shape(caller: "Caller | Connection", data_type: DataType) -> ValueShape:
    if data_type.table_name is not None:
        return await _shape_of_table(caller, data_type)
    try:
        fetcher = fetcher_of(data_type)
        schema = model_of(fetcher, data_type).model_json_schema(by_alias=False, mode="serialization")
    except UnsoundFetch as fact:
        return ValueShape(data_type=data_type, schema=None, unknown_because=fact.message)
    if data_type.fields:
        for name, field in data_type.fields.items():
            _restrict(schema["properties"][name], field)
        # jsonb has its fields by the length of their names.
        schema |= {"properties": dict(sorted(schema["properties"].items())), "required": sorted(schema["required"])}
    return ValueShape(data_type=data_type, schema=_listed(schema, many=fetcher.rows == "many"))


def _restrict(schema: dict[str, Any], field: Any) -> None:
    """Say which values a declared field has: its model checks them and does not tell."""
    if field.get("one_of"):
        given = [*field["one_of"], *([None] if "anyOf" in schema else [])]
        schema.clear()
        schema["enum"] = given


async def _shape_of_table(caller: "Caller | Connection", data_type: DataType) -> ValueShape:
    schema_name, _, table = str(data_type.table_name).partition(".")
    found = await FetchStore(caller).table_columns(schema_name, table, data_type.key_column)
    if found is None:
        return ValueShape(data_type=data_type, schema=None, unknown_because=f"there is no table {data_type.table_name}")
    schema = {
        "type": "object",
        "properties": {column.name: _column(column) for column in found.columns},
        "required": [column.name for column in found.columns],
    }
    return ValueShape(data_type=data_type, schema=_listed(schema, many=not found.one_row))


def _column(column: TableColumn) -> dict[str, Any]:
    name, is_list = column.type.removesuffix("[]"), column.type.endswith("[]")
    plain: dict[str, Any] = {"type": "number"} if name in _NUMBERS else _PLAIN.get(name, {"type": "string"})
    if column.composite:
        plain = {}
    found = {"type": "array", "items": _or_null(plain)} if is_list else plain
    return found if column.not_null else _or_null(found)


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]} if schema else schema


def _listed(schema: dict[str, Any], *, many: bool) -> dict[str, Any]:
    if not many:
        return schema
    definitions = schema.pop("$defs", {})
    return {"type": "array", "items": schema, "$defs": definitions}
