"""The ASGI application: everything over one port, to be served by us or mounted in an application of the user's.

A mounted application's own lifespan is never run by its host, so the gateway is opened and closed by `async with`.
"""

from collections.abc import Collection
from dataclasses import replace

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.routing import WebSocketRoute

from livewell import freshness, registry
from livewell.access import InvalidCredential, NotReadable, Readers
from livewell.api.bodies import problem
from livewell.api.client_files import client_files
from livewell.api.errors import InvalidRequest, NotAllowed
from livewell.api.item_routes import item_routes
from livewell.api.live_routes import LiveSocket, stream
from livewell.api.operating import Operating, operating_routes
from livewell.api.session_routes import session_routes
from livewell.fetching import InvalidPut, Items
from livewell.freshness import InvalidKey
from livewell.kernel import PASSING, Database, LivewellError, Logger
from livewell.live import BadFrame, Desk, Gateway, GatewayClosing, GatewayOptions, NotVisible, TooMuchAsked
from livewell.presence import NotYourSession, PresenceBusy, SessionGone, TooMany

# What a fact is over HTTP; the first that fits.
_STATUSES: tuple[tuple[type[LivewellError] | tuple[type[LivewellError], ...], int], ...] = (
    (PASSING, 503),
    (GatewayClosing, 503),
    (InvalidCredential, 401),
    ((NotAllowed, NotReadable, NotVisible, NotYourSession), 403),
    ((freshness.UnknownType, registry.UnknownType, InvalidKey, SessionGone), 404),
    (PresenceBusy, 409),
    ((TooMany, TooMuchAsked), 429),
    ((InvalidRequest, InvalidPut, BadFrame), 400),
)

log = Logger("livewell.api")


class Api:
    """The door of a process: its ASGI application is `application`; entered, its gateway takes clients."""

    def __init__(
        self,
        database: Database,
        readers: Readers,
        operating: Operating,
        items: Items,
        *,
        options: GatewayOptions | None = None,
        origins: Collection[str] = (),
    ) -> None:
        self._database = database
        self.gateway = Gateway(database, operating.doorkeeper, readers, options)
        desk = Desk(database, operating.doorkeeper, readers)
        self.application = application_with(operating_routes(replace(operating, ready=self._obstacle)))
        self.application.router.routes.append(WebSocketRoute("/v1/live", LiveSocket(self.gateway, frozenset(origins))))
        self.application.include_router(item_routes(self.gateway, desk, items, operating.doorkeeper))
        self.application.include_router(session_routes(desk))
        self.application.include_router(client_files())

        @self.application.post("/v1/live/stream")
        async def events(request: Request) -> Response:
            """What is new of the items in the body, as server-sent events."""
            return await stream(self.gateway, request)

    async def __aenter__(self) -> FastAPI:
        self.gateway.start()
        return self.application

    async def __aexit__(self, *_: object) -> None:
        await self.gateway.close()

    async def _obstacle(self) -> str | None:
        await self._database.fetchval("select 1")
        return None if self.gateway.is_open.is_set() else "clients are not taken now"


def application_with(routes: APIRouter) -> FastAPI:
    """An application that tells facts as problems."""
    application = FastAPI(title="Livewell", openapi_url=None, docs_url=None, redoc_url=None)
    application.include_router(routes)
    application.add_exception_handler(LivewellError, _on_fact)
    application.add_exception_handler(HTTPException, _on_http)
    application.add_exception_handler(Exception, _on_fault)
    return application


async def _on_fact(_: Request, fact: Exception) -> Response:
    assert isinstance(fact, LivewellError)  # noqa: S101 - it is registered for these
    status = next((status for kinds, status in _STATUSES if isinstance(fact, kinds)), 422)
    return problem(status, fact)


async def _on_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for these
    return problem(error.status_code, InvalidRequest(str(error.detail)))


async def _on_fault(_: Request, error: Exception) -> Response:
    log.error("api_failed", error=f"{type(error).__name__}: {error}")
    return problem(500, LivewellError("something failed here"))
