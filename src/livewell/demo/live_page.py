"""The page `/live` of the demonstration: symbols that move because somebody looks at them."""

from pathlib import Path

from fastapi import APIRouter, Response
from pydantic_core import to_json

from livewell.app import Livewell
from livewell.demo.market import SYMBOLS
from livewell.simulator import symbol_names

_PAGE = Path(__file__).with_name("page")
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
# Nothing of others, nothing in line; the bars of freshness are moved by the script.
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


def live_page(app: Livewell) -> APIRouter:
    """The page and what it is made of."""
    routes = APIRouter()

    @routes.get("/live")
    async def page() -> Response:
        return _file("live.html")

    @routes.get("/live/live.css")
    async def style() -> Response:
        return _file("live.css")

    @routes.get("/live/live.js")
    async def script() -> Response:
        return _file("live.js")

    @routes.get("/live/market.json")
    async def market() -> Response:
        """Which symbols there are, and how many people look at each."""
        watched = await app.presence.store.list_viewers(data_type="quote", limit=SYMBOLS)
        (quote,) = [known for known in await app.registry.list_types() if known.name == "quote"]
        found = {
            "symbols": symbol_names(SYMBOLS),
            "ttl": round(quote.ttl.total_seconds() * 1000),
            "viewers": {item.key: item.viewers for item in watched},
        }
        return Response(to_json(found), headers=_HEADERS, media_type="application/json")

    return routes


def _file(name: str) -> Response:
    path = _PAGE / name
    return Response(path.read_bytes(), headers=_HEADERS, media_type=_KINDS[path.suffix])
