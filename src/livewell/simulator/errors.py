"""Facts about the simulator."""

from livewell.kernel import LivewellError


class SimulatorError(LivewellError):
    """Something about the pretend provider."""

    code = "simulator.error"


class InvalidFault(SimulatorError):
    """A fault was asked for that does not exist, or that cannot be so; nothing was changed."""

    code = "simulator.invalid_fault"


class InvalidLimit(SimulatorError):
    """A limit that is not above zero, or of an endpoint that does not exist; nothing was changed."""

    code = "simulator.invalid_limit"
