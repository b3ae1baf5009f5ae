"""What a setting is, and how its values are written."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeAlias

from pydantic_core import from_json, to_json

SettingValue: TypeAlias = bool | int | float | timedelta | str | list[Any] | dict[str, Any] | None


class SettingType(StrEnum):
    BOOLEAN = "boolean"
    INTEGER = "integer"
    NUMBER = "number"
    DURATION = "duration"
    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, kw_only=True)
class StoredValue:
    """One setting as processes read it; a sensitive value is not shown by `repr`."""

    name: str
    type: SettingType
    text: str
    duration: timedelta | None
    sensitive: bool

    def __repr__(self) -> str:
        return f"StoredValue(name={self.name!r}, type={self.type!s}, sensitive={self.sensitive})"

    @property
    def value(self) -> SettingValue:
        match self.type:
            case SettingType.BOOLEAN:
                return self.text == "true"
            case SettingType.INTEGER:
                return int(self.text)
            case SettingType.NUMBER:
                return float(self.text)
            case SettingType.DURATION:
                return self.duration
            case SettingType.TEXT:
                return self.text
            case SettingType.JSON:
                return from_json(self.text)  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class SettingRow:
    """One setting for people to read: what it is, may be and means; sensitive values masked."""

    name: str
    type: SettingType
    value: str
    default_value: str
    is_default: bool
    minimum: str | None
    maximum: str | None
    less_than: str | None
    choices: list[str] | None
    description: str
    sensitive: bool
    updated_at: datetime
    updated_by: str


def written(value: SettingValue) -> str:
    """A value as the database takes it; text is passed as it is, whatever the setting's type."""
    match value:
        case str():
            return value
        case timedelta():
            return f"{value // timedelta(microseconds=1)} microseconds"
        case _:
            return to_json(value).decode()
