"""What the schedule tells Prometheus: counters of this process, gauges read from the database by `TaskGauges`."""

from datetime import timedelta

from prometheus_client import Counter, Gauge, Histogram

from livewell.schedule.store import TaskStore

_MOMENTS = (0.005, 0.025, 0.1, 0.5, 1, 5, 30, 60, 300, 1800)

TASK_RUNS = Counter("livewell_task_runs", "Runs of tasks this process ended, by outcome.", ["task", "outcome"])
TASK_SECONDS = Histogram("livewell_task_run_seconds", "Time a run of a task took here.", ["task"], buckets=_MOMENTS)
TASK_LATE = Gauge("livewell_task_late", "1 for a task that did not succeed in time, else 0.", ["task"])
TASK_LAST_SUCCESS = Gauge(
    "livewell_task_last_success_timestamp_seconds", "When a task last succeeded, in Unix time.", ["task"]
)
TASK_HELD = Gauge("livewell_task_held", "1 for a task that a node holds at this moment, else 0.", ["task"])


class TaskGauges:
    """An agent that reads the tasks now and then."""

    name = "task_gauges"
    interval = timedelta(seconds=15)

    def __init__(self, store: TaskStore) -> None:
        self._store = store

    async def run_once(self) -> None:
        late = {task["task"] for task in (await self._store.task_health())["late"]}
        tasks = await self._store.list_tasks()
        for gauge in (TASK_LATE, TASK_LAST_SUCCESS, TASK_HELD):
            gauge.clear()
        for task in tasks:
            TASK_LATE.labels(task.name).set(task.name in late)
            TASK_HELD.labels(task.name).set(task.holder is not None)
            if task.last_success_at is not None:
                TASK_LAST_SUCCESS.labels(task.name).set(task.last_success_at.timestamp())
