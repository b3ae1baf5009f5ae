"""Handlers: the functions that do the work of a kind, and what their signatures say.

    async def make_report(job: ReportRequest, ctx: JobContext) -> ReportResult: ...

The first parameter is the payload: a Pydantic model, or a dict taken as it comes. The second, the context, may be
left out. Plain functions run beside the loop, in a thread or a process, where their kind says so.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args, get_type_hints

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from livewell.jobs import (
    NOTHING,
    Cancel,
    Completed,
    Dead,
    Failed,
    InvalidPayload,
    KindDeclaration,
    Outcome,
    PayloadChecker,
    Reschedule,
    Reset,
    Throttled,
)
from livewell.worker.errors import BadHandler

HandlerFunction: TypeAlias = Callable[..., Any]
RunsIn: TypeAlias = Literal["loop", "thread", "process"]


@dataclass(frozen=True, kw_only=True)
class Handler:
    """A function with the kind it serves and the way its payload is read."""

    declaration: KindDeclaration
    function: HandlerFunction
    model: type[BaseModel] | None
    wants_context: bool
    runs_in: RunsIn = "loop"

    @property
    def kind(self) -> str:
        return self.declaration.kind

    def read(self, payload: str, checker: PayloadChecker | None) -> Any:
        """The payload as the function wants it; raises `InvalidPayload` when it does not fit."""
        if self.model is None:
            value = from_json(payload)
            if checker is not None:
                checker.check_known(self.kind, value)
            return value
        try:
            # Not `model_validate_json`, which looks at its own options first, for every job.
            return self.model.__pydantic_validator__.validate_json(payload)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(step) for step in first["loc"])
            raise InvalidPayload(f"payload of {self.kind}: {where}: {first['msg']}") from error

    def outcome_of(self, answer: Any) -> Outcome:
        """What the function returned, as the outcome of its job."""
        if answer is None:
            return NOTHING
        if isinstance(answer, (Completed, Failed, Reschedule, Throttled, Reset, Cancel, Dead)):
            return answer
        try:
            return Completed(answer.model_dump_json() if isinstance(answer, BaseModel) else to_json(answer).decode())
        except PydanticSerializationError as error:
            raise BadHandler(f"the result of {self.kind} cannot be kept as JSON: {error}") from error


def handler_of(function: HandlerFunction, declaration: KindDeclaration, runs_in: RunsIn = "loop") -> Handler:
    """Read a function's signature; refuse one that cannot be a handler, where it is declared."""
    if declaration.kind.startswith(REFRESHES):
        raise BadHandler(
            f"{declaration.kind} is a refresh, which is stored as it ends and no handler's",
            fix="write a Fetcher and declare it with @app.type",
        )
    _check_place(function, declaration.kind, runs_in)
    parameters = list(inspect.signature(function).parameters.values())
    if not 1 <= len(parameters) <= _MOST_PARAMETERS:
        raise BadHandler(f"the handler of {declaration.kind} must take the payload and, if it wants, the context")
    annotation = get_type_hints(function).get(parameters[0].name)
    model = annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
    return Handler(
        declaration=declaration,
        function=function,
        model=model,
        wants_context=len(parameters) == _MOST_PARAMETERS,
        runs_in=runs_in,
    )


def _check_place(function: HandlerFunction, kind: str, runs_in: RunsIn) -> None:
    if runs_in not in get_args(RunsIn):
        raise BadHandler(f"the handler of {kind} cannot run in {runs_in!r}", fix='say "thread" or "process"')
    if runs_in == "loop" and not inspect.iscoroutinefunction(function):
        raise BadHandler(
            f"the handler of {kind} must be an async function",
            fix='write async def, or say runs_in="thread" or "process" of what takes long',
        )
    if runs_in != "loop" and inspect.iscoroutinefunction(function):
        raise BadHandler(f"the handler of {kind} runs in a {runs_in} and must be a plain function", fix="write def")
    if runs_in == "process" and "<" in function.__qualname__:
        raise BadHandler(
            f"the handler of {kind} runs in a process, which cannot find {function.__qualname__}",
            fix="define it at the top of a module",
        )


# Kinds that begin so are refreshes of data types.
REFRESHES = "refresh."
_MOST_PARAMETERS = 2
