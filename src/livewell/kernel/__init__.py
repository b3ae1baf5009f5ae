"""The kernel: what every room stands on and no room owns.

It owns the way to PostgreSQL (a pool, lines beside it, a listener), the server it can bring itself, the SQL files of
all rooms and the migrator that applies them, facts (errors with one code), the service loop that runs agents, the
keeper of leases, pauses between tries, and logs. It imports no room.

Declaring. What people declare, in every room, goes one way: a room describes the table (`describe_thing`: the columns
that are not for people; every other is a field, and its default is the column's), makes rows of what is asked
(`asked_fields`, `as_declared`), compares them with what is there (`compare_declared`: add, change, same, by field),
refuses what cannot be, and then writes (`write_declared`), records (`audit_declared`) and tells (`planned_changes`).
In Python a `DeclaredTable` says how each field is written, and a `Section` applies the tables of a file.

Invariants. Every call to the database is bounded, by the server and a little later by the client. What the driver
raises leaves as a fact. Migrations run one at a time across machines, forward only, and may be killed anywhere. An
agent that fails stops nobody else. No truth is held in Python: whatever a process loses when it dies, the database
still has. What is logged goes to Python's `logging`, and is written by no one unless a program sets it up.

How it fails. An unreachable or silent server is `kernel.database_unavailable`, and whether the call took effect is then
unknown; a statement over its limit is `kernel.statement_timed_out` and had no effect. A database that is not what this
program needs is refused before anything is changed: `kernel.not_migrated`, `kernel.database_newer`,
`kernel.migration_edited`, `kernel.migration_missing`.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.kernel.backoff import LONGEST_PAUSE, Backoff, a_little_later
    from livewell.kernel.connection import Connection
    from livewell.kernel.database import Caller, Database, DatabaseOptions, Line, close_politely, connect
    from livewell.kernel.declarations import (
        Declarations,
        DeclarationsRefused,
        Problem,
        Section,
        Tables,
        TomlSyntax,
        UnknownSection,
        dotted,
        read_declarations,
        told_at,
    )
    from livewell.kernel.declared_tables import (
        Column,
        DeclaredTable,
        Duration,
        DurationFromZero,
        FieldGroup,
        Limit,
        Positive,
        PositiveDuration,
        Size,
        SizeLimit,
        written_as,
    )
    from livewell.kernel.durations import HOW_TO_WRITE, parse_duration
    from livewell.kernel.embedded import EmbeddedPostgres
    from livewell.kernel.embedded_account import Account
    from livewell.kernel.embedded_processes import birth_of, is_postgres_in
    from livewell.kernel.errors import (
        PASSING,
        Contended,
        DatabaseNewer,
        DatabaseTooOld,
        DatabaseUnavailable,
        DiskFull,
        LivewellError,
        LockNotAvailable,
        MigrationEdited,
        MigrationFailed,
        MigrationMissing,
        NotMigrated,
        NotPermitted,
        NotPrimary,
        RolesMissing,
        ServerTooOld,
        StatementTimedOut,
        TransactionRolledBack,
        fact_from,
        facts_by_code,
    )
    from livewell.kernel.leases import WATCH_SECONDS, LeaseKeeper, NotRenewed, Renewal, trusted_seconds
    from livewell.kernel.listener import Listener
    from livewell.kernel.logger import Logger, LogLine, before_the_first_line
    from livewell.kernel.logins import (
        InvalidLogin,
        Login,
        LoginLimits,
        LoginNotOurs,
        LoginRole,
        list_logins,
        make_login,
        new_password,
    )
    from livewell.kernel.logs import MASK, configure_logs, mask, masked, silence_logs, working_on
    from livewell.kernel.migration_files import SqlFiles
    from livewell.kernel.migration_state import Action, Change, Drift, Step
    from livewell.kernel.migrator import CheckReport, MigrationReport, MigratorOptions, check, migrate, plan
    from livewell.kernel.named_section import NamedSection
    from livewell.kernel.planned_change import PlannedChange, planned_changes
    from livewell.kernel.service import Agent, Component, Service, ServiceOptions
    from livewell.kernel.shown import (
        interval_of,
        shown_decimal,
        shown_duration,
        shown_interval,
        shown_number,
        shown_share,
        shown_size,
        shown_text,
    )
    from livewell.kernel.sizes import parse_size
    from livewell.kernel.sql import Queries
    from livewell.kernel.waiting import wait_for_any
    from livewell.kernel.warnings import SurvivedWarning, list_warnings
else:
    __getattr__ = opened(__name__)

__all__ = [
    "HOW_TO_WRITE",
    "LONGEST_PAUSE",
    "MASK",
    "PASSING",
    "WATCH_SECONDS",
    "Account",
    "Action",
    "Agent",
    "Backoff",
    "Caller",
    "Change",
    "CheckReport",
    "Column",
    "Component",
    "Connection",
    "Contended",
    "Database",
    "DatabaseNewer",
    "DatabaseOptions",
    "DatabaseTooOld",
    "DatabaseUnavailable",
    "Declarations",
    "DeclarationsRefused",
    "DeclaredTable",
    "DiskFull",
    "Drift",
    "Duration",
    "DurationFromZero",
    "EmbeddedPostgres",
    "FieldGroup",
    "InvalidLogin",
    "LeaseKeeper",
    "Limit",
    "Line",
    "Listener",
    "LivewellError",
    "LockNotAvailable",
    "LogLine",
    "Logger",
    "Login",
    "LoginLimits",
    "LoginNotOurs",
    "LoginRole",
    "MigrationEdited",
    "MigrationFailed",
    "MigrationMissing",
    "MigrationReport",
    "MigratorOptions",
    "NamedSection",
    "NotMigrated",
    "NotPermitted",
    "NotPrimary",
    "NotRenewed",
    "PlannedChange",
    "Positive",
    "PositiveDuration",
    "Problem",
    "Queries",
    "Renewal",
    "RolesMissing",
    "Section",
    "ServerTooOld",
    "Service",
    "ServiceOptions",
    "Size",
    "SizeLimit",
    "SqlFiles",
    "StatementTimedOut",
    "Step",
    "SurvivedWarning",
    "Tables",
    "TomlSyntax",
    "TransactionRolledBack",
    "UnknownSection",
    "a_little_later",
    "before_the_first_line",
    "birth_of",
    "check",
    "close_politely",
    "configure_logs",
    "connect",
    "dotted",
    "fact_from",
    "facts_by_code",
    "interval_of",
    "is_postgres_in",
    "list_logins",
    "list_warnings",
    "make_login",
    "mask",
    "masked",
    "migrate",
    "new_password",
    "parse_duration",
    "parse_size",
    "plan",
    "planned_changes",
    "read_declarations",
    "shown_decimal",
    "shown_duration",
    "shown_interval",
    "shown_number",
    "shown_share",
    "shown_size",
    "shown_text",
    "silence_logs",
    "told_at",
    "trusted_seconds",
    "wait_for_any",
    "working_on",
    "written_as",
]
