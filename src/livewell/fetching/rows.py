"""Rows of an answer, read by the model of their type: whose they are, what they hold, and from when."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from math import isfinite
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from livewell.fetching.columns import columns_of
from livewell.fetching.errors import UnsoundFetch
from livewell.fetching.models import alias_of, marks_of, source_steps
from livewell.fetching.shapes import follow
from livewell.fetching.types import JsonObject, Refused

_BOUNDS = frozenset(
    {"greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number", "literal_error", "enum"}
    | {"string_too_short", "string_too_long", "string_pattern_mismatch", "epoch_range", "too_short", "too_long"}
    | {"multiple_of"}
)
_SHOWN = 3
_MESSAGE_LIMIT = 500


class RowReader:
    """Reads rows by a model. `key` is the field that says whose a row is; without one, rows are the asked key's."""

    def __init__(self, model: type[BaseModel], *, key: str | None = None, source_time: str | None = None) -> None:
        fields = model.model_fields
        marked = [name for name, field in fields.items() if marks_of(field).source_time]
        if len(marked) > 1:
            raise UnsoundFetch(f"{' and '.join(marked)} are both source_time", fix="one field is")
        self.model = model
        self.source_time = marked[0] if marked else source_time if source_time in fields else None
        # What moves while the data stays as it is.
        self.volatile = tuple(
            name for name, field in fields.items() if marks_of(field).volatile or name == self.source_time
        )
        self.key_steps = None if key is None else source_steps(model, key)
        # Members of nested values come in any order; those of the model always in the same.
        self._is_flat = all(column.type not in {"object", "array", "any"} for column in columns_of(model).values())

    def key_of(self, row: Mapping[str, Any]) -> str | None:
        """Whose a row is, None when it does not say."""
        value = None if self.key_steps is None else follow(self.key_steps, row)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return value if isinstance(value, str) else None

    def read(self, row: Mapping[str, Any] | BaseModel) -> "JsonObject | Refused":
        """The row as its model has it, or why it is refused."""
        try:
            content = row.model_dump(by_alias=True) if isinstance(row, BaseModel) else row
            found = self.model.model_validate_json(to_json(content, inf_nan_mode="constants"))
        except ValidationError as error:
            return self._refused(error)
        except (PydanticSerializationError, UnicodeError, ValueError, TypeError) as error:
            return Refused(reason="schema", message=f"a row that is no JSON: {type(error).__name__}")
        content = found.model_dump()
        if not all(map(_is_storable, content.values())):
            return Refused(reason="encoding", message="a zero character, or a number beyond all numbers")
        return content

    def time_of(self, rows: Iterable[JsonObject]) -> datetime | None:
        """When the source says these rows are from: the latest of them."""
        if self.source_time is None:
            return None
        return max((_moment(row[self.source_time]) for row in rows), default=None)

    def hash_of(self, rows: Sequence[JsonObject]) -> bytes:
        """What the rows say, in any order, without when they are from and what is volatile."""
        return hashlib.sha256("\n".join(sorted(self._told(row) for row in rows)).encode()).digest()

    def _told(self, row: JsonObject) -> str:
        kept = {name: value for name, value in row.items() if name not in self.volatile}
        if self._is_flat:
            return to_json(kept).decode()
        return json.dumps(to_jsonable_python(kept), sort_keys=True, separators=(",", ":"))

    def lacks_time(self, rows: Iterable[JsonObject]) -> bool:
        return self.source_time is not None and any(row[self.source_time] is None for row in rows)

    def _refused(self, error: ValidationError) -> Refused:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        told = "; ".join(f"{'.'.join(map(str, error['loc'])) or 'row'}: {error['msg']}" for error in found[:_SHOWN])
        if len(found) > _SHOWN:
            told += f"; and {len(found) - _SHOWN} more"
        times = {self.source_time, self.source_time and alias_of(self.model, self.source_time)}
        if any(error["type"] == "missing" and error["loc"] and error["loc"][0] in times for error in found):
            reason = "missing_source_time"
        else:
            reason = "bounds" if all(error["type"] in _BOUNDS for error in found) else "schema"
        return Refused(reason=reason, message=told.replace("\0", "")[:_MESSAGE_LIMIT])


def _moment(value: Any) -> datetime:
    match value:
        case datetime():
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        case date():
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
    raise UnsoundFetch(f"a source time is a date or a time, not {type(value).__name__}")


def _is_storable(value: Any) -> bool:
    """Whether PostgreSQL's JSON can hold it."""
    match value:
        case str():
            return "\0" not in value
        case float():
            return isfinite(value)
        case dict():
            return all(_is_storable(part) for pair in value.items() for part in pair)
        case list() | tuple() | set() | frozenset():
            return all(map(_is_storable, value))
    return True
