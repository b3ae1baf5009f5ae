"""The scheduler runs due tasks in this process: SQL ones always, handlers where they are declared here.

Any number of nodes may run one; each run is taken by one of them. It sleeps until the next task is due, a notification
comes, or its poll interval is over. Runs go on beside each other in a bounded number of slots, each with a line of its
own, so that a rescue runs even when handlers use all of the pool.

Events: those of the runner, `scheduler_started`, `scheduler_stopped`, `schedule_not_read`, `task_not_run`.
"""

import asyncio
import random
from collections.abc import Callable, Mapping
from datetime import timedelta

from livewell.kernel import LONGEST_PAUSE, Backoff, Database, Line, LivewellError, Logger, a_little_later, wait_for_any
from livewell.schedule.handlers import TaskHandler
from livewell.schedule.leases import TaskLeases
from livewell.schedule.runner import TaskRunner, Teller, this_node
from livewell.schedule.store import TaskStore
from livewell.schedule.types import skipped

CHANNEL = "livewell_tasks"

log = Logger("livewell.schedule")

# A task that another node has locked, or whose failure could not be recorded, stays due: without a pause it would be
# tried again and again.
_NOT_RUN = Backoff(first=timedelta(milliseconds=500), longest=LONGEST_PAUSE)
_NOT_READ = Backoff(first=timedelta(milliseconds=200), longest=LONGEST_PAUSE)
_MOST_SECONDS_LATER = 0.25


class Scheduler:
    """A component of a service."""

    name = "scheduler"

    def __init__(
        self,
        database: Database,
        handlers: Mapping[str, TaskHandler],
        *,
        poll_interval: Callable[[], timedelta],
        tell: Mapping[str, Teller] | None = None,
        node: str | None = None,
        slots: int = 4,
    ) -> None:
        self._handlers = handlers
        self._poll_interval = poll_interval
        self._store = TaskStore(database.line())
        self._free = [database.line() for _ in range(slots)]
        self._leases = TaskLeases(TaskStore(database.line()))
        self._runner = TaskRunner(self._store, self._leases, handlers, node=node or this_node(), tell=tell)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._not_before: dict[str, float] = {}
        self._locked_in_a_row: dict[str, int] = {}
        self._failed_in_a_row = 0
        self.wake = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Run what is due until told to stop; then let what runs end."""
        log.info("scheduler_started", node=self._runner.node, handlers=sorted(self._handlers))
        async with self._leases.keeper.at_work():
            try:
                while not stop.is_set():
                    self.wake.clear()
                    pause = await self._look_or_warn()
                    await wait_for_any(stop, self.wake, timeout=pause)
                await self._ended()
            finally:
                for running in self._running.values():
                    running.cancel()
                await self._ended()
        log.info("scheduler_stopped", node=self._runner.node)

    async def look(self) -> float:
        """Start what is due and has a slot; answers how long to wait."""
        now = asyncio.get_running_loop().time()
        pause = self._poll_interval().total_seconds()
        found = await self._store.look_at_tasks(list(self._handlers))
        if len(found.due) > len(self._free):
            # Nodes that all begin with the oldest would stand in each other's way.
            random.shuffle(found.due)
        for due in found.due:
            held_off = self._not_before.get(due.name, now) - now
            if held_off > 0:
                pause = min(pause, held_off)
            elif self._free and due.name not in self._running:
                self._start(due.name)
        if found.next_in is not None:
            pause = min(pause, found.next_in)
        return a_little_later(pause, at_most=_MOST_SECONDS_LATER)

    async def _look_or_warn(self) -> float:
        """A schedule that cannot be read starts nothing; what runs goes on."""
        try:
            pause = await self.look()
        except LivewellError as error:
            self._failed_in_a_row += 1
            log.warning("schedule_not_read", error=str(error), in_a_row=self._failed_in_a_row)
            return _NOT_READ.seconds(self._failed_in_a_row)
        self._failed_in_a_row = 0
        return pause

    def _start(self, name: str) -> None:
        line = self._free.pop(0)
        running = self._running[name] = asyncio.create_task(self._run(name, line), name=f"run-{name}")

        def ended(_: "asyncio.Task[None]") -> None:
            self._free.insert(0, line)
            del self._running[name]
            self.wake.set()

        running.add_done_callback(ended)

    async def _ended(self) -> None:
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _run(self, name: str, line: Line) -> None:
        loop = asyncio.get_running_loop()
        try:
            answer = await self._runner.run(name, line)
        except LivewellError as error:
            log.warning("task_not_run", task=name, error=str(error))
            answer = skipped("schedule_read_error")
        except Exception as error:
            log.exception("task_not_run", task=name, error=repr(error))
            answer = skipped("schedule_read_error")
        locked = answer.get("reason") == "locked"
        self._locked_in_a_row[name] = self._locked_in_a_row.get(name, 0) + 1 if locked else 0
        if answer["ok"] and "ran" in answer:
            self._not_before.pop(name, None)
        else:
            self._not_before[name] = loop.time() + _NOT_RUN.seconds(1 + self._locked_in_a_row[name])

    def on_notify(self, channel: str, _payload: str) -> None:
        """What a listener calls: a task was declared, changed, enabled or forced, or the settings were."""
        if channel == CHANNEL:
            self.wake.set()

    def on_reconnect(self) -> None:
        """Something may have been told while nobody listened."""
        self.wake.set()
