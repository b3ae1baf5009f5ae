"""Livewell keeps the data people are looking at fresh, within hard API budgets, on PostgreSQL and Python."""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.app import Livewell
    from livewell.fetching import Call, Fetcher, Model, StoredItem, bounded
    from livewell.jobs import Cancel, Completed, Dead, Enqueued, JobRequest, OnDuplicate, Reschedule, Reset
    from livewell.kernel import LivewellError
    from livewell.schedule import TaskContext, TaskDeclaration
    from livewell.worker import JobContext, OffLoopContext, WorkerOptions
else:
    __getattr__ = opened(__name__)

__version__ = "0.1.0"

__all__ = [
    "Call",
    "Cancel",
    "Completed",
    "Dead",
    "Enqueued",
    "Fetcher",
    "JobContext",
    "JobRequest",
    "Livewell",
    "LivewellError",
    "Model",
    "OffLoopContext",
    "OnDuplicate",
    "Reschedule",
    "Reset",
    "StoredItem",
    "TaskContext",
    "TaskDeclaration",
    "WorkerOptions",
    "__version__",
    "bounded",
]
