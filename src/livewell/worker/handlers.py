"""Handlers: the functions that do the work of a kind, and what their signatures say.

    async def make_report(job: ReportRequest, ctx: JobContext) -> ReportResult: ...

The first parameter is the payload: a Pydantic model, or a dict taken as it comes. The second, the context, may be
left out.
"""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, get_type_hints

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

HandlerFunction: TypeAlias = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, kw_only=True)
class Handler:
    """A function with the kind it serves and the way its payload is read."""

    declaration: KindDeclaration
    function: HandlerFunction
    model: type[BaseModel] | None
    wants_context: bool

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


def handler_of(function: HandlerFunction, declaration: KindDeclaration) -> Handler:
    """Read a function's signature; refuse one that cannot be a handler, where it is declared."""
    if not inspect.iscoroutinefunction(function):
        raise BadHandler(f"the handler of {declaration.kind} must be an async function", fix="write async def")
    parameters = list(inspect.signature(function).parameters.values())
    if not 1 <= len(parameters) <= _MOST_PARAMETERS:
        raise BadHandler(f"the handler of {declaration.kind} must take the payload and, if it wants, the context")
    annotation = get_type_hints(function).get(parameters[0].name)
    model = annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
    return Handler(
        declaration=declaration, function=function, model=model, wants_context=len(parameters) == _MOST_PARAMETERS
    )


_MOST_PARAMETERS = 2
