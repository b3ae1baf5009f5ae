"""Faults that a status tells: refusals, errors, redirects."""

from collections.abc import Iterable
from datetime import datetime
from http import HTTPStatus

from pydantic_core import to_json

from livewell.simulator.asked import AGAIN, MOVED, Asked
from livewell.simulator.faults import Fault, FaultKind
from livewell.simulator.limits import Headers, RetryAfter, retry_headers
from livewell.simulator.wire import Answer

JSON = ("Content-Type", "application/json; charset=utf-8")
_PAGE = b"<html><body><h1>502 Bad Gateway</h1></body></html>"
_SECRETS = "http://169.254.169.254/latest/meta-data/"
_SAID = {
    FaultKind.ERROR_500: (HTTPStatus.INTERNAL_SERVER_ERROR, "something went wrong on our side"),
    FaultKind.ERROR_503: (HTTPStatus.SERVICE_UNAVAILABLE, "down for maintenance"),
    FaultKind.UNAUTHORIZED: (HTTPStatus.UNAUTHORIZED, "this API key is not valid"),
    FaultKind.NOT_FOUND: (HTTPStatus.NOT_FOUND, "no such symbol"),
    FaultKind.GONE: (HTTPStatus.GONE, "this symbol is no longer covered"),
}


def faulty_status(fault: Fault, asked: Asked, origin: str, wall: datetime) -> Answer | None:
    """The answer, or None when the fault is not one of these."""
    if fault.kind.startswith("throttled"):
        return error_answer(HTTPStatus.TOO_MANY_REQUESTS, "too many requests", _throttled(fault, wall))
    if fault.kind.startswith("redirect"):
        return _redirect(fault.kind, asked, origin)
    if fault.kind is FaultKind.ERROR_502:
        return Answer(status=HTTPStatus.BAD_GATEWAY, headers=(("Content-Type", "text/html"),), pieces=(_PAGE,))
    if fault.kind not in _SAID:
        return None
    status, message = _SAID[fault.kind]
    later = retry_headers(RetryAfter.SECONDS, fault.seconds, wall) if fault.kind is FaultKind.ERROR_503 else []
    return error_answer(status, message, later)


def _throttled(fault: Fault, wall: datetime) -> Headers:
    match fault.kind:
        case FaultKind.THROTTLED_SECONDS:
            return retry_headers(RetryAfter.SECONDS, fault.seconds, wall)
        case FaultKind.THROTTLED_DATE:
            return retry_headers(RetryAfter.DATE, fault.seconds, wall)
        case FaultKind.THROTTLED_RESET:
            reset = str(int(wall.timestamp() + fault.seconds) + 1)
            names = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
            return list(zip(names, ("300", "0", reset), strict=True))
        case FaultKind.THROTTLED_RATELIMIT:
            state = f'"default";r=0;t={int(fault.seconds) + 1}'
            return [("RateLimit-Policy", '"default";q=300;w=60'), ("RateLimit", state)]
        case _:
            return []


def _redirect(kind: FaultKind, asked: Asked, origin: str) -> Answer:
    target = {
        FaultKind.REDIRECT_SAME: f"{MOVED}{asked.target}",
        FaultKind.REDIRECT_OTHER: f"{origin.replace('127.0.0.1', 'localhost')}{MOVED}{asked.target}",
        FaultKind.REDIRECT_PRIVATE: _SECRETS,
        FaultKind.REDIRECT_LOOP: f"{AGAIN}{asked.target}",
    }[kind]
    return redirect_to(target)


def redirect_to(target: str) -> Answer:
    return Answer(status=HTTPStatus.FOUND, headers=(("Location", target),))


def error_answer(status: int, message: str, headers: Iterable[tuple[str, str]] = ()) -> Answer:
    """A status with its reason as JSON."""
    body = to_json({"error": {"message": message, "type": HTTPStatus(status).phrase.lower().replace(" ", "_")}})
    return Answer(status=status, headers=(JSON, *headers), pieces=(body,))
