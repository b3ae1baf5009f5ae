"""Every field of `livewell.toml` is in its reference, with its default, and the reference names no other."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from livewell.budgets import (
    ENDPOINT_COLUMNS,
    PROVIDER_COLUMNS,
    EndpointDeclaration,
    KeyDeclaration,
    ProviderDeclaration,
)
from livewell.kernel import Database, parse_duration, parse_size
from livewell.presence import SourceDeclaration
from livewell.registry import TYPE_COLUMNS, TypeDeclaration
from livewell.schedule import TaskDeclaration
from tests.house.project import REFERENCE

_SECTION = re.compile(r"^## `\[([^`]+)\]`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| `([^`]+)` \| *([^|]*?) *\|", re.MULTILINE)
_MODELS: dict[str, type[BaseModel]] = {
    "provider.NAME": ProviderDeclaration,
    "provider.NAME.endpoint.NAME": EndpointDeclaration,
    "provider.NAME.key.NAME": KeyDeclaration,
    "type.NAME": TypeDeclaration,
    "presence.NAME": SourceDeclaration,
    "task.NAME": TaskDeclaration,
}


def _documented() -> dict[str, dict[str, str]]:
    page = (REFERENCE / "livewell-toml.md").read_text(encoding="utf-8")
    return {table: dict(_ROW.findall(section)) for table, section in _SECTION.findall(page)}


def _fields(model: type[BaseModel], prefix: str = "") -> set[str]:
    fields: set[str] = set()
    for name, field in model.model_fields.items():
        inner: Any = field.annotation
        nested = isinstance(inner, type) and issubclass(inner, BaseModel)
        fields |= _fields(inner, f"{prefix}{name}.") if nested else {f"{prefix}{name}"}
    return fields


@pytest.mark.parametrize("table", _MODELS)
def test_every_field_of_the_file_is_in_the_reference(table: str) -> None:
    """A table has one row per field; an account's limits are said once, under endpoints."""
    fields = _fields(_MODELS[table])
    if table == "provider.NAME":
        fields -= _fields(EndpointDeclaration) - {"state", "description"}
    assert set(_documented()[table]) == fields


async def test_the_defaults_of_the_reference_are_true(owner: Database) -> None:
    """What the page says a field is when nobody names it, it is."""
    documented = _documented()
    for function, table, columns in (
        ("budget_defaults('provider')", "provider.NAME", PROVIDER_COLUMNS),
        ("budget_defaults('endpoint')", "provider.NAME.endpoint.NAME", ENDPOINT_COLUMNS),
        ("type_defaults()", "type.NAME", TYPE_COLUMNS),
    ):
        defaults = json.loads(await owner.fetchval(f"select livewell_private.{function}::text"))
        for field, column in columns.items():
            said = documented[table][field].strip("`")
            assert await _same(owner, said, defaults[column]), f"{table}: {field}"


async def _same(owner: Database, said: str, default: Any) -> bool:
    if default is None:
        return said in {"", '"unlimited"'}
    value = json.loads(said)
    if isinstance(default, str) and re.match(r"\d", default):
        length: timedelta = await owner.fetchval("select $1::text::interval", default)
        return parse_duration(value) == length
    return bool(
        value == default or (isinstance(value, str) and isinstance(default, int) and parse_size(value) == default)
    )
