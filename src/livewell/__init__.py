"""Livewell keeps the data people are looking at fresh, within hard API budgets, on PostgreSQL and Python."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from livewell.app import Livewell
    from livewell.jobs import Cancel, Completed, Dead, Enqueued, JobRequest, OnDuplicate, Reschedule, Reset
    from livewell.kernel import LivewellError
    from livewell.schedule import TaskContext, TaskDeclaration
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
    "TaskContext",
    "TaskDeclaration",
    "WorkerOptions",
    "__version__",
]

_ROOMS = {
    "Livewell": "app",
    "LivewellError": "kernel",
    "JobContext": "worker",
    "TaskContext": "schedule",
    "TaskDeclaration": "schedule",
    "WorkerOptions": "worker",
}


def __getattr__(name: str) -> Any:
    """Names are imported when they are first asked for, so that `livewell --help` waits for none of them."""
    if name not in __all__:
        raise AttributeError(f"module 'livewell' has no attribute {name!r}")
    value = getattr(import_module(f"livewell.{_ROOMS.get(name, 'jobs')}"), name)
    globals()[name] = value
    return value
