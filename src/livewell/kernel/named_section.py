"""A section of `livewell.toml` whose tables are applied one after the other, so that a refusal is told of its table."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import TypeAdapter

from livewell.kernel.connection import Connection
from livewell.kernel.database import Caller
from livewell.kernel.declarations import told_at
from livewell.kernel.declared_tables import DeclaredTable
from livewell.kernel.errors import LivewellError
from livewell.kernel.planned_change import PlannedChange
from livewell.kernel.toml_lines import Path


class NamedSection(ABC):
    """`[word.name]`, each a thing of its own; the caller's transaction makes the file whole."""

    word: ClassVar[str]
    thing: ClassVar[str]
    model: ClassVar[type[DeclaredTable]]
    by_name: ClassVar[TypeAdapter[dict[str, Any]]]
    unknown_field: ClassVar[type[LivewellError]]
    invalid_field: ClassVar[type[LivewellError]]

    @abstractmethod
    async def put(
        self, connection: "Connection", declared: Mapping[str, Mapping[str, Any]], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        """Make things as declared, by name and column, or only say what that would change."""

    @abstractmethod
    async def names(self, caller: "Caller | Connection") -> Sequence[str]:
        """What there is."""

    @abstractmethod
    def summary(self, change: PlannedChange) -> str:
        """What is said of a thing that is added, beside its name."""

    async def apply(
        self, connection: "Connection", declared: Mapping[str, Any], *, plan_only: bool, actor: str
    ) -> list[PlannedChange]:
        changes: list[PlannedChange] = []
        for name, table in declared.items():
            try:
                changes += await self.put(connection, {name: table.written()}, plan_only=plan_only, actor=actor)
            except LivewellError as fact:
                raise type(fact)(fact.message, fix=fact.fix, detail=name) from fact
        return changes

    async def undeclared(self, caller: "Caller | Connection", declared: Mapping[str, Any]) -> list[tuple[str, str]]:
        return [(self.thing, name) for name in await self.names(caller) if name not in declared]

    def told_of(self, fact: LivewellError) -> list[tuple[Path, LivewellError]]:
        return told_at((self.word, fact.detail) if fact.detail else None, fact)
