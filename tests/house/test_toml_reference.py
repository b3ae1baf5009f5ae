"""Every field of `livewell.toml` is in its reference, with its default, and the reference names no other."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from livewell.access import IssuerDeclaration
from livewell.budgets import PROVIDER_COLUMNS, EndpointDeclaration, KeyDeclaration, ProviderDeclaration
from livewell.jobs import KindSection
from livewell.kernel import Database, DeclaredTable, parse_duration, parse_size
from livewell.presence import SourceDeclaration
from livewell.registry import TypeDeclaration
from livewell.schedule import TaskDeclaration
from tests.house.project import REFERENCE
from tests.house.surface import commands

_SECTION = re.compile(r"^## `\[([^`]+)\]`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| `([^`]+)` \| *([^|]*?) *\|", re.MULTILINE)
_MODELS: dict[str, type[DeclaredTable]] = {
    "provider.NAME": ProviderDeclaration,
    "provider.NAME.endpoint.NAME": EndpointDeclaration,
    "provider.NAME.key.NAME": KeyDeclaration,
    "type.NAME": TypeDeclaration,
    "kind.NAME": KindSection.model,
    "access.issuer.NAME": IssuerDeclaration,
    "presence.NAME": SourceDeclaration,
    "task.NAME": TaskDeclaration,
}
_TABLES = {
    "provider.NAME": "provider",
    "provider.NAME.endpoint.NAME": "endpoint",
    "provider.NAME.key.NAME": "api_key",
    "type.NAME": "data_type",
    "kind.NAME": "job_kind",
    "access.issuer.NAME": "issuer",
    "presence.NAME": "presence_source",
    "task.NAME": "task",
}
# What follows from other fields, and so is no default of a column.
_FOLLOWS = {("provider.NAME.key.NAME", "scope"), ("task.NAME", "every")}


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


def _defaults(model: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    for name, field in model.model_fields.items():
        default = None if field.is_required() else field.default
        yield from _defaults(type(default)) if isinstance(default, BaseModel) else ((name, default),)


@pytest.mark.parametrize("table", _MODELS)
def test_every_field_of_the_file_is_in_the_reference(table: str) -> None:
    """A table has one row per field; an account's limits are said once, under endpoints."""
    fields = _fields(_MODELS[table])
    if table == "provider.NAME":
        fields -= _fields(EndpointDeclaration) - {"state", "description"}
    assert set(_documented()[table]) == fields


@pytest.mark.parametrize("table", _TABLES)
async def test_the_defaults_of_the_reference_are_true(owner: Database, table: str) -> None:
    """What the page says a field is when nobody names it, is the default of its column."""
    described = (
        f"select (livewell_private.describe_thing('', 'livewell_private.{_TABLES[table]}', '', '{{}}')).defaults::text"
    )
    defaults = json.loads(await owner.fetchval(described))
    documented = _documented()[table]
    columns = PROVIDER_COLUMNS if table == "provider.NAME" else _MODELS[table].columns()
    for field, column in columns.items():
        if (table, field) not in _FOLLOWS:
            assert await _same(owner, documented[field].strip("`"), defaults[column]), f"{table}: {field}"


@pytest.mark.parametrize("table", _TABLES)
def test_only_the_database_knows_a_default(table: str) -> None:
    """A model of the file says what may be written; a default in it would be read by nobody, and be wrong one day."""
    assert [field for field, default in _defaults(_MODELS[table]) if default not in (None, {})] == []


@pytest.mark.parametrize(
    ("command", "table", "names_all"),
    [
        ("livewell providers set", "provider.NAME", False),
        ("livewell endpoints set", "provider.NAME.endpoint.NAME", False),
        ("livewell types set", "type.NAME", False),
        ("livewell kinds set", "kind.NAME", True),
        ("livewell tasks set", "task.NAME", True),
    ],
)
def test_help_names_fields_that_there_are(command: str, table: str, names_all: bool) -> None:  # noqa: FBT001 - a case
    """What the help of a tuning command lists can be set."""
    (argument,) = (argument for argument in commands()[command].params if argument.name == "changes")
    listed = set(
        re.findall(r"[a-z_.]+(?=,| …|;| \(JSON)", argument.help.partition(";")[0].partition(": ")[2] or argument.help)
    )
    columns = _MODELS[table].columns()
    assert listed
    assert listed <= {*columns, *columns.values(), "payload_schema"}
    assert not names_all or listed >= set(columns.values())


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
