"""The paths under `/_control`, by which another process sets faults, limits and the clock, and asks what was seen.

They are for this machine alone, and not for web pages open on it; they count as no call.
"""

from dataclasses import asdict
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_json

from livewell.simulator.clock import SteppedClock
from livewell.simulator.errors import SimulatorError
from livewell.simulator.faults import EVERY_ENDPOINT, Fault, parse_kind
from livewell.simulator.limits import Limit
from livewell.simulator.status_faults import JSON, error_answer
from livewell.simulator.wire import Answer

if TYPE_CHECKING:
    from livewell.simulator.calls import Call, EndpointFigures
    from livewell.simulator.clock import SimulatorClock
    from livewell.simulator.faults import FaultPlan

_LARGEST = 1 << 20


class Controlled(Protocol):
    """What of a simulator is controlled from outside."""

    plan: "FaultPlan"
    clock: "SimulatorClock"

    @property
    def calls(self) -> "tuple[Call, ...]": ...

    def figures(self) -> "dict[str, EndpointFigures]": ...

    def add_fault(self, fault: Fault) -> None: ...

    def clear_faults(self, endpoint: str | None = None) -> None: ...

    def set_limit(self, endpoint: str, limit: Limit | None) -> None: ...


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _FaultBody(_Strict):
    kind: str
    endpoint: str = EVERY_ENDPOINT
    share: float = 1.0
    count: int | None = None
    keys: frozenset[str] | None = None
    seconds: float = 5.0
    field: str | None = None
    size: int | None = None


class _LimitBody(_Strict):
    endpoint: str
    requests: int | None = None
    tokens: int | None = None
    concurrent: int | None = None


class _ClockBody(_Strict):
    advance_seconds: float = Field(ge=0)


class Control:
    """Answers what comes in under `/_control`."""

    def __init__(self, simulator: Controlled) -> None:
        self._simulator = simulator

    async def answer(self, request: web.BaseRequest) -> Answer:
        if "Origin" in request.headers:
            return error_answer(HTTPStatus.FORBIDDEN, "this is not for web pages")
        body = await request.content.read(_LARGEST)
        try:
            return _json(self._done(request, body))
        except ValidationError as error:
            first = error.errors()[0]
            return error_answer(HTTPStatus.BAD_REQUEST, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
        except SimulatorError as error:
            return error_answer(HTTPStatus.BAD_REQUEST, str(error))
        except LookupError:
            return error_answer(HTTPStatus.NOT_FOUND, "there is nothing to control here")

    def _done(self, request: web.BaseRequest, body: bytes) -> Any:
        endpoint = request.query.get("endpoint")
        match request.method, request.path.removeprefix("/_control/"):
            case "GET", "faults":
                return self._faults()
            case "POST", "faults":
                self._add_fault(_FaultBody.model_validate_json(body))
                return self._faults()
            case "DELETE", "faults":
                self._simulator.clear_faults(endpoint)
                return self._faults()
            case "GET", "figures":
                return self._simulator.figures()
            case "GET", "calls":
                after = int(request.query.get("after", "0"))
                return [
                    asdict(call)
                    for call in self._simulator.calls
                    if call.number > after and endpoint in {None, call.endpoint}
                ]
            case "POST", "limits":
                return self._set_limit(_LimitBody.model_validate_json(body))
            case "POST", "clock":
                return self._advance(_ClockBody.model_validate_json(body))
        raise LookupError

    def _faults(self) -> list[dict[str, Any]]:
        plan = self._simulator.plan
        return [{**asdict(fault), "happened": plan.happened(fault)} for fault in plan.faults]

    def _add_fault(self, body: _FaultBody) -> None:
        self._simulator.add_fault(Fault(**{**body.model_dump(), "kind": parse_kind(body.kind)}))

    def _set_limit(self, body: _LimitBody) -> Any:
        self._simulator.set_limit(body.endpoint, Limit(**body.model_dump(exclude={"endpoint"})))
        return self._simulator.figures()

    def _advance(self, body: _ClockBody) -> Any:
        clock = self._simulator.clock
        if not isinstance(clock, SteppedClock):
            raise SimulatorError("this clock moves by itself", fix="start the simulator with a stepped clock")
        clock.advance(timedelta(seconds=body.advance_seconds))
        return {"wall": clock.wall()}


def _json(document: Any) -> Answer:
    return Answer(headers=(JSON,), pieces=(to_json(document),))
