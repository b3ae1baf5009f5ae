"""A task's handler in a program: an async function of nothing, or of the run's context."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from livewell.kernel import Logger
from livewell.schedule.declaration import TaskDeclaration
from livewell.schedule.errors import InvalidTask

TaskFunction: TypeAlias = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, kw_only=True)
class TaskContext:
    """One run of one task. `epoch` grows with every run: send it along with what an older run must not overwrite."""

    task: str
    epoch: int
    node: str

    @cached_property
    def log(self) -> Logger:
        return Logger("livewell.task", task=self.task, epoch=self.epoch)


@dataclass(frozen=True, kw_only=True)
class TaskHandler:
    """What a program runs for a task, and how it declares the task."""

    name: str
    function: TaskFunction
    declaration: TaskDeclaration
    wants_context: bool

    async def __call__(self, context: TaskContext) -> Any:
        return await (self.function(context) if self.wants_context else self.function())


def task_handler_of(name: str, function: TaskFunction, declaration: TaskDeclaration) -> TaskHandler:
    """The handler a function makes; refused when it is not async or wants more than its context."""
    parameters = [
        one
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty and one.kind not in {one.VAR_POSITIONAL, one.VAR_KEYWORD}
    ]
    if not inspect.iscoroutinefunction(function) or len(parameters) > 1:
        raise InvalidTask(
            f"the handler of task {name} cannot be run", fix="make it async def handler() or async def handler(ctx)"
        )
    return TaskHandler(name=name, function=function, declaration=declaration, wants_context=len(parameters) == 1)
