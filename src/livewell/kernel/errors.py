"""Errors are facts with one code, the same in SQL, Python and HTTP.

A fact class names its `code` (`jobs.unknown_kind`) and, when SQL can raise it, its `sqlstate` (`LWJ02`). Declaring the
class is all the wiring there is: `fact_from()` turns what the driver raised into the fact that carries its SQLSTATE.
"""

from typing import ClassVar

import asyncpg

from livewell.doors import load_facts

_BY_SQLSTATE: dict[str, type["LivewellError"]] = {}
_BY_CODE: dict[str, type["LivewellError"]] = {}


class LivewellError(Exception):
    """Something a person can act on: what happened, to what, and what to do."""

    code: ClassVar[str] = "livewell.error"
    sqlstate: ClassVar[str | tuple[str, ...]] = ()

    def __init__(self, message: str, *, fix: str | None = None, detail: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.detail = detail

    def __init_subclass__(cls) -> None:
        if "code" in cls.__dict__:
            _register(_BY_CODE, cls.code, cls)
        states = cls.__dict__.get("sqlstate", ())
        for state in (states,) if isinstance(states, str) else states:
            _register(_BY_SQLSTATE, state, cls)

    def __str__(self) -> str:
        """One line: the fact, its fix, its code."""
        fix = f" ({self.fix})" if self.fix else ""
        return f"{self.message}{fix} [{self.code}]"


def _register(facts: dict[str, type[LivewellError]], key: str, fact: type[LivewellError]) -> None:
    if facts.setdefault(key, fact).__qualname__ != fact.__qualname__:
        raise ValueError(f"{fact.__qualname__} and {facts[key].__qualname__} are both {key}")
    facts[key] = fact


class DatabaseUnavailable(LivewellError):
    """The server is not there, went away, or did not answer in time; whether the call took effect is unknown."""

    code = "kernel.database_unavailable"
    sqlstate = ("57P01", "57P02", "57P03", "25P03", "53300", "08000", "08001", "08003", "08004", "08006")


class StatementTimedOut(LivewellError):
    """The server gave up a statement at its time limit; it had no effect."""

    code = "kernel.statement_timed_out"
    sqlstate = "57014"


class LockNotAvailable(LivewellError):
    """A lock was not given within its time limit; the step had no effect and may be repeated."""

    code = "kernel.lock_not_available"
    sqlstate = "55P03"


class Contended(LivewellError):
    """A deadlock, a serialization failure or a partition made meanwhile outlasted its bounded retries; no effect."""

    code = "kernel.contended"
    sqlstate = ("40001", "40P01")


class TransactionRolledBack(LivewellError):
    """A transaction in which a statement had failed was committed all the same; nothing of it took effect."""

    code = "kernel.transaction_rolled_back"


class DiskFull(LivewellError):
    """The database has no room left; the call had no effect."""

    code = "kernel.disk_full"
    sqlstate = "53100"


class NotPrimary(LivewellError):
    """A deciding function was called on a replica, which decides nothing."""

    code = "kernel.not_primary"
    sqlstate = ("LWK01", "25006")


class NotPermitted(LivewellError):
    """The role of this connection may not do that."""

    code = "kernel.not_permitted"
    sqlstate = "42501"


class NotMigrated(LivewellError):
    """The database has no Livewell schema, or one older than this program needs."""

    code = "kernel.not_migrated"
    sqlstate = ("3F000", "42P01", "42883")


class RolesMissing(LivewellError):
    """The connecting role may not create the roles Livewell needs, and nobody has created them."""

    code = "kernel.roles_missing"
    sqlstate = "LWK02"


class ServerTooOld(LivewellError):
    """The server is older than the oldest PostgreSQL this program works on."""

    code = "kernel.server_too_old"


class DatabaseNewer(LivewellError):
    """The database was migrated by a newer program; this one changes nothing in it."""

    code = "kernel.database_newer"


class DatabaseTooOld(LivewellError):
    """The database was made before the first version, and is made anew; nothing was changed."""

    code = "kernel.database_too_old"


class MigrationEdited(LivewellError):
    """The file of an applied migration is not what was applied; nothing was changed."""

    code = "kernel.migration_edited"


class MigrationMissing(LivewellError):
    """The database has a migration whose file this program lacks; nothing was changed."""

    code = "kernel.migration_missing"


class MigrationFailed(LivewellError):
    """A step could not be applied; it had no effect, and the steps before it stay applied."""

    code = "kernel.migration_failed"


# What passes by itself, or when somebody has repaired the server: callers make the same call again.
PASSING = (Contended, DatabaseUnavailable, DiskFull, LockNotAvailable, NotPrimary, StatementTimedOut)


def fact_from(error: BaseException) -> LivewellError | None:
    """The fact behind what the driver raised; None when it is the caller's own mistake (a wrong argument, a misuse)."""
    if isinstance(error, LivewellError):
        return error
    if isinstance(error, asyncpg.PostgresError):
        state = getattr(error, "sqlstate", None) or ""
        fact = Contended if _was_repartitioned(error) else _fact_of(state)
        if fact is None:
            return None
        return fact(reason_of(error), fix=getattr(error, "hint", None), detail=getattr(error, "detail", None))
    if isinstance(error, asyncpg.InterfaceError) and "closed" not in reason_of(error):
        return None
    if isinstance(error, (asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)):
        return DatabaseUnavailable(f"the database is not reachable: {reason_of(error)}")
    return None


def _fact_of(state: str) -> type[LivewellError] | None:
    """The fact with this SQLSTATE; one of ours may be of a room that nobody has entered in this process."""
    if state.startswith("LW") and state not in _BY_SQLSTATE:
        load_facts()
    return _BY_SQLSTATE.get(state)


def _was_repartitioned(error: asyncpg.PostgresError) -> bool:
    """A row was on its way into a default partition while somebody attached the one it belongs into.

    Unlike any other violated check, that of a partition has no name.
    """
    return isinstance(error, asyncpg.CheckViolationError) and getattr(error, "constraint_name", None) is None


def reason_of(error: BaseException) -> str:
    """What went wrong, in one line; the driver appends detail and hint to its own text, and a timeout has none."""
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def facts_by_code() -> dict[str, type[LivewellError]]:
    """Every declared fact, for the reference page and the house tests."""
    return dict(_BY_CODE)
