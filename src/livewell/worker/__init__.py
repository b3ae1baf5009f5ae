"""The worker: runs the jobs of the kinds a program declares.

It owns no table. One `Worker` has a feeder (claims as much as there are slots for), a runner (slots), a finisher (ends
attempts in batches) and a heartbeater (renews leases, watches the clock), around the jobs it has leased.

Invariants. No more handlers run at once than there are slots. A job whose lease may be lost is stopped by the
worker's own monotonic clock before another can have it, and its outcome is not sent. A deadlock or serialization
failure in a handler is not the job's failure: it is reset at once, within bounds. Whatever a handler raises ends as
one outcome; the worker goes on. What would hold up the loop runs beside it, in bounded numbers.

How it fails. Killed at any point it loses nothing: its leases run out and the rescuer gives the jobs to others.
Without the database it keeps the outcomes it has, stops what it may no longer hold, and asks again, slower each
time. SIGTERM drains: what has not started is given back, what runs is let finish.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.worker.context import JobContext
    from livewell.worker.errors import BadHandler, NothingToServe, ProcessDied, WorkerError
    from livewell.worker.handlers import Handler, HandlerFunction, RunsIn, handler_of
    from livewell.worker.off_loop import OffLoopContext
    from livewell.worker.refreshing import Refresher
    from livewell.worker.tracing import carried_context
    from livewell.worker.worker import Worker, WorkerOptions
else:
    __getattr__ = opened(__name__)

__all__ = [
    "BadHandler",
    "Handler",
    "HandlerFunction",
    "JobContext",
    "NothingToServe",
    "OffLoopContext",
    "ProcessDied",
    "Refresher",
    "RunsIn",
    "Worker",
    "WorkerError",
    "WorkerOptions",
    "carried_context",
    "handler_of",
]
