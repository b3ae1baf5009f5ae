"""Facts about presence."""

from livewell.kernel import LivewellError


class PresenceError(LivewellError):
    """Something about who looks at what."""

    code = "presence.error"


class InvalidPresence(PresenceError):
    """Sessions or items were asked for in a way that cannot be; nothing was changed."""

    code = "presence.invalid_request"
    sqlstate = "LWP02"


class GatewayGone(PresenceError):
    """The gateway was not renewed in time; its sessions are being undone, and it opens them under a new name."""

    code = "presence.gateway_gone"
    sqlstate = "LWP03"


class NotYourSession(PresenceError):
    """The session is another user's; nothing was changed."""

    code = "presence.not_your_session"
    sqlstate = "LWP04"


class TooMany(PresenceError):
    """A user has too many sessions open, or a session would look at too many items; nothing was changed."""

    code = "presence.too_many"
    sqlstate = "LWP05"


class SessionGone(PresenceError):
    """The session ended while it was being used; nothing was changed."""

    code = "presence.session_gone"
    sqlstate = "LWP06"


class PresenceBusy(PresenceError):
    """Somebody holds the session or an item in a transaction that stays open; nothing was changed."""

    code = "presence.busy"
    sqlstate = "LWP08"


class InvalidSource(PresenceError):
    """A presence source cannot be as asked, or cannot be read as it is; nothing was changed."""

    code = "presence.invalid_source"
    sqlstate = "LWP07"


class UnknownSourceField(PresenceError):
    """A presence source has no such field; nothing was changed."""

    code = "presence.unknown_field"
