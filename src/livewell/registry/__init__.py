"""Data types: what is kept fresh, from where, how old it may be, when it may be refreshed, and which keys there are.

The room owns `data_type`, `record` (where data goes whose type names no table), the key catalogue (`type_key`), and the
gates with the calendars of exchanges (`exchange`, `market_session`, `exchange_rule`). A type is one row; nothing else
in the product knows a type by name. Writing it makes the kind of its refreshes known (`refresh.<type>`, in the type's
group) and, when what decides on its freshness changed, makes everything watched of it due, in the same transaction.

Invariants. Only the owner of the schema writes here: to everybody else the registry is read-only. A TTL is always said
and positive; no staleness function has a default for it. A type is checked before it is live: table, columns, rights,
functions, and its staleness on rows that are there; one that is disabled may be declared before its table exists.
Identifiers are checked when they are written, and checked or quoted again when they are used. A plan and the change it
announces are found by the same comparison.

Contracts with a user's functions. Staleness is `fn(timestamptz, interval, timestamptz) returns boolean`: the time of
the fetch, the TTL, the time now. A gate is `fn(text[], timestamptz) returns table (key text, open boolean, opens_at
timestamptz)`: the keys, the time now. Either is security definer, or belongs to a role that may act as
livewell_reader, because it runs with that role's rights. What is not Livewell's is asked by `ask_foreign`, as that
role, and whatever else the asking did is taken back.

How it fails. A type that is wrong stops only itself: its check fails, is warned about, and counts as stale at most once
per TTL. A gate that fails, says nothing of a key, or lacks the calendar of an exchange is open, with a warning. A
catalogue that cannot be read has no keys, with a warning. A type in use is not removed unless that is forced; its
refreshes are cancelled then, so that none stays stuck.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.registry.calendar_keeper import CalendarKeeper, sessions_of
    from livewell.registry.declarations import TYPE_COLUMNS, TypeDeclaration, TypeTables, type_fields
    from livewell.registry.errors import (
        CalendarUnavailable,
        InvalidCalendar,
        InvalidKeys,
        InvalidTtl,
        InvalidType,
        ReadOnlyRegistry,
        RegistryError,
        TypeInUse,
        UnknownKey,
        UnknownType,
        UnknownTypeField,
    )
    from livewell.registry.fetch_declarations import FetchDeclaration, FieldDeclaration, Fields, PageDeclaration
    from livewell.registry.json_paths import Step, path_text, row_steps, value_steps
    from livewell.registry.store import TYPES_CHANNEL, RegistryStore
    from livewell.registry.types import DataType, Exchange, Finding, Imported, MarketSession, TypeKey
else:
    __getattr__ = opened(__name__)

__all__ = [
    "TYPES_CHANNEL",
    "TYPE_COLUMNS",
    "CalendarKeeper",
    "CalendarUnavailable",
    "DataType",
    "Exchange",
    "FetchDeclaration",
    "FieldDeclaration",
    "Fields",
    "Finding",
    "Imported",
    "InvalidCalendar",
    "InvalidKeys",
    "InvalidTtl",
    "InvalidType",
    "MarketSession",
    "PageDeclaration",
    "ReadOnlyRegistry",
    "RegistryError",
    "RegistryStore",
    "Step",
    "TypeDeclaration",
    "TypeInUse",
    "TypeKey",
    "TypeTables",
    "UnknownKey",
    "UnknownType",
    "UnknownTypeField",
    "path_text",
    "row_steps",
    "sessions_of",
    "type_fields",
    "value_steps",
]
