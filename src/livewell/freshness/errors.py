"""Facts about items."""

from livewell.kernel import LivewellError


class FreshnessError(LivewellError):
    """Something about keeping data fresh."""

    code = "freshness.error"


class UnknownType(FreshnessError):
    """No data type of that name is kept fresh; nothing was changed."""

    code = "freshness.unknown_type"
    sqlstate = "LWF01"


class InvalidKey(FreshnessError):
    """The key is none of its type; nothing was changed."""

    code = "freshness.invalid_key"
    sqlstate = "LWF02"
