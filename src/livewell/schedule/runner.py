"""The runner runs one task now: an SQL one in one transaction, a handler of this program under a lease.

Whatever happens ends as one document (`types.RunAnswer`). A schedule that cannot be read runs nothing and says so. The
effect of an SQL task and the end of its run commit together or not at all; it needs no lease, because the lock of its
row ends with its transaction.

Events: `task_started`, `task_finished`, `task_failed`, `task_lost`; all with the task's name.
"""

import asyncio
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

from livewell.kernel import Database, Line, LivewellError, Logger, trusted_seconds
from livewell.schedule.errors import TaskError
from livewell.schedule.handlers import TaskContext, TaskHandler
from livewell.schedule.leases import LeasedTask, Stop, TaskLeases
from livewell.schedule.metrics import TASK_RUNS, TASK_SECONDS
from livewell.schedule.store import SqlTaskStore, TaskStore
from livewell.schedule.types import JsonObject, RunAnswer, TakenTask, failed, skipped, succeeded

log = Logger("livewell.schedule")

Teller = Callable[[JsonObject], object]
_FINISH_PAUSE = 0.5
_MESSAGE_LIMIT = 2000


def this_node() -> str:
    """The name of this process, as the history shows it."""
    return f"{socket.gethostname()}-{os.getpid()}"


class TaskRunner:
    """Runs tasks by name; `tell` is told what a task answered, for logs and metrics of the room it belongs to."""

    def __init__(
        self,
        store: TaskStore,
        leases: TaskLeases,
        handlers: Mapping[str, TaskHandler],
        *,
        node: str,
        tell: Mapping[str, Teller] | None = None,
    ) -> None:
        self._store = store
        self._leases = leases
        self._handlers = handlers
        self._tell = tell or {}
        self.node = node

    async def run(self, name: str, over: "Database | Line", *, force: bool = False) -> RunAnswer:
        """Run a task if it is due (or forced) and free; `over` carries the transaction of an SQL task."""
        began = time.monotonic()
        if name in self._handlers:
            answer = await self._run_handler(self._handlers[name], force=force)
        else:
            answer = await self._run_sql(name, over, force=force)
        self._record(name, answer, time.monotonic() - began)
        return answer

    async def _run_sql(self, name: str, over: "Database | Line", *, force: bool) -> RunAnswer:
        grace = over.options.answer_grace.total_seconds()
        limited = False
        try:
            async with over.transaction() as connection:
                store = SqlTaskStore(connection)
                limit = await store.limit_task(name)
                limited = True
                return await store.run_task(name, self.node, force=force, within=limit + grace)
        except TaskError:
            raise
        except LivewellError as error:
            if not limited:
                return skipped("schedule_read_error", error=str(error))
            return failed({"type": error.code, "message": error.message})

    async def _run_handler(self, handler: TaskHandler, *, force: bool) -> RunAnswer:
        asked_at = asyncio.get_running_loop().time()
        try:
            (taken,) = await self._store.take_tasks([handler.name], self.node, force=force)
        except TaskError:
            raise
        except LivewellError as error:
            return skipped("schedule_read_error", error=str(error))
        if taken.reason is not None:
            return skipped(taken.reason)
        leased = _leased(taken, asked_at)
        log.debug("task_started", task=handler.name, epoch=taken.epoch, node=self.node)
        self._leases.add(leased)
        try:
            answer = await self._perform(handler, leased, taken.epoch or 0)
            return await self._finish(leased, answer)
        finally:
            self._leases.remove(leased)

    async def _perform(self, handler: TaskHandler, leased: LeasedTask, epoch: int) -> RunAnswer:
        context = TaskContext(task=handler.name, epoch=epoch, node=self.node)
        leased.task = asyncio.create_task(handler(context), name=f"task-{handler.name}")
        limit = asyncio.get_running_loop().call_later(leased.time_limit_seconds, leased.stop_because, Stop.OVERDUE)
        try:
            return succeeded(await leased.task)
        except asyncio.CancelledError:
            if leased.stop is None and _is_cut():
                raise
            if leased.stop is None:
                return failed({"type": "CancelledError", "message": "the handler cancelled itself"})
            return failed({"type": leased.stop.name.lower(), "message": f"the run was stopped: {leased.stop.value}"})
        except Exception as error:  # noqa: BLE001 - a handler's end is its run's, not the scheduler's
            return failed(_described(error))
        finally:
            limit.cancel()
            leased.task = None

    async def _finish(self, leased: LeasedTask, answer: RunAnswer) -> RunAnswer:
        """Record the outcome while the lease is trusted; a late one is refused by the database."""
        loop = asyncio.get_running_loop()
        while leased.stop is not Stop.LOST and loop.time() < leased.trusted_until:
            try:
                ended = await self._store.finish_task(
                    leased.name,
                    leased.token,
                    "succeeded" if answer["ok"] else "failed",
                    result=answer.get("result"),
                    error=answer.get("error"),
                )
            except LivewellError as error:
                log.warning("task_finish_failed", task=leased.name, error=str(error))
                await asyncio.sleep(_FINISH_PAUSE)
                continue
            if ended != "lost":
                return answer
            break
        return failed({"type": "lost", "message": "the lease was lost before the run could be finished"})

    def _record(self, name: str, answer: RunAnswer, seconds: float) -> None:
        if "ran" not in answer:
            if answer["reason"] == "schedule_read_error":
                log.warning("task_skipped", task=name, reason=answer["reason"], error=answer.get("error"))
            return
        outcome = _outcome(answer)
        TASK_RUNS.labels(task=name, outcome=outcome).inc()
        TASK_SECONDS.labels(task=name).observe(seconds)
        shown = {"task": name, "seconds": round(seconds, 3), "node": self.node}
        if outcome == "succeeded":
            result = answer.get("result")
            tell = log.debug if _is_quiet(result) else log.info
            tell("task_finished", **shown)
            if isinstance(result, Mapping) and name in self._tell:
                self._tell[name](result)
        elif outcome == "lost":
            log.warning("task_lost", why="refused at its end", **shown)
        else:
            log.error("task_failed", error=answer["error"], **shown)


def _leased(taken: TakenTask, asked_at: float) -> LeasedTask:
    if taken.token is None or taken.lease_seconds is None or taken.time_limit_seconds is None:
        raise TypeError("a task that was taken has a lease")
    return LeasedTask(
        name=taken.name,
        token=taken.token,
        lease_seconds=taken.lease_seconds,
        trusted_until=asked_at + trusted_seconds(taken.lease_seconds),
        time_limit_seconds=taken.time_limit_seconds,
    )


def _is_quiet(result: Any) -> bool:
    """Whether there is nothing to tell: a task that ticks every second would fill the log."""
    if isinstance(result, Mapping):
        return not any(value for name, value in result.items() if name != "again_in")
    return not result


def _is_cut() -> bool:
    """Whether the whole run is being cancelled from outside, as opposed to a handler that cancelled itself."""
    current = asyncio.current_task()
    return current is not None and current.cancelling() > 0


def _outcome(answer: RunAnswer) -> str:
    if answer["ok"]:
        return "succeeded"
    return "lost" if answer["error"].get("type") == "lost" else "failed"


def _described(error: BaseException) -> dict[str, Any]:
    try:
        said = str(error) or type(error).__name__
    except Exception as unable:  # noqa: BLE001 - an exception that cannot be shown is still one that happened
        said = f"({type(unable).__name__} while it was shown)"
    text = said.replace("\0", "\\0").encode(errors="backslashreplace").decode()
    return {"type": type(error).__qualname__, "message": text[:_MESSAGE_LIMIT]}
