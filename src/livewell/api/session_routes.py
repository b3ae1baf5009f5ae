"""`/v1/sessions`: looking without a connection. A program says what it looks at, and says so again in time.

`PUT` opens a session, makes its list of items exactly the one given, and renews it: asked twice it does the same. A
session that is not renewed within `presence.gone_after` is gone.
"""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response

from livewell.api.bodies import answer, bearer_of, read_json
from livewell.kernel import LivewellError
from livewell.live import Desk, wanted_of
from livewell.presence import Item, SubscribeOutcome


def session_routes(desk: Desk) -> APIRouter:
    """The routes of sessions."""
    routes = APIRouter()

    @routes.put("/v1/sessions/{session}")
    async def look(request: Request, session: UUID) -> Response:
        """Look at exactly these items, `{"items": [{"type", "key"}, …]}`, until the session is not renewed in time."""
        items = [want.item for want in wanted_of(await read_json(request))]
        outcomes = await desk.look(bearer_of(request), session, items)
        return answer({"session": str(session), "items": [_told(item, found) for item, found in outcomes.items()]})

    @routes.delete("/v1/sessions/{session}")
    async def leave(request: Request, session: UUID) -> Response:
        """Look at nothing any more."""
        await desk.leave(bearer_of(request), session)
        return Response(status_code=204)

    return routes


def _told(item: Item, found: SubscribeOutcome | LivewellError) -> dict[str, Any]:
    if isinstance(found, LivewellError):
        return {"type": item.type, "key": item.key, "outcome": "refused", "code": found.code, "message": found.message}
    return {"type": item.type, "key": item.key, "outcome": found}
