"""`[kind.NAME]` of `livewell.toml`: a kind of jobs as a person declares it, for handlers that are elsewhere.

A handler declares its own kind; a file declares one whose handler another program brings, or tunes one.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from livewell.jobs.errors import InvalidKind, UnknownKindField
from livewell.jobs.store import JobStore
from livewell.kernel import (
    Caller,
    Column,
    Connection,
    DeclaredTable,
    NamedSection,
    PlannedChange,
    Positive,
    PositiveDuration,
)


class KindTable(DeclaredTable):
    """`[kind.NAME]`."""

    group: Annotated[str | None, Field(pattern=r"^[a-z][a-z0-9_.-]{0,99}$"), Column("queue_group")] = None
    description: str | None = None
    retries: Annotated[int | None, Field(ge=0, le=1000)] = None
    backoff_first: PositiveDuration | None = None
    backoff_max: PositiveDuration | None = None
    lease: PositiveDuration | None = None
    time_limit: PositiveDuration | None = None
    concurrency: Positive | None = None
    priority: Annotated[int | None, Field(ge=-(2**31), lt=2**31), Column("default_priority")] = None


class KindSection(NamedSection):
    """Kinds of jobs as `livewell apply` takes them."""

    word, thing = "kind", "kind"
    model = KindTable
    by_name = TypeAdapter(dict[str, KindTable])
    unknown_field = UnknownKindField
    invalid_field = InvalidKind

    async def put(
        self, connection: "Connection", declared: Mapping[str, Mapping[str, Any]], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        return await JobStore(connection).apply_kinds(declared, plan_only=plan_only, actor=actor)

    async def names(self, caller: "Caller | Connection") -> Sequence[str]:
        return [kind.kind for kind in await JobStore(caller).list_kinds()]

    def summary(self, change: PlannedChange) -> str:
        return f"group {change.new['queue_group']}"
