"""What a database already has, what this program would still do to it, and what somebody else did to it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from livewell.kernel.connection import Connection
from livewell.kernel.errors import DatabaseNewer, DatabaseTooOld, MigrationEdited, MigrationMissing
from livewell.kernel.migration_files import Migration, ObjectFile, ObjectKind, SqlFiles, checksum_of
from livewell.kernel.queries import QUERIES

WORDING = ("server", "version")

ObjectKey: TypeAlias = tuple[str, str]


class Action(StrEnum):
    """What a step does."""

    APPLY = "apply"
    REPLACE = "replace"
    REPAIR = "repair"
    DROP = "drop"
    RECORD = "record"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing to do to the database."""

    action: Action
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.action} {self.kind} {self.name}"


class Change(StrEnum):
    """How an object differs from what was recorded after the last migrate."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, kw_only=True)
class Drift:
    """An object somebody changed without the migrator."""

    change: Change
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name} was {self.change}"


@dataclass(frozen=True, kw_only=True)
class Applied:
    """A migration in the database's history."""

    name: str
    checksum: str


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """An object as the last step left it, and the file it came from."""

    file_checksum: str | None
    fingerprint: str


@dataclass(frozen=True, kw_only=True)
class State:
    """History, the objects as recorded, and the fingerprints of the objects as they are."""

    history: Mapping[int, Applied]
    recorded: Mapping[ObjectKey, Recorded]
    live: Mapping[ObjectKey, str]

    @property
    def worded_differently(self) -> bool:
        """Another major version of the server words its catalog differently, so fingerprints cannot be compared."""
        return WORDING in self.recorded and self.recorded[WORDING].fingerprint != self.live[WORDING]

    def drift(self) -> tuple[Drift, ...]:
        if not self.history or self.worded_differently:
            return ()
        keys = sorted(self.recorded.keys() | self.live.keys())
        found = ((key, self._change(key)) for key in keys)
        return tuple(Drift(change=change, kind=key[0], name=key[1]) for key, change in found if change is not None)

    def _change(self, key: ObjectKey) -> Change | None:
        if key not in self.live:
            return Change.REMOVED
        if key not in self.recorded:
            return Change.ADDED
        return None if self.recorded[key].fingerprint == self.live[key] else Change.CHANGED

    def refuse_foreign_history(self, files: SqlFiles) -> None:
        """Stop before touching a database whose history is not the beginning of this program's."""
        known = {migration.number: migration for migration in files.migrations}
        for number, applied in sorted(self.history.items()):
            if number not in known:
                _refuse_unknown(number, applied, newest=max(known, default=0))
            elif known[number].checksum != applied.checksum:
                raise MigrationEdited(
                    f"{known[number].file_name} was edited after it was applied to this database",
                    fix="restore the file and put the change into a new migration",
                )

    def pending_migrations(self, files: SqlFiles) -> list[Migration]:
        return [migration for migration in files.migrations if migration.number not in self.history]

    def pending_objects(self, files: SqlFiles) -> list[tuple[ObjectFile, Action]]:
        drifted = {(drift.kind, drift.name) for drift in self.drift()}
        return [(item, action) for item in files.objects if (action := self._action(item, drifted)) is not None]

    def _action(self, item: ObjectFile, drifted: set[ObjectKey]) -> Action | None:
        recorded = self.recorded.get((item.kind, item.name))
        if recorded is None or recorded.file_checksum is None:
            return Action.APPLY
        if recorded.file_checksum != item.checksum:
            return Action.REPLACE
        return Action.REPAIR if not drifted.isdisjoint(keys_of(item.kind, item.name)) else None

    def orphans(self, files: SqlFiles) -> list[ObjectKey]:
        """Objects whose file is gone, what stands on others first."""
        wanted = {(item.kind.value, item.name) for item in files.objects}
        gone = [key for key, known in self.recorded.items() if known.file_checksum is not None and key not in wanted]
        order = [ObjectKind.TRIGGER, ObjectKind.VIEW, ObjectKind.FUNCTION]
        return sorted(gone, key=lambda key: (order.index(ObjectKind(key[0])), key[1]))

    def pending_steps(self, files: SqlFiles) -> tuple[Step, ...]:
        migrations = [
            Step(action=Action.APPLY, kind="migration", name=m.file_name) for m in self.pending_migrations(files)
        ]
        return (*migrations, *self.pending_object_steps(files))

    def pending_object_steps(self, files: SqlFiles) -> tuple[Step, ...]:
        objects = [Step(action=action, kind=item.kind, name=item.name) for item, action in self.pending_objects(files)]
        drops = [Step(action=Action.DROP, kind=kind, name=name) for kind, name in self.orphans(files)]
        record = [Step(action=Action.RECORD, kind="schema", name="as this server words it")]
        return (*objects, *drops, *(record if self.worded_differently else ()))


