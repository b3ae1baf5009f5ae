"""The schema as text: what the catalog holds, written as SQL, one file per object."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from livewell.kernel.connection import Connection
from livewell.kernel.migration_files import OWNER
from livewell.kernel.queries import QUERIES

HEADER = (
    "-- Written by `python -m livewell.kernel.schema_snapshot`; change the migrations or the object files instead.\n\n"
)

_PARTITION = re.compile(r"(?P<parent>partition of \S+) (?P<rest>(?:FOR VALUES|DEFAULT).*)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing in the catalog, and the object it is part of."""

    kind: str
    name: str
    part_of: str | None
    definition: str
    owner: str

    @property
    def own_name(self) -> str:
        """The name without that of the table it is in."""
        return self.name.removeprefix(f"{self.part_of}.")

    @property
    def owned(self) -> str:
        """Everything belongs to the owner role; what does not is pointed out."""
        return "" if self.owner == OWNER else f"-- owner: {self.owner}\n"


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """A whole schema as the catalog holds it."""

    entries: tuple[Entry, ...]
    view_columns: Mapping[str, list[str]]

    @classmethod
    async def read(cls, connection: Connection) -> "Catalog":
        """Read it inside a transaction of its own, every name qualified."""
        await connection.execute("begin read only; set local search_path = ''")
        rows = await connection.fetch(QUERIES["list_live_objects"])
        columns: defaultdict[str, list[str]] = defaultdict(list)
        for row in await connection.fetch(QUERIES["list_view_columns"]):
            columns[row["view"]].append(f"{row['name']} {row['type']}")
        await connection.execute("rollback")
        names = ("kind", "name", "part_of", "definition", "owner")
        return cls(entries=tuple(Entry(**{name: row[name] for name in names}) for row in rows), view_columns=columns)

    def of(self, kind: str, part_of: str | None = None) -> list[Entry]:
        return [entry for entry in self.entries if entry.kind == kind and part_of in (None, entry.part_of)]

    def grants(self, name: str) -> str:
        lines = [line for entry in self.of("grant") if entry.name == name for line in entry.definition.splitlines()]
        return "".join(f"grant {line};\n" for line in lines)


def schema_files(catalog: Catalog, views: Mapping[str, str]) -> dict[str, str]:
    """Every file of the snapshot by its path; `views` are the files that made the views."""
    files = {
        "schemas.sql": "".join(
            f"create schema {entry.name};\n{catalog.grants(f'schema {entry.name}')}" for entry in catalog.of("schema")
        ),
        **{f"tables/{entry.name}.sql": _table(catalog, entry) for entry in catalog.of("table")},
        **{f"sequences/{entry.name}.sql": _sequence(catalog, entry) for entry in catalog.of("sequence")},
        **{f"types/{entry.name}.sql": _type(entry) for entry in (*catalog.of("type"), *catalog.of("domain"))},
        **{f"views/{entry.name}.sql": _view(catalog, entry, views[entry.name]) for entry in catalog.of("view")},
        **{f"triggers/{entry.name}.sql": _statements(entry.definition) for entry in catalog.of("trigger")},
    }
    return {path: HEADER + text for path, text in files.items()}


def _table(catalog: Catalog, table: Entry) -> str:
    definition = table.definition
    unlogged = "unlogged " if definition.startswith("unlogged") else ""
    definition = definition.removeprefix("unlogged").strip()
    inner = [f"constraint {entry.own_name} {entry.definition}" for entry in catalog.of("constraint", table.name)]
    partition = _PARTITION.match(definition)
    if partition is None:
        inner = [f"{entry.own_name} {entry.definition}" for entry in catalog.of("column", table.name)] + inner
    parent, rest = (f"{partition['parent']} ", partition["rest"]) if partition else ("", definition)
    head = f"create {unlogged}table livewell_private.{table.name} {parent}{_block(inner)}{rest}".rstrip()
    return f"{table.owned}{head};\n" + "".join(_beside(catalog, table)) + catalog.grants(f"table {table.name}")


def _beside(catalog: Catalog, table: Entry) -> Iterator[str]:
    """What belongs to a table and stands after it."""
    for kind in ("index", "statistics"):
        for entry in catalog.of(kind, table.name):
            yield f"\n{_statements(entry.definition)}"
    for entry in catalog.of("row security", table.name):
        for word in entry.definition.split(" and "):
            action = {"enabled": "enable", "forced": "force"}[word]
            yield f"\nalter table livewell_private.{table.name} {action} row level security;\n"
    for entry in catalog.of("policy", table.name):
        yield f"\ncreate policy {entry.own_name} on livewell_private.{table.name} {entry.definition};\n"


def _sequence(catalog: Catalog, entry: Entry) -> str:
    text = f"create sequence livewell_private.{entry.name} {entry.definition};\n"
    return entry.owned + text + catalog.grants(f"sequence {entry.name}")


def _type(entry: Entry) -> str:
    return f"{entry.owned}create {entry.kind} livewell_private.{entry.name} {entry.definition};\n"


def _view(catalog: Catalog, entry: Entry, text: str) -> str:
    columns = "".join(f"--   {column}\n" for column in catalog.view_columns[entry.name])
    return f"{entry.owned}{text.rstrip()}\n\n-- columns:\n{columns}\n{catalog.grants(f'view {entry.name}')}"


def _block(lines: Iterable[str]) -> str:
    """The inside of a CREATE TABLE; a partition may have none of its own."""
    inside = ",\n".join(f"    {line}" for line in lines)
    return f"(\n{inside}\n) " if inside else ""


def _statements(definition: str) -> str:
    return "".join(f"{line};\n" for line in definition.splitlines())
