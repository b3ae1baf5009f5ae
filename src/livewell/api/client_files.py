"""`/client/`: the JavaScript client, as a page imports it from here. It is the one of `clients/js`, file by file."""

from pathlib import Path

from fastapi import APIRouter, Response

# In an installed package beside this file; in the project where it is written.
_INSTALLED = Path(__file__).with_name("client")
_WRITTEN = Path(__file__).parents[3] / "clients" / "js"
_FILES = ("livewell.js", "items.js", "http.js", "react.js")


def client_files() -> APIRouter:
    """A route for each file."""
    routes = APIRouter()
    folder = _INSTALLED if _INSTALLED.is_dir() else _WRITTEN

    def route(name: str) -> None:
        content = (folder / name).read_bytes()

        @routes.get(f"/client/{name}")
        async def file() -> Response:
            # It is the same for everybody: pages of other servers may import it too.
            headers = {
                "Cache-Control": "no-cache",
                "X-Content-Type-Options": "nosniff",
                "Access-Control-Allow-Origin": "*",
            }
            return Response(content, headers=headers, media_type="text/javascript")

    for name in _FILES:
        route(name)
    return routes
