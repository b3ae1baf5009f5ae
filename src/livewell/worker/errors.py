"""Facts about workers."""

from livewell.kernel import LivewellError


class WorkerError(LivewellError):
    """Something about a worker or a handler."""

    code = "worker.error"


class BadHandler(WorkerError):
    """A function cannot be the handler of a kind as it is written."""

    code = "worker.bad_handler"


class ProcessDied(WorkerError):
    """The process a handler ran in ended without an answer: killed, out of memory, or by an exit of its own."""

    code = "worker.process_died"


class NothingToServe(WorkerError):
    """A worker was started without a handler, or for groups that none of its kinds belongs to."""

    code = "worker.nothing_to_serve"
