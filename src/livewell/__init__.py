"""Livewell keeps the data people are looking at fresh, within hard API budgets, on PostgreSQL and Python."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from livewell.app import Livewell
    from livewell.fetching import Call, Fetcher, Model, bounded
    from livewell.jobs import Cancel, Completed, Dead, Enqueued, JobRequest, OnDuplicate, Reschedule, Reset
    from livewell.kernel import LivewellError
    from livewell.schedule import TaskContext, TaskDeclaration
    from livewell.worker import AsideContext, JobContext, WorkerOptions

__version__ = "0.1.0"

__all__ = [
    "AsideContext",
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
    "OnDuplicate",
    "Reschedule",
    "Reset",
    "TaskContext",
    "TaskDeclaration",
    "WorkerOptions",
    "__version__",
    "bounded",
]

_ROOMS = {
    "AsideContext": "worker",
    "Call": "fetching",
    "Fetcher": "fetching",
    "Model": "fetching",
    "bounded": "fetching",
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
