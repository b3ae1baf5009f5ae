"""A small HTTP server: `GET /healthz` for whoever watches, `POST /v1/tasks/NAME/run` for an outside cron.

Health is open to whoever reaches it. A run needs the bearer token, where one is set; without one it is for this machine
only, and not for web pages open on it.

Events: `health_served`.
"""

import asyncio
import hmac
import ipaddress
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from pydantic_core import to_json

from livewell.kernel import LivewellError, Logger
from livewell.schedule.errors import NotRunnableHere, UnknownTask
from livewell.schedule.types import RunAnswer

log = Logger("livewell.schedule")

_ANSWER_SECONDS = 10.0
_OK, _FORBIDDEN, _UNAUTHORIZED, _NOT_FOUND, _CONFLICT, _UNAVAILABLE = 200, 403, 401, 404, 409, 503

Health = Callable[[], Awaitable[dict[str, Any]]]
Run = Callable[[str, bool], Awaitable[RunAnswer]]


class HealthServer:
    """A component of a service, or run by itself; `port` 0 takes any, and `address` tells which it was."""

    name = "health_server"

    def __init__(self, health: Health, run: Run, *, host: str, port: int, token: str | None = None) -> None:
        self._health = health
        self._run_task = run
        self._host = host
        self._port = port
        self._token = token or None
        self._runner: web.AppRunner | None = None
        self.address = ""

    async def open(self) -> None:
        """Begin to serve, so that an address that cannot be had is told at once, as an OSError."""
        self._runner = web.AppRunner(self._application(), access_log=None, handle_signals=False)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError:
            await self._runner.cleanup()
            raise
        host, port = self._runner.addresses[0][:2]
        self.address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        log.info("health_served", address=self.address)

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until told to stop."""
        if self._runner is None:
            await self.open()
        try:
            await stop.wait()
        finally:
            if self._runner is not None:
                await self._runner.cleanup()
                self._runner = None

    def _application(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/healthz", self._on_health)
        app.router.add_post("/v1/tasks/{name}/run", self._on_run)
        return app

    async def _on_health(self, _: web.Request) -> web.Response:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                health = await self._health()
        except (LivewellError, TimeoutError) as error:
            reason = str(error) or "the database did not answer in time"
            return _answer(_UNAVAILABLE, {"ok": False, "late": [], "error": reason})
        return _answer(_OK if health["ok"] else _UNAVAILABLE, health)

    async def _on_run(self, request: web.Request) -> web.Response:
        refused = self._refusal(request)
        if refused is not None:
            return refused
        try:
            answer = await self._run_task(request.match_info["name"], request.query.get("force") == "1")
        except UnknownTask as error:
            return _fact(_NOT_FOUND, error)
        except NotRunnableHere as error:
            return _fact(_CONFLICT, error)
        except LivewellError as error:
            return _fact(_UNAVAILABLE, error)
        return _answer(_OK, answer)

    def _refusal(self, request: web.Request) -> web.Response | None:
        if self._token is not None:
            given = request.headers.get("Authorization", "")
            if hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode()):
                return None
            return _answer(_UNAUTHORIZED, {"ok": False, "error": "a bearer token is required"})
        if "Origin" in request.headers or not _is_loopback(self._host):
            return _answer(_FORBIDDEN, {"ok": False, "error": "without LIVEWELL_TOKEN a run is for this machine only"})
        return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _fact(status: int, error: LivewellError) -> web.Response:
    return _answer(status, {"ok": False, "error": error.message, "code": error.code, "fix": error.fix})


def _answer(status: int, document: dict[str, Any]) -> web.Response:
    return web.Response(status=status, body=to_json(document), content_type="application/json")
