"""Livewell keeps the data people are looking at fresh, within hard API budgets, on PostgreSQL and Python."""

from livewell.app import Livewell
from livewell.jobs import Cancel, Completed, Dead, Enqueued, JobRequest, OnDuplicate, Reschedule, Reset
from livewell.kernel import LivewellError
from livewell.worker import JobContext, WorkerOptions

__version__ = "0.1.0"

__all__ = [
    "Cancel",
    "Completed",
    "Dead",
    "Enqueued",
    "JobContext",
    "JobRequest",
    "Livewell",
    "LivewellError",
    "OnDuplicate",
    "Reschedule",
    "Reset",
    "WorkerOptions",
    "__version__",
]
