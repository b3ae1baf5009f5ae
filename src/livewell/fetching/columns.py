"""The columns a model brings to a table."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from livewell.fetching.types import Column

_FORMATS = {"date-time": "timestamp", "date": "date"}
_TYPES = {"string", "integer", "number", "boolean", "object", "array"}


def columns_of(model: type[BaseModel]) -> dict[str, Column]:
    """What a model brings to a table, column by column."""
    schema = model.model_json_schema(by_alias=False, mode="serialization")
    return {name: _column(field, schema.get("$defs", {})) for name, field in schema.get("properties", {}).items()}


def _column(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Column:
    choices = schema.get("anyOf", [schema])
    kinds = [_followed(choice, definitions) for choice in choices if choice.get("type") != "null"]
    nullable = len(kinds) < len(choices)
    if len(kinds) != 1:
        return Column(type="any", nullable=nullable)
    said = _FORMATS.get(kinds[0].get("format", ""), kinds[0].get("type", "any"))
    found: Any = said if said in _TYPES or said in _FORMATS.values() else "any"
    return Column(type=found, nullable=nullable)


def _followed(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = definitions.get(schema["$ref"].rpartition("/")[2], {}) if "$ref" in schema else schema
    return found
