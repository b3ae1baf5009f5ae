"""`/healthz`, `/readyz`, `/metrics`, and `/v1/tasks/NAME/run` for an outside cron.

Health is open to whoever reaches it. Metrics and runs need an access key with a scope for them, or the token of
`LIVEWELL_TOKEN`, where that is set. Only a server that no proxy stands before, a worker's own, trusts this machine:
then metrics need neither, but are not for web pages open on it.
"""

import asyncio
import hmac
import ipaddress
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from livewell.access import AccessError, Doorkeeper, Scope
from livewell.api.bodies import address_of, answer, require_scope
from livewell.api.errors import NotAllowed
from livewell.kernel import LivewellError
from livewell.schedule import NotRunnableHere, RunAnswer, UnknownTask

_ANSWER_SECONDS = 10.0
_OK, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _CONFLICT, _UNAVAILABLE = 200, 401, 403, 404, 409, 503


@dataclass(frozen=True, kw_only=True)
class Operating:
    """What is asked by who operates it, and whom it is told."""

    health: Callable[[], Awaitable[dict[str, Any]]]
    ready: Callable[[], Awaitable[str | None]]
    run: Callable[[str, bool], Awaitable[RunAnswer]]
    doorkeeper: Doorkeeper
    token: str | None = None
    trusts_this_machine: bool = False


def operating_routes(operating: Operating) -> APIRouter:
    """The routes of who operates it."""
    routes = APIRouter()

    @routes.get("/healthz")
    async def healthz() -> Response:
        """Whether every task runs in time."""
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                found = await operating.health()
        except (LivewellError, TimeoutError) as error:
            reason = str(error) or "the database did not answer in time"
            return answer({"ok": False, "late": [], "error": reason}, _UNAVAILABLE)
        return answer(found, _OK if found["ok"] else _UNAVAILABLE)

    @routes.get("/readyz")
    async def readyz() -> Response:
        """Whether clients are taken here now."""
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                obstacle = await operating.ready()
        except (LivewellError, TimeoutError) as error:
            obstacle = str(error) or "the database did not answer in time"
        return answer({"ok": obstacle is None, "reason": obstacle}, _OK if obstacle is None else _UNAVAILABLE)

    _add_guarded(routes, operating)
    return routes


def _add_guarded(routes: APIRouter, operating: Operating) -> None:
    """What needs an access key or the token."""

    @routes.get("/metrics")
    async def metrics(request: Request) -> Response:
        """What this process counts, for Prometheus."""
        if not (operating.trusts_this_machine and _is_this_machine(request)):
            await _require(operating, request, {Scope.OBSERVER, Scope.OPERATOR, Scope.SERVICE})
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    @routes.post("/v1/tasks/{name}/run")
    async def run_task(request: Request, name: str) -> Response:
        """Run one task now if it is due and free; with `?force=1`, also when it is not due."""
        try:
            await _require(operating, request, {Scope.OPERATOR, Scope.SERVICE})
        except AccessError as fact:
            return _run_fact(_UNAUTHORIZED, fact)
        except NotAllowed as fact:
            return _run_fact(_FORBIDDEN, fact)
        try:
            return answer(await operating.run(name, request.query_params.get("force") == "1"))
        except UnknownTask as fact:
            return _run_fact(_NOT_FOUND, fact)
        except NotRunnableHere as fact:
            return _run_fact(_CONFLICT, fact)
        except LivewellError as fact:
            return _run_fact(_UNAVAILABLE, fact)


async def _require(operating: Operating, request: Request, scopes: set[Scope]) -> None:
    """Let through who has the token or one of these scopes."""
    if not _is_token(request, operating.token):
        await require_scope(operating.doorkeeper, request, scopes)


def _is_this_machine(request: Request) -> bool:
    """Whether it was asked from here, for here, by no page: a name that others give this machine does not count."""
    host = (request.url.hostname or "").lower()
    if any(name in request.headers for name in ("origin", "forwarded", "x-forwarded-for")):
        return False
    return _is_loopback(address_of(request)) and (host == "localhost" or _is_loopback(host))


def _is_token(request: Request, token: str | None) -> bool:
    given = request.headers.get("authorization", "")
    return token is not None and hmac.compare_digest(given.encode(), f"Bearer {token}".encode())


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _run_fact(status: int, error: LivewellError) -> Response:
    return answer({"ok": False, "error": error.message, "code": error.code, "fix": error.fix}, status)
