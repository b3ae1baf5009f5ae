"""A presence source as a user writes it under `[presence.NAME]` of `livewell.toml`."""

from collections.abc import Mapping
from datetime import timedelta
from itertools import groupby
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter

from livewell.kernel import Caller, Connection, LivewellError, PlannedChange, parse_duration, told_at
from livewell.presence.errors import InvalidSource, UnknownSourceField
from livewell.presence.store import PresenceStore


def _read(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str):
        return parse_duration(value)
    raise ValueError("a duration is written as text, as '10 seconds'")


class SourceDeclaration(BaseModel):
    """Where to read who looks at what; what is None keeps the database's default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reads: str
    every: Annotated[timedelta, BeforeValidator(_read)] | None = None
    enabled: bool | None = None

    def fields(self) -> dict[str, Any]:
        """The fields that say something, as `apply_presence_sources` takes them."""
        return self.model_dump(mode="json", exclude_none=True)


class PresenceSection:
    """Presence sources as `livewell apply` takes them."""

    word = "presence"
    model = SourceDeclaration
    by_name: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, SourceDeclaration])
    unknown_field = UnknownSourceField
    invalid_field = InvalidSource

    async def apply(
        self, connection: "Connection", declared: Mapping[str, Any], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        """One source after the other, so that a refusal is told of its source."""
        changes: list[PlannedChange] = []
        for name, source in declared.items():
            wanted = {name: source.fields()}
            try:
                changes += await PresenceStore(connection).apply_sources(wanted, plan_only=plan_only, actor=actor)
            except LivewellError as fact:
                raise type(fact)(fact.message, fix=fact.fix, detail=name) from fact
        return [one for _, run in groupby(changes, key=_added_source) for one in _as_one(list(run))]

    async def undeclared(self, caller: "Caller | Connection", declared: Mapping[str, Any]) -> list[tuple[str, str]]:
        sources = await PresenceStore(caller).list_sources()
        return [("presence source", source.name) for source in sources if source.name not in declared]

    def summary(self, change: PlannedChange) -> str:
        return f"reads {change.new['reads']}"

    def told_of(self, fact: LivewellError) -> list[tuple[tuple[str | int, ...], LivewellError]]:
        return told_at(("presence", fact.detail) if fact.detail else None, fact)


def _added_source(change: PlannedChange) -> tuple[str, str]:
    return change.name, change.change


def _as_one(changes: list[PlannedChange]) -> list[PlannedChange]:
    """A source that is added is one change with all its fields; a changed one is told field by field."""
    first = changes[0]
    if first.change != "add":
        return changes
    new = {change.field: change.new for change in changes}
    return [PlannedChange(thing="presence source", name=first.name, change="add", field=None, old=None, new=new)]
