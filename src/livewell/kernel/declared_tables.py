"""How the tables of `livewell.toml` are written: their values, and which column each field is.

A table says what may be written, never what holds when nothing is: that is the default of the column, in the database.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from livewell.kernel.durations import HOW_TO_WRITE, parse_duration
from livewell.kernel.sizes import parse_size


@dataclass(frozen=True)
class Column:
    """The column of a field that is called otherwise; None: the field is no column."""

    name: str | None


class DeclaredTable(BaseModel):
    """A table of the file: what it does not name stays as it is, what it has no field for is refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @classmethod
    def columns(cls) -> dict[str, str]:
        """The column of each field; `requests.per_minute` is `requests_per_minute`, unless it says another."""
        return dict(_columns(cls))

    def written(self) -> dict[str, Any]:
        """What was written, by column."""
        written = dict(_written(self))
        return {column: written[field] for field, column in self.columns().items() if field in written}


class FieldGroup(DeclaredTable):
    """Fields that share their first word: `requests.per_minute`, `requests.per_hour`."""


def written_as(pattern: str, words: str) -> AfterValidator:
    """Text of a pattern, which is told in words."""

    def check(text: str) -> str:
        if re.fullmatch(pattern, text) is None:
            raise ValueError(f"should be {words}")
        return text

    return AfterValidator(check)


def _duration(value: object) -> object:
    if isinstance(value, int | float):
        raise ValueError(f"{value} has no unit; {HOW_TO_WRITE}")  # noqa: TRY004 - pydantic tells a ValueError
    return parse_duration(value) if isinstance(value, str) else value


def _size(value: object) -> object:
    return parse_size(value) if isinstance(value, str) else value


def _limit(value: object) -> object:
    return None if isinstance(value, str) and value in {"unlimited", "off"} else value


def _size_limit(value: object) -> object:
    return None if value == "unlimited" else _size(value)


Positive = Annotated[int, Field(gt=0, lt=2**31)]
Duration = Annotated[timedelta, BeforeValidator(_duration)]
DurationFromZero = Annotated[timedelta, Field(ge=timedelta(0)), BeforeValidator(_duration)]
PositiveDuration = Annotated[timedelta, Field(gt=timedelta(0)), BeforeValidator(_duration)]
Size = Annotated[int, Field(gt=0, lt=2**63), BeforeValidator(_size)]
# None is "unlimited".
Limit = Annotated[int | None, Field(gt=0, lt=2**31), BeforeValidator(_limit)]
SizeLimit = Annotated[int | None, Field(gt=0, lt=2**63), BeforeValidator(_size_limit)]


def _columns(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, FieldGroup):
            yield from _columns(inner, f"{prefix}{name}.")
            continue
        column: str | None = f"{prefix}{name}".replace(".", "_")
        for said in field.metadata:
            if isinstance(said, Column):
                column = said.name
        if column is not None:
            yield f"{prefix}{name}", column


def _written(table: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name in table.model_fields_set:
        value = getattr(table, name)
        if isinstance(value, FieldGroup):
            yield from _written(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
