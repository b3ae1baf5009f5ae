"""Facts of the command line itself."""

from typing import ClassVar

from livewell.kernel import LivewellError


class CliError(LivewellError):
    """Something about a command, rather than about what it asked for."""

    code = "cli.error"
    exit_code: ClassVar[int] = 1


class Misused(CliError):
    """The command line asks for something that does not exist or makes no sense; nothing was done."""

    code = "cli.misused"
    exit_code: ClassVar[int] = 2


class FileUnavailable(CliError):
    """A file named on the command line cannot be read or written."""

    code = "cli.file_unavailable"


class NoDatabase(CliError):
    """No database is named, and there is no embedded one here to ask."""

    code = "cli.no_database"


class NoApplication(CliError):
    """The named module or object is not there, cannot be imported, or is not a Livewell application."""

    code = "cli.no_application"


class PortUnavailable(CliError):
    """Nothing can be served on the port that was asked for."""

    code = "cli.port_unavailable"


class SchemaNotCurrent(CliError):
    """`migrate --check` found steps that are pending, or a database that differs from what was applied."""

    code = "cli.schema_not_current"


class NotAllChanged(CliError):
    """Some of the jobs that were named could not be changed; the others were."""

    code = "cli.not_all_changed"


class DrainTimedOut(CliError):
    """Jobs were still waiting or running when the time was up."""

    code = "cli.drain_timed_out"


class AuditNotIntact(CliError):
    """Verification of the audit log, or of an export of it, found something wrong."""

    code = "cli.audit_not_intact"


class LintFound(CliError):
    """`lint` found code that goes round the framework."""

    code = "cli.lint_found"


class TypesUnsound(CliError):
    """`types check` found what keeps a data type from being kept fresh."""

    code = "cli.types_unsound"


class CalendarsMissing(CliError):
    """The sessions of some exchanges could not be had; those of the others were written."""

    code = "cli.calendars_missing"


class TaskFailed(CliError):
    """The task that was asked for ran and failed; its history has the error."""

    code = "cli.task_failed"


class TasksLate(CliError):
    """Tasks did not succeed in time, or nobody answers who could say so."""

    code = "cli.tasks_late"


class NothingWatched(CliError):
    """Nobody has looked at the key that was asked for, and no walk has reached it."""

    code = "cli.nothing_watched"
