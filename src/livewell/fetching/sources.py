"""Sources: a type with its provider, endpoint, fetcher and model, compiled once and used for every fetch of it.

What cannot work is found here, before anything is sent: no base URL, no fetcher, a model that cannot be imported, a
field that makes no sense. `livewell types check` and the worker ask the same question.
"""

import importlib
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from livewell.budgets import Endpoint, Provider
from livewell.fetching.addresses import Destinations, check_address, literal
from livewell.fetching.client import CallLimits
from livewell.fetching.declared import DeclaredFetcher
from livewell.fetching.errors import ForbiddenAddress, UnsoundFetch
from livewell.fetching.fetcher import Fetcher, Fetches
from livewell.fetching.judge import Rules
from livewell.fetching.models import JsonSchemaReader, loosened, model_from
from livewell.fetching.rows import RowReader
from livewell.registry import DataType, FetchDeclaration, FieldDeclaration, Fields

_FIELDS: TypeAdapter[dict[str, FieldDeclaration]] = TypeAdapter(Fields)
KeyPlace = tuple[Literal["query", "header", "bearer"], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Everything a fetch of a type needs to know, and nothing that is read from a database on the way."""

    data_type: str
    to: Destinations
    limits: CallLimits
    expected_bytes: int
    keys_per_request: int
    fetcher: Fetches
    rules: Rules
    key_place: KeyPlace | None = None


def source_of(
    data_type: DataType, provider: Provider, endpoint: Endpoint, *, fetcher: type[Fetcher[Any]] | None = None
) -> Source:
    """The source of a type; a fetcher of the program's own is preferred to a declared one. Raises `UnsoundFetch`."""
    if provider.base_url is None:
        raise UnsoundFetch(
            f"provider {provider.name} has no base_url", fix=f'write [provider.{provider.name}] base_url = "https://…"'
        )
    used = _made(fetcher) if fetcher is not None else fetcher_of(data_type)
    reader = _reader_of(used, data_type)
    if data_type.keys_per_request > 1 and reader.key_steps is None:
        raise UnsoundFetch(
            f"type {data_type.name} takes several keys per request, and nothing says whose a row is",
            fix='write fetch.key = "symbol", or key = "symbol" in the fetcher',
        )
    if data_type.source_rule is not None and reader.source_time is None:
        raise UnsoundFetch(
            f"type {data_type.name} has a rule on its source time, and no field is one",
            fix='write fields.NAME = { type = "datetime", source_time = true }',
        )
    return Source(
        data_type=data_type.name,
        to=_destinations(provider),
        limits=CallLimits(seconds=endpoint.call_timeout.total_seconds(), max_bytes=endpoint.max_bytes),
        expected_bytes=_expected(data_type, endpoint),
        keys_per_request=data_type.keys_per_request,
        fetcher=used,
        rules=Rules(reader=reader, rows=used.rows, absent=used.absent),
        key_place=key_place(provider.key_in),
    )


def rules_of(data_type: DataType, *, fetcher: type[Fetcher[Any]] | None = None) -> Rules:
    """How rows of a type are judged, also of one that is never fetched: then its fields or model are enough."""
    if fetcher is not None or is_fetched(data_type, {}):
        used = _made(fetcher) if fetcher is not None else fetcher_of(data_type)
        reader = _reader_of(used, data_type)
        rows: Literal["one", "many"] = used.rows
    else:
        reader, rows = RowReader(_declared_model(data_type), source_time=data_type.source_time_column), "one"
    # Where nothing says whose a row is, the column that has the key does.
    if reader.key_steps is None and data_type.key_column in reader.model.model_fields:
        reader = RowReader(reader.model, key=data_type.key_column, source_time=data_type.source_time_column)
    return Rules(reader=reader, rows=rows)


def is_fetched(data_type: DataType, fetchers: Mapping[str, type[Fetcher[Any]]]) -> bool:
    """Whether anything says how a type is fetched: a declared call, a class by its path, or the program's own."""
    by_path = data_type.model is not None and ":" in data_type.model
    return data_type.fetch_call is not None or by_path or data_type.name in fetchers


def fetcher_of(data_type: DataType) -> Fetches:
    """The fetcher a type declares: a class by its path, or a call with fields or a model."""
    found = _imported(data_type.model) if data_type.model and ":" in data_type.model else None
    if found is not None and issubclass(found, Fetcher):
        return _made(found)
    if data_type.fetch_call is None:
        raise UnsoundFetch(
            f"nothing says how type {data_type.name} is fetched",
            fix='write fetch = { path = "/quote/{key}" }, or a Fetcher with @app.type',
        )
    try:
        declared = FetchDeclaration.model_validate(data_type.fetch_call)
    except ValidationError as error:
        raise UnsoundFetch(f"fetch of type {data_type.name}: {_first(error)}") from error
    return DeclaredFetcher(declared, found or _declared_model(data_type))


def _reader_of(used: Fetches, data_type: DataType) -> RowReader:
    return RowReader(model_of(used, data_type), key=used.key, source_time=data_type.source_time_column)


def _made(fetcher: type[Fetcher[Any]]) -> Fetches:
    try:
        return fetcher()
    except Exception as error:
        raise UnsoundFetch(f"{fetcher.__name__} cannot be made: {type(error).__name__}: {error}") from error


def key_place(said: str | None) -> KeyPlace | None:
    """Where a provider wants its key: `query:apikey`, `header:X-Api-Key` or `bearer`."""
    match (said or "").partition(":"):
        case "", "", "":
            return None
        case "bearer", "", "":
            return "bearer", "Authorization"
        case ("query" | "header") as place, ":", name if re.fullmatch(r"[A-Za-z0-9._-]{1,100}", name):
            return place, name
    raise UnsoundFetch("key_in is none", fix='write "query:NAME", "header:NAME" or "bearer"')


def _destinations(provider: Provider) -> Destinations:
    try:
        to = Destinations(provider.base_url or "", provider.hosts, allow_private=provider.allow_private)
        if (address := literal(to.origin.host)) is not None:
            check_address(address, allow_private=provider.allow_private)
    except ForbiddenAddress as fact:
        raise UnsoundFetch(f"provider {provider.name}: {fact.message}", fix=fact.fix) from fact
    return to


def _expected(data_type: DataType, endpoint: Endpoint) -> int:
    one = data_type.expected_bytes or endpoint.expected_bytes
    return min(one * 2, endpoint.max_bytes)


def model_of(used: Fetches, data_type: DataType) -> type[BaseModel]:
    """The model of a fetcher's rows, as strict as the type says. Raises `UnsoundFetch`."""
    model = getattr(used, "model", None)
    if not isinstance(model, type) or not issubclass(model, BaseModel):
        raise UnsoundFetch(f"{type(used).__name__} has no model", fix="class X(Fetcher[YourModel])")
    if data_type.extra == "ignore":
        return loosened(model)
    if model.model_config.get("extra") != "forbid" and not isinstance(used, DeclaredFetcher):
        raise UnsoundFetch(f"{model.__name__} takes fields it does not know", fix="derive it from livewell.Model")
    return model


def _declared_model(data_type: DataType) -> type[BaseModel]:
    if data_type.model is not None:
        return model_from(data_type.name, _schema_fields(Path(data_type.model)), extra=data_type.extra)
    try:
        fields = _FIELDS.validate_python(data_type.fields or {})
    except ValidationError as error:
        raise UnsoundFetch(f"fields of type {data_type.name}: {_first(error)}") from error
    return model_from(data_type.name, fields, extra=data_type.extra)


def _schema_fields(place: Path) -> Mapping[str, FieldDeclaration]:
    try:
        schema = from_json(place.read_bytes())
    except OSError as error:
        raise UnsoundFetch(f"model {place} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UnsoundFetch(f"model {place} is no JSON: {error}") from error
    if not isinstance(schema, Mapping):
        raise UnsoundFetch(f"model {place} is no JSON Schema")
    return JsonSchemaReader().fields(schema)


def _imported(path: str) -> type[Any]:
    module, _, name = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise UnsoundFetch(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    if not inspect.isclass(found) or not issubclass(found, BaseModel | Fetcher):
        raise UnsoundFetch(f"{path} is neither a model nor a fetcher")
    return found


def _first(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, found['loc']))} {found['msg']}".strip()
