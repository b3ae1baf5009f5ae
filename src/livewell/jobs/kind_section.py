"""`[kind.NAME]` of `livewell.toml`: a kind of jobs as a person declares it, for handlers that are elsewhere.

A handler declares its own kind; a file declares one whose handler another program brings, or tunes one.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from livewell.jobs.errors import InvalidKind, UnknownKindField
from livewell.jobs.store import JobStore
from livewell.kernel import HOW_TO_WRITE, Caller, Connection, LivewellError, PlannedChange, parse_duration, told_at

_COLUMNS = {"group": "queue_group", "priority": "default_priority"}


def _length(value: object) -> object:
    if isinstance(value, int | float):
        raise ValueError(f"{value} has no unit; {HOW_TO_WRITE}")  # noqa: TRY004 - pydantic tells a ValueError
    return parse_duration(value) if isinstance(value, str) else value


Length = Annotated[timedelta, Field(gt=timedelta(0)), BeforeValidator(_length)]


class KindTable(BaseModel):
    """`[kind.NAME]`. What is not named stays as it is, or begins with the default."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    group: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.-]{0,99}$")] = "general"
    description: str = ""
    retries: Annotated[int, Field(ge=0, le=1000)] = 3
    backoff_first: Length = timedelta(seconds=10)
    backoff_max: Length = timedelta(hours=1)
    lease: Length | None = None
    time_limit: Length | None = None
    concurrency: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    priority: Annotated[int, Field(ge=-(2**31), lt=2**31)] = 5

    def fields(self) -> dict[str, Any]:
        """The fields that were written, as `livewell.apply_kinds` takes them."""
        written = self.model_dump(mode="json", exclude_unset=True)
        return {_COLUMNS.get(name, name): value for name, value in written.items()}


class KindSection:
    """Kinds of jobs as `livewell apply` takes them."""

    word = "kind"
    model = KindTable
    by_name: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, KindTable])
    unknown_field = UnknownKindField
    invalid_field = InvalidKind

    async def apply(
        self, connection: "Connection", declared: Mapping[str, Any], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        wanted = {name: one.fields() for name, one in declared.items()}
        return await JobStore(connection).apply_kinds(wanted, plan_only=plan_only, actor=actor)

    async def undeclared(self, caller: "Caller | Connection", declared: Mapping[str, Any]) -> list[tuple[str, str]]:
        return [("kind", one.kind) for one in await JobStore(caller).list_kinds() if one.kind not in declared]

    def summary(self, change: PlannedChange) -> str:
        return f"group {change.new.get('queue_group', 'general')}"

    def told_of(self, fact: LivewellError) -> list[tuple[tuple[str | int, ...], LivewellError]]:
        return told_at(("kind", fact.detail) if fact.detail else None, fact)
