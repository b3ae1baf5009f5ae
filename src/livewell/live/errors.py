"""What the gateway says when a client asks for what cannot be."""

from livewell.kernel import LivewellError


class LiveError(LivewellError):
    """Something at the gateway."""

    code = "live.error"


class BadFrame(LiveError):
    """A client sent what is no frame; its connection ends."""

    code = "live.bad_frame"


class TooMuchAsked(LiveError):
    """A client asked for more than one connection may have; its connection ends."""

    code = "live.too_much_asked"


class GatewayClosing(LiveError):
    """The gateway takes nobody any more: it is being stopped."""

    code = "live.closing"


class NotVisible(LiveError):
    """A client may not see an item, by the type's read rule."""

    code = "live.not_visible"
