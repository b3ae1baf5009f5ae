"""Facts about who comes in and sees what. None of them repeats a credential, nor what was in it."""

from livewell.kernel import LivewellError


class AccessError(LivewellError):
    """Something about who may see what."""

    code = "access.error"


class NotReadable(AccessError):
    """The read rule of a type, or row-level security on its table, keeps this role from reading it."""

    code = "access.not_readable"
    sqlstate = "LWC01"


class NotSignedIn(AccessError):
    """A function for users was called without verified claims that name a user."""

    code = "access.not_signed_in"
    sqlstate = "LWC02"


class InvalidAccess(AccessError):
    """What was asked about rights cannot be so: too many keys, a user or subject that is none; nothing was changed."""

    code = "access.invalid_request"
    sqlstate = "LWC03"


class InvalidIssuer(AccessError):
    """An issuer cannot be as declared; nothing was changed."""

    code = "access.invalid_issuer"
    sqlstate = "LWC04"


class UnknownIssuerField(AccessError):
    """An issuer has no such field; nothing was changed."""

    code = "access.unknown_field"


class InvalidAccessKey(AccessError):
    """An access key cannot be as asked; nothing was added."""

    code = "access.invalid_access_key"
    sqlstate = "LWC05"


class UnknownAccessKey(AccessError):
    """There is no such access key."""

    code = "access.unknown_access_key"
    sqlstate = "LWC06"


class UnknownSubject(AccessError):
    """There is no such subject, or it is not for whoever asks."""

    code = "access.unknown_subject"
    sqlstate = "LWC07"


class SubjectTaken(AccessError):
    """There is such a subject already; nothing was changed."""

    code = "access.subject_taken"
    sqlstate = "LWC08"


class InvalidCredential(AccessError):
    """A token or access key lets nobody in: what it says cannot be verified, or it is not known."""

    code = "access.invalid_credential"


class ExpiredCredential(InvalidCredential):
    """A token or access key was good and has expired."""

    code = "access.expired_credential"


class RevokedCredential(InvalidCredential):
    """An access key was revoked."""

    code = "access.revoked_credential"


class KeysUnavailable(AccessError):
    """What the tokens of an issuer are verified with cannot be had here and now."""

    code = "access.keys_unavailable"


class NoReader(AccessError):
    """There is no login to read with for viewers, or the one there is has more rights than a viewer."""

    code = "access.no_reader"
