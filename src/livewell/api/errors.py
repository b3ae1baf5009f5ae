"""What the door says when a request cannot be."""

from livewell.kernel import LivewellError


class ApiError(LivewellError):
    """Something at the door."""

    code = "api.error"


class InvalidRequest(ApiError):
    """A request is not what it should be: its body, a header or a parameter."""

    code = "api.invalid_request"


class NotAllowed(ApiError):
    """Whoever asks may not do this."""

    code = "api.not_allowed"


class AddressTaken(ApiError):
    """The address to serve on cannot be had."""

    code = "api.address_taken"
