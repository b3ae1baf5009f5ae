"""A presence source as a user writes it under `[presence.NAME]` of `livewell.toml`."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from livewell.kernel import Caller, Connection, DeclaredTable, Duration, NamedSection, PlannedChange
from livewell.presence.errors import InvalidSource, UnknownSourceField
from livewell.presence.store import PresenceStore


class SourceDeclaration(DeclaredTable):
    """`[presence.NAME]`: where to read who looks at what."""

    reads: str
    every: Duration | None = None
    enabled: bool | None = None


class PresenceSection(NamedSection):
    """Presence sources as `livewell apply` takes them."""

    word, thing = "presence", "presence source"
    model = SourceDeclaration
    by_name = TypeAdapter(dict[str, SourceDeclaration])
    unknown_field = UnknownSourceField
    invalid_field = InvalidSource

    async def put(
        self, connection: "Connection", declared: Mapping[str, Mapping[str, Any]], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        return await PresenceStore(connection).apply_sources(declared, plan_only=plan_only, actor=actor)

    async def names(self, caller: "Caller | Connection") -> Sequence[str]:
        return [source.name for source in await PresenceStore(caller).list_sources()]

    def summary(self, change: PlannedChange) -> str:
        return f"reads {change.new['reads']}"
