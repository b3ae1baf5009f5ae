"""Facts about tasks."""

from livewell.kernel import LivewellError


class TaskError(LivewellError):
    """Something about a task."""

    code = "schedule.error"


class UnknownTask(TaskError):
    """No task of that name is declared."""

    code = "schedule.unknown_task"
    sqlstate = "LWT01"


class InvalidTask(TaskError):
    """A task cannot be as asked; nothing was changed."""

    code = "schedule.invalid_task"
    sqlstate = "LWT03"


class UnknownTaskField(TaskError):
    """A task has no such field; nothing was changed."""

    code = "schedule.unknown_field"


class InvalidCron(TaskError):
    """A cron expression or its time zone is wrong, or it never comes; nothing was changed."""

    code = "schedule.invalid_cron"
    sqlstate = "LWT04"


class TaskBusy(TaskError):
    """The function of the task is running, and its row cannot be changed meanwhile; nothing was changed."""

    code = "schedule.task_busy"
    sqlstate = "LWT06"


class NotRunnableHere(TaskError):
    """The task is run by a program, and this is not that program."""

    code = "schedule.not_runnable_here"
    sqlstate = "LWT05"
