"""What can be wrong with a call to the audit log."""

from livewell.kernel import LivewellError


class InvalidEntry(LivewellError):
    """What was to be written is no audit entry; the whole batch was refused."""

    code = "audit.invalid_entry"
    sqlstate = "LWA01"


class AppendOnly(LivewellError):
    """An audit table was to be updated, deleted from or truncated; it never is."""

    code = "audit.append_only"
    sqlstate = "LWA02"


class UnknownHead(LivewellError):
    """There is no seal of that number, or what was given is not a head."""

    code = "audit.unknown_head"
