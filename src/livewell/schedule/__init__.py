"""Tasks: what runs again and again, once and on time, on any number of nodes.

The room owns `task` (what to run, when, and who holds it), `task_run` (what became of it), cron expressions, and the
question whether everything runs in time. A task runs an SQL function or a handler of a program, by interval or by cron
expression in a time zone. Every decision is one SQL function with the time passed in; pg_cron, an outside cron and any
language call the same ones as the scheduler.

Invariants. A run is taken by one node: due, free, enabled and not in maintenance are looked at on the locked row, and a
row that is locked is never waited for. At most one token is alive per task, and only it ends the run. A node that comes
back late is told `lost` and overwrites nothing. An SQL task is one transaction: what it did and that it ran commit
together. A missed run comes once. An expression that never comes is refused when it is declared.

A task answers a JSON document. `again_in` in it asks for the next run sooner or later than the schedule says: work that
is bounded per run uses it to go on at once. A document of nothing but zeros is a quiet run; quiet runs share a row of
history per hour.

How it fails. Whoever asks for a run is answered `{ok, ran}` or `{ok, skipped, reason}`; a schedule that cannot be read
runs nothing and says `schedule_read_error`. A failing task backs off and nobody else notices. A node that dies leaves a
lease that expires, or a transaction that is undone; the next taking records the run as lost. A node that cannot renew
stops its run by its own clock. A notification that is lost is made good by polling. What does not succeed in time is
late, and health says so, also of a task that never ran.
"""

from typing import TYPE_CHECKING

from livewell.doors import opened

if TYPE_CHECKING:
    from livewell.schedule.declaration import TaskDeclaration, TaskSection
    from livewell.schedule.errors import InvalidCron, InvalidTask, NotRunnableHere, TaskBusy, TaskError, UnknownTask
    from livewell.schedule.handlers import TaskContext, TaskFunction, TaskHandler, task_handler_of
    from livewell.schedule.leases import TaskLeases
    from livewell.schedule.metrics import TaskGauges
    from livewell.schedule.runner import TaskRunner, this_node
    from livewell.schedule.scheduler import CHANNEL, Scheduler
    from livewell.schedule.store import TaskStore
    from livewell.schedule.types import RunAnswer, Task, TaskRun, skipped
    from livewell.schedule.watchdog import Watchdog, WatchdogOptions, late_names
else:
    __getattr__ = opened(__name__)

__all__ = [
    "CHANNEL",
    "InvalidCron",
    "InvalidTask",
    "NotRunnableHere",
    "RunAnswer",
    "Scheduler",
    "Task",
    "TaskBusy",
    "TaskContext",
    "TaskDeclaration",
    "TaskError",
    "TaskFunction",
    "TaskGauges",
    "TaskHandler",
    "TaskLeases",
    "TaskRun",
    "TaskRunner",
    "TaskSection",
    "TaskStore",
    "UnknownTask",
    "Watchdog",
    "WatchdogOptions",
    "late_names",
    "skipped",
    "task_handler_of",
    "this_node",
]
