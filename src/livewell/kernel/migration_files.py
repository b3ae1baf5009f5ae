"""The SQL that ships with the rooms: migrations by number, and one file per function, view and trigger.

A folder named `sql` may hold `migrations/NNNN_room_what.sql` (applied once, in number order over all rooms, never
edited) and `functions/`, `views/` and `triggers/` (one object per file, named like it, applied again whenever the file
changes). A function or view says in its header whom it is for: `-- for: service, user`, `owner` for those who are
members of it, or `internal` for other functions alone. What is internal is made in the schema `livewell_private`, as
    all
tables are, everything else in `livewell`. A function that touches what is not Livewell's says
`-- runs as: livewell_reader` or `livewell_writer`: it belongs to that role, which has nothing of Livewell's, and the
owner alone may call it. Functions are made after the migrations, so a migration that needs one for a default or a check
makes it.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from livewell.kernel.errors import LivewellError
from livewell.kernel.sql_statements import split_statements

NO_TRANSACTION = "-- livewell: no transaction"
SCHEMA = "livewell"
PRIVATE_SCHEMA = "livewell_private"
OWNER = "livewell_owner"
FOREIGN_ROLES = ("livewell_reader", "livewell_writer")
GRANTEES = {"service": "livewell_service", "user": "livewell_user", "anon": "livewell_anon"}

_MIGRATION_NAME = re.compile(r"(?P<number>\d{4})_(?P<name>[a-z][a-z0-9_]*)\.sql")
_OBJECT_NAME = re.compile(r"(?P<name>[a-z][a-z0-9_]*)\.sql")
_ENDS_TRANSACTION = re.compile(r"(--[^\n]*\n|\s)*(begin|start|commit|end|rollback|abort)\b", re.IGNORECASE)
_MENTIONED = re.compile(r"\blivewell(?:_private)?\.(\w+)")
_IN_SQL = re.compile(r"\blanguage sql\b", re.IGNORECASE)
_FOR = re.compile(r"^-- for:(?P<roles>.*)$", re.MULTILINE)
_RUNS_AS = re.compile(r"^-- runs as:(?P<role>.*)$", re.MULTILINE)


class SqlFileInvalid(LivewellError):
    """A SQL file of this program breaks the rules for its folder; nothing was applied."""

    code = "kernel.sql_file_invalid"


class ObjectKind(StrEnum):
    """What is applied again when its file changes, in the order of applying."""

    FUNCTION = "function"
    VIEW = "view"
    TRIGGER = "trigger"


@dataclass(frozen=True, kw_only=True)
class Migration:
    """One change of tables or data, applied once."""

    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return checksum_of(self.text)

    @property
    def in_transaction(self) -> bool:
        return self.text.partition("\n")[0].strip() != NO_TRANSACTION

    @property
    def file_name(self) -> str:
        return f"{self.number:04}_{self.name}.sql"


@dataclass(frozen=True, kw_only=True)
class ObjectFile:
    """The one current source of a function, view or trigger; `roles` may use it, and it belongs to `owner`."""

    kind: ObjectKind
    name: str
    text: str
    roles: tuple[str, ...] = ()
    owner: str = OWNER

    @property
    def key(self) -> tuple[str, str]:
        return self.kind.value, self.name

    @property
    def checksum(self) -> str:
        return checksum_of(self.text)

    def needs(self, other: "ObjectFile") -> bool:
        """Whether the other must be there first; a body in a procedural language is looked up only when it runs."""
        if other.name not in self._mentioned or other is self:
            return False
        return self._is_looked_up or other.kind is ObjectKind.VIEW

    @cached_property
    def _mentioned(self) -> frozenset[str]:
        return frozenset(_MENTIONED.findall(self.text))

    @cached_property
    def _is_looked_up(self) -> bool:
        return self.kind is not ObjectKind.FUNCTION or _IN_SQL.search(self.text) is not None


@dataclass(frozen=True, kw_only=True)
class SqlFiles:
    """All SQL of a program: migrations in number order, objects in the order of applying."""

    migrations: tuple[Migration, ...]
    objects: tuple[ObjectFile, ...]

    @classmethod
    def shipped(cls) -> "SqlFiles":
        """The files of every room of the installed package."""
        return cls.below(resources.files("livewell"))

    @classmethod
    def below(cls, root: Traversable | Path) -> "SqlFiles":
        """The files of every `sql` folder below a root, or of the root itself."""
        folders = list(_sql_folders(root))
        migrations = [_migration(file) for folder in folders for file in _files(folder, "migrations")]
        objects = [
            _object(kind, file) for kind in ObjectKind for folder in folders for file in _files(folder, f"{kind}s")
        ]
        _refuse_twins([f"migration {migration.number:04}" for migration in migrations])
        _refuse_twins([f"{item.kind} {item.name}" for item in objects])
        return cls(migrations=tuple(sorted(migrations, key=lambda m: m.number)), objects=tuple(_in_order(objects)))


def checksum_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _sql_folders(folder: Traversable | Path) -> Iterator[Traversable | Path]:
    if any(folder.joinpath(part).is_dir() for part in ("migrations", "functions", "views", "triggers")):
        yield folder
        return
    for child in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if child.is_dir() and child.name not in ("__pycache__", "tests"):
            yield from _sql_folders(child)


def _files(folder: Traversable | Path, part: str) -> list[Traversable | Path]:
    inside = folder.joinpath(part)
    if not inside.is_dir():
        return []
    return sorted((file for file in inside.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)


def _text(file: Traversable | Path) -> str:
    return file.read_text(encoding="utf-8").replace("\r\n", "\n")


def _migration(file: Traversable | Path) -> Migration:
    match = _MIGRATION_NAME.fullmatch(file.name)
    if match is None:
        raise SqlFileInvalid(f"migration {file.name} is not named like 0007_room_what.sql")
    migration = Migration(number=int(match["number"]), name=match["name"], text=_text(file))
    if migration.in_transaction and any(_ENDS_TRANSACTION.match(s) for s in split_statements(migration.text)):
        raise SqlFileInvalid(
            f"migration {file.name} begins or ends a transaction", fix="each is one transaction already"
        )
    return migration


def _object(kind: ObjectKind, file: Traversable | Path) -> ObjectFile:
    match = _OBJECT_NAME.fullmatch(file.name)
    if match is None:
        raise SqlFileInvalid(f"{kind} file {file.name} is not named like the {kind} it holds")
    text = _text(file)
    audience = [] if kind is ObjectKind.TRIGGER else _audience(file.name, text)
    schema = PRIVATE_SCHEMA if audience == ["internal"] else SCHEMA
    made = match["name"] if kind is ObjectKind.TRIGGER else f"{schema}.{match['name']}"
    if not re.search(rf"^create [\w ]*{kind} {re.escape(made)}\b", text, re.MULTILINE | re.IGNORECASE):
        raise SqlFileInvalid(f"{kind} file {file.name} does not create {kind} {made}")
    owner = _owner(file.name, text)
    roles = tuple(GRANTEES[name] for name in sorted(audience) if name in GRANTEES)
    if owner != OWNER:
        if kind is not ObjectKind.FUNCTION or audience != ["internal"]:
            raise SqlFileInvalid(f"{file.name} runs as {owner}, and is no internal function")
        roles = (OWNER,)
    return ObjectFile(kind=kind, name=match["name"], text=text, roles=roles, owner=owner)


def _owner(file_name: str, text: str) -> str:
    match = _RUNS_AS.search(text)
    if match is None:
        return OWNER
    role = match["role"].strip()
    if role not in FOREIGN_ROLES:
        raise SqlFileInvalid(f"{file_name} runs as {role!r}", fix=f"one of {', '.join(FOREIGN_ROLES)}, or no such line")
    return role


def _audience(file_name: str, text: str) -> list[str]:
    match = _FOR.search(text)
    names = [name.strip() for name in match["roles"].split(",")] if match else []
    if names not in (["internal"], ["owner"]) and (not names or not set(names) <= set(GRANTEES)):
        raise SqlFileInvalid(
            f"{file_name} does not say whom it is for",
            fix="add a line `-- for: service`, or user, anon, owner, internal",
        )
    return names


def _refuse_twins(names: list[str]) -> None:
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise SqlFileInvalid(f"there are two files for {', '.join(twins)}")


def _in_order(objects: list[ObjectFile]) -> Iterator[ObjectFile]:
    """Functions, views, triggers; what the server looks up when an object is made comes before that object."""
    done: set[tuple[str, str]] = set()

    def visit(item: ObjectFile) -> Iterator[ObjectFile]:
        if item.key in done:
            return
        done.add(item.key)
        for other in objects:
            if item.needs(other):
                yield from visit(other)
        yield item

    for item in objects:
        yield from visit(item)
