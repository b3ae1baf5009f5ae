"""Facts about the demonstration."""

from livewell.kernel import LivewellError


class DemoBroken(LivewellError):
    """The demonstration cannot go on, or a promise was not kept: a job lost or accepted twice, a limit passed."""

    code = "demo.broken"
