"""Making functions, views and triggers what their files say, whatever stands there now.

A changed signature, return type or column list cannot be replaced in place, and neither can what belongs to another
role than its file says: the old form is dropped in the same transaction, with the views and triggers that stand on it,
and these are made again from their files.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import asyncpg

from livewell.kernel.connection import Connection
from livewell.kernel.errors import MigrationFailed
from livewell.kernel.migration_files import OWNER, ObjectFile, ObjectKind
from livewell.kernel.migration_state import ObjectKey
from livewell.kernel.queries import QUERIES

_NOT_IN_PLACE = (
    asyncpg.DuplicateFunctionError,
    asyncpg.DuplicateObjectError,
    asyncpg.DuplicateTableError,
    asyncpg.InvalidFunctionDefinitionError,
    asyncpg.InvalidTableDefinitionError,
    asyncpg.WrongObjectTypeError,
)


class ObjectReplacer:
    """Applies object files inside the caller's transaction."""

    def __init__(self, connection: Connection, files: Iterable[ObjectFile]) -> None:
        self._connection = connection
        self._files = {(item.kind.value, item.name): item for item in files}
        self.touched: set[ObjectKey] = set()

    async def apply(self, item: ObjectFile) -> None:
        """Leave exactly one object of this name, made from this file, granted to the roles it names."""
        self.touched.add((item.kind, item.name))
        old = await self._find(item.kind, item.name)
        owners = await self._owners(item)
        if len(old) > 1 or owners - {item.owner} or not await self._made_in_place(item):
            await self._make_anew(item, old)
        else:
            new = await self._find(item.kind, item.name)
            await self._drop_forms({oid: drop for oid, drop in old.items() if new.keys() - old.keys()})
        await self._grant(item)

    async def drop(self, keys: list[ObjectKey]) -> None:
        """Drop objects whose files are gone, in whatever order their dependencies allow."""
        for kind, name in keys:
            self.touched.add((kind, name))
            found = await self._find(kind, name)
            for above in await self._connection.fetch(QUERIES["list_dependents"], list(found)):
                if (above["kind"], above["name"]) in keys:
                    await self._run_all((await self._find(above["kind"], above["name"])).values())
            await self._run_all(found.values())

    async def _made_in_place(self, item: ObjectFile) -> bool:
        await self._connection.execute("savepoint in_place")
        try:
            await self._make(item)
        except _NOT_IN_PLACE:
            await self._connection.execute("rollback to savepoint in_place")
            return False
        await self._connection.execute("release savepoint in_place")
        return True

    async def _make_anew(self, item: ObjectFile, old: dict[int, str]) -> None:
        dependents = await self._dependents(old)
        for kind, name in dependents:
            await self._run_all((await self._find(kind, name)).values())
        await self._run_all(old.values())
        await self._make(item)
        for key in reversed(dependents):
            await self.apply(self._files[key])

    async def _make(self, item: ObjectFile) -> None:
        async with self._acting_as(item.owner):
            await self._connection.execute(item.text)

    @asynccontextmanager
    async def _acting_as(self, role: str) -> AsyncIterator[None]:
        """What is made belongs to the role. A failure undoes all of it, the role too."""
        if role == OWNER:
            yield
            return
        await self._connection.execute(await self._connection.fetchval(QUERIES["begin_acting_as"], role))
        yield
        await self._connection.execute(await self._connection.fetchval(QUERIES["end_acting_as"], role))

    async def _drop_forms(self, old: dict[int, str]) -> None:
        dependents = await self._dependents(old)
        for kind, name in dependents:
            await self._run_all((await self._find(kind, name)).values())
        await self._run_all(old.values())
        for key in reversed(dependents):
            await self.apply(self._files[key])

    async def _dependents(self, forms: dict[int, str]) -> list[ObjectKey]:
        rows = await self._connection.fetch(QUERIES["list_dependents"], list(forms))
        keys = [(row["kind"], row["name"]) for row in rows]
        foreign = [f"{kind} {name}" for kind, name in keys if (kind, name) not in self._files]
        if foreign:
            raise MigrationFailed(f"{', '.join(foreign)}, which no file makes, stands in the way", fix="drop it first")
        return keys

    async def _grant(self, item: ObjectFile) -> None:
        if item.kind is ObjectKind.TRIGGER:
            return
        rows = await self._connection.fetch(QUERIES["list_grants_to_make"], item.kind, item.name, list(item.roles))
        async with self._acting_as(item.owner):
            await self._run_all(row["statement"] for row in rows)

    async def _owners(self, item: ObjectFile) -> set[str]:
        rows = await self._connection.fetch(QUERIES["find_object"], item.kind, item.name)
        return {row["owner"] for row in rows}

    async def _find(self, kind: str, name: str) -> dict[int, str]:
        rows = await self._connection.fetch(QUERIES["find_object"], kind, name)
        return {row["oid"]: row["drop_it"] for row in rows}

    async def _run_all(self, statements: Iterable[str]) -> None:
        for statement in statements:
            await self._connection.execute(statement)