def keys_of(kind: str, name: str) -> set[ObjectKey]:
    """What belongs to an object file: the object and the grants on it."""
    return {(kind, name), ("grant", f"{kind} {name}")}


def keys_mentioned(text: str, state: State) -> set[ObjectKey]:
    """What a text names, and what is part of it: a table with its columns, an index."""
    words = set(re.findall(r"\w+", text))
    return {key for key in state.live.keys() | state.recorded.keys() if key[1].partition(".")[0] in words}


def _refuse_unknown(number: int, applied: Applied, *, newest: int) -> None:
    name = f"{number:04}_{applied.name}"
    if number > newest:
        raise DatabaseNewer(
            f"the database has migration {name}, which this program does not know",
            fix="use the program version that migrated it, or a newer one",
        )
    raise MigrationMissing(
        f"migration {name} was applied to this database, but its file is gone",
        fix="restore the file, or use the program version that has it",
    )


async def read_state(connection: Connection) -> State:
    """Read history and catalog inside the caller's transaction, as the owner once there is one."""
    history: dict[int, Applied] = {}
    recorded: dict[ObjectKey, Recorded] = {}
    if await connection.fetchval(QUERIES["has_history"]):
        await connection.execute(QUERIES["act_as_owner"])
        for row in await connection.fetch(QUERIES["list_migrations"]):
            history[row["number"]] = Applied(name=row["name"], checksum=row["checksum"])
        for row in await connection.fetch(QUERIES["list_recorded_objects"]):
            recorded[row["kind"], row["name"]] = Recorded(
                file_checksum=row["file_checksum"], fingerprint=row["fingerprint"]
            )
    elif await connection.fetchval(QUERIES["has_former_history"]):
        raise DatabaseTooOld(
            "the database was made before the first version of Livewell, and cannot be migrated",
            fix="make it anew: drop schema livewell cascade, then livewell migrate; what was fetched is fetched again",
        )
    return State(history=history, recorded=recorded, live=await live_fingerprints(connection))


async def live_fingerprints(connection: Connection) -> dict[ObjectKey, str]:
    rows = await connection.fetch(QUERIES["list_live_objects"])
    live = {(row["kind"], row["name"]): checksum_of(f"{row['definition']}\n{row['owner']}") for row in rows}
    # Fingerprints taken by another question cannot be compared either.
    live[WORDING] = checksum_of(live[WORDING] + QUERIES["list_live_objects"])
    return live


async def record_changes(connection: Connection, before: State, *, vouched: set[ObjectKey]) -> None:
    """Remember what this step changed and what it vouches for; what somebody else changed stays drift."""
    live = await live_fingerprints(connection)
    if before.worded_differently or not before.recorded:
        changed = live.keys() | before.recorded.keys()
    else:
        changed = {key for key in live.keys() | before.live.keys() if live.get(key) != before.live.get(key)} | vouched
    kept = sorted(key for key in changed if key in live)
    gone = sorted(key for key in changed if key not in live)
    await connection.execute(QUERIES["record_objects"], *_columns(kept), [live[key] for key in kept])
    await connection.execute(QUERIES["forget_objects"], *_columns(gone))


async def record_files(connection: Connection, items: list[ObjectFile]) -> None:
    """Remember from which version of its file each object was made."""
    checksums = [item.checksum for item in items]
    await connection.execute(QUERIES["record_files"], *_columns([item.key for item in items]), checksums)


def _columns(keys: list[ObjectKey]) -> tuple[list[str], list[str]]:
    return [kind for kind, _ in keys], [name for _, name in keys]
